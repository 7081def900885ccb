import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError, type InputIssue } from '../../core/problem.js';
import { buildJobs } from './build-jobs.js';
import { parallelGroups } from './groups.js';
import { parseWorkload } from './import-workload.js';
import { jobSchema } from './job-schema.js';
import { smallTopology } from './testing/small-topology.js';
import { workloadProgram } from './workload-program.js';

const NEW_HEADER =
  'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 3 all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 1000';
const OLD_HEADER =
  'HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 2 checkpoints: 0 checkpoint_initiates: 0';
const ATTENTION = 'attention\t-1\t10\tALLREDUCE\t100\t20\tALLREDUCE\t200\t30\tREDUCESCATTER\t300\t5';
const MLP = 'mlp  -1  11 NONE 0  21 ALLTOALL_EP 201  31 ALLGATHER_DP_EP 301  6';
const file = (header: string, ...rows: string[]) => [header, String(rows.length), ...rows, ''].join('\n');

function issuesOf(text: string): readonly InputIssue[] {
  try {
    parseWorkload(text, { file: 'w.txt', pointer: '/w' });
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('parseWorkload', () => {
  it('reads headers of newer files', () => {
    expect(parseWorkload(file(NEW_HEADER, ATTENTION))).toMatchObject({
      parallelism: { tensor: 2, expert: 2, pipeline: 2 },
      allGpus: 16,
      gradientAccumulation: 3,
      pipelineBytes: 1000,
      notes: [],
    });
  });

  it('reads headers of older files, tabs, Windows line ends and no last line end', () => {
    const workload = parseWorkload(file(OLD_HEADER, ATTENTION, MLP).trimEnd().replaceAll('\n', '\r\n'));
    expect(workload.parallelism).toEqual({ tensor: 2 });
    expect(workload.layers).toEqual([
      {
        name: 'attention',
        forward: { computeNs: 10, communication: { collective: 'all-reduce', bytes: 100, group: 'tensor' } },
        inputGradient: {
          computeNs: 20,
          communication: { collective: 'all-reduce', bytes: 200, group: 'tensor' },
        },
        weightGradient: {
          computeNs: 30,
          communication: { collective: 'reduce-scatter', bytes: 300, group: 'data' },
        },
        updateNs: 5,
      },
      {
        name: 'mlp',
        forward: { computeNs: 11 },
        inputGradient: {
          computeNs: 21,
          communication: { collective: 'all-to-all', bytes: 201, group: 'expert' },
        },
        weightGradient: {
          computeNs: 31,
          communication: { collective: 'all-gather', bytes: 301, group: 'dataWithinExpert' },
        },
        updateNs: 6,
      },
    ]);
  });

  it.each([
    ['empty', '', 1, /too short/],
    ['header only', OLD_HEADER, 1, /too short/],
    [
      'truncated',
      [OLD_HEADER, '3', ATTENTION, MLP].join('\n'),
      4,
      /ends after 2 of the 3 layers that line 2/,
    ],
    ['a row too many', [OLD_HEADER, '1', ATTENTION, MLP].join('\n'), 4, /too many/],
    ['row cut off', file(OLD_HEADER, ATTENTION, 'mlp -1 11 NONE'), 4, /12 fields; this row has 4/],
    ['unknown collective', file(OLD_HEADER, ATTENTION.replace('ALLREDUCE', 'ALLREDUCES')), 3, /ALLREDUCES/],
    ['unknown group', file(OLD_HEADER, MLP.replace('_EP', '_XP')), 3, /_EP, _DP, _DP_EP/],
    ['prototype word', file(OLD_HEADER, MLP.replace('ALLTOALL_EP', 'constructor')), 3, /unknown collective/],
    ['negative number', file(OLD_HEADER, ATTENTION.replace('\t10\t', '\t-10\t')), 3, /field 3: "-10"/],
    ['absurd number', file(OLD_HEADER, ATTENTION.replace('100', '1'.repeat(20))), 3, /field 5/],
    ['no number', file(OLD_HEADER, ATTENTION.replace('100', 'NaN')), 3, /field 5: "NaN"/],
    ['unknown policy', file(OLD_HEADER.replace('HYBRID_TRANS', 'HYBRID_TRNAS'), MLP), 1, /unknown policy/],
    ['count that is none', [OLD_HEADER, 'x', MLP].join('\n'), 2, /not the number of layers/],
    ['degree 0', file(OLD_HEADER.replace(': 2', ': 0'), MLP), 1, /whole number from 1/],
    ['key without value', file(`${OLD_HEADER} ga:`, MLP), 1, /ga has no value/],
    ['checkpoint outside', file(OLD_HEADER.replace('checkpoints: 0', 'checkpoints: 1 7'), MLP), 1, /layer 7/],
    [
      'checkpoint count',
      file(OLD_HEADER.replace('checkpoints: 0', 'checkpoints: 2 0'), MLP),
      1,
      /announces 2/,
    ],
  ])('%s: refused with file and line', (_, text, line, message) => {
    const [issue] = issuesOf(text);
    expect(issue).toMatchObject({ line, file: 'w.txt', pointer: '/w' });
    expect(issue.message).toMatch(message);
  });

  it('reports every damaged row, up to a limit', () => {
    const broken = Array.from({ length: 50 }, () => 'layer -1 x');
    expect(issuesOf(file(OLD_HEADER, broken[0], ATTENTION, broken[1])).map(({ line }) => line)).toEqual([
      3, 5,
    ]);
    expect(issuesOf(file(OLD_HEADER, ...broken)).length).toBeLessThanOrEqual(20);
  });

  it('any damage to a good file gives a workload or an InputError, nothing else', () => {
    const good = file(NEW_HEADER, ATTENTION, MLP);
    fc.assert(
      fc.property(fc.nat(good.length), fc.nat(40), fc.string({ maxLength: 10 }), (from, length, text) => {
        try {
          parseWorkload(good.slice(0, from) + text + good.slice(from + length));
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('workloadProgram', () => {
  const groups = parallelGroups({ tensor: 2, expert: 2, pipeline: 1, data: 4 });
  const program = (text: string) => workloadProgram(parseWorkload(text), groups, '/w').operations;
  const shown = (text: string) =>
    program(text).map((one) => [one.name, one.type === 'compute' ? one.durationNs : one.bytes, one.after]);

  it('goes forward in order, backward in reverse, overlaps weight-gradient collectives and updates last', () => {
    expect(shown(file(OLD_HEADER, ATTENTION, MLP))).toEqual([
      ['forward/attention-1', 10, []],
      ['forward/attention-1/all-reduce', 100, [0]],
      ['forward/mlp-2..input-gradient/mlp-2', 11 + 21, [1]],
      ['input-gradient/mlp-2/all-to-all', 201, [2]],
      ['weight-gradient/mlp-2', 31, [3]],
      ['weight-gradient/mlp-2/all-gather', 301, [4]],
      ['input-gradient/attention-1', 20, [4]],
      ['input-gradient/attention-1/all-reduce', 200, [6]],
      ['weight-gradient/attention-1', 30, [7]],
      ['weight-gradient/attention-1/reduce-scatter', 300, [8, 5]],
      ['update', 11, [8, 9]],
    ]);
  });

  it('suffixes pick the groups', () => {
    const operations = program(file(OLD_HEADER, ATTENTION, MLP)).filter((one) => one.type === 'collective');
    expect(operations.map(({ parallelism, groups: [first] }) => [parallelism, first])).toEqual([
      ['tensor', [0, 1]],
      ['expert', [0, 2]],
      ['data', [0, 4]],
      ['tensor', [0, 1]],
      ['data', [0, 2, 4, 6]],
    ]);
  });

  it('does the forward pass since the checkpoint again where the file says so', () => {
    const header = OLD_HEADER.replace(
      'checkpoints: 0 checkpoint_initiates: 0',
      'checkpoints: 1 0 checkpoint_initiates: 1 1',
    );
    const names = program(file(header, ATTENTION, MLP)).map((one) => one.name);
    expect(names.slice(0, 4)).toEqual([
      'forward/attention-1',
      'forward/attention-1/all-reduce',
      'forward/mlp-2..recompute-2/attention-1',
      'recompute-2/attention-1/all-reduce',
    ]);
  });

  it('hands activations on and gradients back between pipeline stages', () => {
    const workload = parseWorkload(file(NEW_HEADER, MLP));
    const staged = parallelGroups({ tensor: 2, expert: 2, pipeline: 2, data: 4 });
    const exchanges = workloadProgram(workload, staged, '/w').operations.filter(
      (one) => one.type === 'collective' && one.collective === 'send-receive',
    );
    expect(exchanges).toMatchObject([
      { name: 'forward/activations', bytes: 3000, parallelism: 'pipeline' },
      { name: 'backward/gradients', bytes: 3000, parallelism: 'pipeline' },
    ]);
    expect(exchanges.map((one) => one.type === 'collective' && one.groups[0])).toEqual([
      [0, 8],
      [8, 0],
    ]);
  });

  it('a deep file shares its groups and joins computes without a collective between them', () => {
    const rows = Array.from({ length: 20_000 }, () => 'layer -1 1 NONE 0 1 NONE 0 1 NONE 0 1');
    const operations = program(file(OLD_HEADER, ...rows, ATTENTION, ATTENTION));
    expect(operations.length).toBeLessThan(20);
    const lists = operations.flatMap((one) => (one.type === 'collective' ? [one.groups] : []));
    expect(new Set(lists).size).toBe(2);
  });

  it('a file in which nothing takes time is refused', () => {
    expect(() => program(file(OLD_HEADER, 'layer -1 0 NONE 0 0 NONE 0 0 NONE 0 0'))).toThrow(InputError);
  });
});

describe('a job from a workload file', () => {
  const topology = smallTopology({ hosts: 4, gpusPerHost: 8 });
  const build = (text: string, gpus: number, parallelism = {}) =>
    buildJobs(
      [jobSchema.parse({ name: 'llm', gpus, parallelism, workload: { text, file: 'w.txt' } })],
      topology,
    );

  it('takes its degrees from the header and the rest as data', () => {
    const [job] = build(file(OLD_HEADER, ATTENTION), 32);
    const collectives = job.program.operations.flatMap((one) => (one.type === 'collective' ? [one] : []));
    expect(collectives.map(({ groups }) => groups[0].length)).toEqual([2, 2, 16]);
  });

  it('the job’s own degrees win', () => {
    const [job] = build(file(OLD_HEADER, ATTENTION), 32, { tensor: 8 });
    expect(
      job.program.operations.some((one) => one.type === 'collective' && one.groups[0].length === 8),
    ).toBe(true);
  });

  it('refuses a file for more ranks than the job has', () => {
    expect(() => build(file(NEW_HEADER, ATTENTION), 8)).toThrow(
      /names 16 ranks \(all_gpus\); job "llm" has 8/,
    );
  });

  it('points at the text and its line when the file is damaged', () => {
    expect(() => build(file(OLD_HEADER, 'x'), 8)).toThrow(
      'w.txt:3 /jobs/0/workload/text: a layer has 12 fields',
    );
  });
});

describe('workload files that are passed around in the field', () => {
  const folder = process.env['FABRICDRILL_INPUTS'];
  if (folder === undefined) {
    process.stdout.write(
      'skipped: real workload files, because FABRICDRILL_INPUTS names no folder with them\n',
    );
  }
  const inFolder = folder === undefined ? it.skip : it;
  const topology = smallTopology({ hosts: 16, gpusPerHost: 8 });
  inFolder.each([
    ['L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1_A100.workload.txt', 76, 2],
    ['L7B-D1-C02_Llama7B_deepspeed_zero3_A100.workload.txt', 12, 1],
    ['G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1_A100.workload.txt', 92, 8],
    ['simai-micro-allreduce.workload.txt', 2, 8],
  ])('%s', (name, layers, tensor) => {
    const text = readFileSync(join(folder as string, name), 'utf8');
    const workload = parseWorkload(text, { file: name });
    expect(workload.layers).toHaveLength(layers);
    expect(workload.parallelism.tensor).toBe(tensor);
    const [job] = buildJobs([jobSchema.parse({ name: 'llm', gpus: 64, workload: { text } })], topology);
    const wanted = workload.layers
      .flatMap(({ forward, inputGradient, weightGradient }) => [forward, inputGradient, weightGradient])
      .filter(({ communication: c }) => c !== undefined && (c.group === 'data' ? 64 / tensor : tensor) > 1);
    const found = job.program.operations.filter((one) => one.type === 'collective');
    expect(found).toHaveLength(wanted.length);
    const computed = job.program.operations.reduce(
      (sum, one) => sum + (one.type === 'compute' ? one.durationNs : 0),
      0,
    );
    const listed = workload.layers.reduce(
      (sum, layer) =>
        sum +
        layer.forward.computeNs +
        layer.inputGradient.computeNs +
        layer.weightGradient.computeNs +
        layer.updateNs,
      0,
    );
    expect(computed).toBe(listed);
  });
});
