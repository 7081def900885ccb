import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InputError, type InputIssue } from '../../core/problem.js';
import type { Topology } from '../topology/model.js';
import { buildJobs } from './build-jobs.js';
import { jobSchema, type JobInput } from './job-schema.js';
import type { CollectiveOperation, Job } from './job.js';
import { smallTopology } from './testing/small-topology.js';

const step: JobInput['step'] = {
  compute: '300ms',
  collectives: [{ collective: 'all-reduce', bytes: '1GB' }],
};
const fabric = smallTopology({ hosts: 8, gpusPerHost: 8, leaves: 4 });
const build = (jobs: JobInput[], topology: Topology = fabric): Job[] =>
  buildJobs(
    jobs.map((job) => jobSchema.parse(job)),
    topology,
    '/spec/jobs',
  );

function issuesOf(action: () => unknown): readonly InputIssue[] {
  try {
    action();
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const hostsOf = (job: Job, topology = fabric): string[] => [
  ...new Set(Array.from(job.placement, (gpu) => topology.devices[topology.gpus[gpu].host].name)),
];

describe('placement', () => {
  it('packed fills host after host and passes over what others hold', () => {
    const [a, b] = build([
      { name: 'a', gpus: 16, parallelism: { tensor: 8 }, step },
      { name: 'b', gpus: 16, parallelism: { tensor: 8 }, step },
    ]);
    expect(hostsOf(a)).toEqual(['host-1', 'host-2']);
    expect(hostsOf(b)).toEqual(['host-3', 'host-4']);
  });

  it('spread puts neighbours under different leaves and keeps tensor groups together', () => {
    const [job] = build([
      { name: 'a', gpus: 32, placement: { strategy: 'spread' }, parallelism: { tensor: 8 }, step },
    ]);
    expect(hostsOf(job)).toEqual(['host-1', 'host-3', 'host-5', 'host-7']);
  });

  it('explicit takes hosts as listed, and pinned jobs go before the others', () => {
    const [a, b] = build([
      { name: 'a', gpus: 8, step },
      { name: 'b', hosts: ['host-[3-4]', 'host-1'], step },
    ]);
    expect(hostsOf(b)).toEqual(['host-3', 'host-4', 'host-1']);
    expect(hostsOf(a)).toEqual(['host-2']);
  });

  it('an offset passes over GPUs, and a collision names both jobs', () => {
    const [issue] = issuesOf(() =>
      build([
        { name: 'a', hosts: 'host-2', step },
        { name: 'b', gpus: 8, placement: { offset: 8 }, step },
      ]),
    );
    expect(issue.pointer).toBe('/spec/jobs/1');
    expect(issue.message).toContain('jobs "a" and "b" both want GPU 0 of host-2');
  });

  it('every rank of every job has a GPU of its own', () => {
    const job = fc.record({
      units: fc.integer({ min: 1, max: 4 }),
      strategy: fc.constantFrom('packed', 'spread'),
    });
    fc.assert(
      // One degree for all jobs: a spread of single GPUs may rightly leave no room for whole hosts.
      fc.property(
        fc.array(job, { minLength: 1, maxLength: 2 }),
        fc.constantFrom(1, 2, 4, 8),
        (wanted, tensor) => {
          const jobs = build(
            wanted.map(({ units, strategy }, index) => ({
              name: `job-${index}`,
              gpus: units * 8,
              placement: { strategy: strategy },
              parallelism: { tensor },
              step: { compute: '1ms' },
            })),
          );
          const gpus = jobs.flatMap((one) => Array.from(one.placement));
          expect(new Set(gpus).size).toBe(gpus.length);
          jobs.forEach((one, index) => {
            expect(one.placement).toHaveLength(wanted[index].units * 8);
            for (let rank = 0; rank < one.placement.length; rank++) {
              const first = one.placement[rank - (rank % tensor)];
              expect(fabric.gpus[one.placement[rank]].host).toBe(fabric.gpus[first].host);
            }
          });
        },
      ),
    );
  });
});

describe('errors', () => {
  const mistakes: [string, JobInput[], string, RegExp, RegExp?][] = [
    [
      'unknown host',
      [{ name: 'a', hosts: ['host-11'], step }],
      '/spec/jobs/0/hosts/0',
      /no host is called "host-11"; there are host-1/,
      /host-1/,
    ],
    ['pattern without a match', [{ name: 'a', hosts: ['rack-*'], step }], '/spec/jobs/0/hosts/0', /rack-\*/],
    ['malformed range', [{ name: 'a', hosts: ['host-[1-'], step }], '/spec/jobs/0/hosts/0', /no pattern/],
    [
      'too many ranks',
      [{ name: 'a', gpus: 65, step }],
      '/spec/jobs/0/gpus',
      /wants 65 GPUs; the fabric has 64/,
    ],
    [
      'nothing free',
      [
        { name: 'a', gpus: 60, step },
        { name: 'b', gpus: 8, step },
      ],
      '/spec/jobs/1/gpus',
      /64, 4 free/,
      /held by a/,
    ],
    [
      'product does not divide',
      [{ name: 'a', gpus: 20, parallelism: { tensor: 8 }, step }],
      '/spec/jobs/0/parallelism',
      /tensor × pipeline = 8 does not divide the job's 20 ranks/,
      /16 ranks would fit/,
    ],
    [
      'product differs',
      [{ name: 'a', gpus: 16, parallelism: { tensor: 8, data: 3 }, step }],
      '/spec/jobs/0/parallelism',
      /= 24 must equal the job's 16/,
    ],
    [
      'expert does not divide data',
      [{ name: 'a', gpus: 16, parallelism: { tensor: 2, expert: 3 }, step }],
      '/spec/jobs/0/parallelism/expert',
      /must divide the data-parallel degree 8: one of 1, 2, 4, 8/,
    ],
    [
      'collective over groups of one',
      [{ name: 'a', gpus: 8, parallelism: { tensor: 8 }, step }],
      '/spec/jobs/0/step/collectives/0/parallelism',
      /data-parallel degree is 1/,
      /tensor/,
    ],
    [
      'name twice',
      [
        { name: 'a', gpus: 8, step },
        { name: 'a', gpus: 8, step },
      ],
      '/spec/jobs/1/name',
      /already/,
    ],
    ['a step of no time', [{ name: 'a', gpus: 8, step: { compute: '0s' } }], '/spec/jobs/0/step', /no time/],
    ['a path', [{ name: 'a', gpus: 8, workloadFile: 'x.txt' }], '/spec/jobs/0/workloadFile', /path/, /text/],
    [
      'offset inside a tensor group',
      [{ name: 'a', gpus: 8, placement: { offset: 3 }, parallelism: { tensor: 4 }, step }],
      '/spec/jobs/0/placement/offset',
      /multiple of 4/,
    ],
  ];
  it.each(
    mistakes.map(([name, jobs, pointer, message, hint = /(?:)/]) => ({ name, jobs, pointer, message, hint })),
  )('$name', ({ jobs, pointer, message, hint }) => {
    const [issue] = issuesOf(() => build(jobs));
    expect(issue.pointer).toBe(pointer);
    expect(issue.message).toMatch(message);
    expect(issue.hint ?? '').toMatch(hint);
  });

  it('all jobs are checked in one pass', () => {
    const jobs: JobInput[] = [
      { name: 'a', hosts: ['host-99'], step },
      { name: 'b', gpus: 20, parallelism: { tensor: 8 }, step },
    ];
    expect(issuesOf(() => build(jobs)).map((issue) => issue.pointer)).toEqual([
      '/spec/jobs/0/hosts/0',
      '/spec/jobs/1/parallelism',
    ]);
  });
});

describe('schema', () => {
  it.each<[string, unknown, RegExp]>([
    ['no traffic', { name: 'a', gpus: 8 }, /exactly one of step/],
    [
      'two kinds of traffic',
      { name: 'a', gpus: 8, step, workloadFile: 'x' },
      /step and workloadFile are here/,
    ],
    ['no size', { name: 'a', step }, /gpus \(a count\) or hosts/],
    ['both ways of placing', { name: 'a', hosts: 'h', placement: {}, step }, /one of the two/],
    [
      'explicit without hosts',
      { name: 'a', gpus: 8, placement: { strategy: 'explicit' }, step },
      /needs hosts/,
    ],
    ['a bare number as time', { name: 'a', gpus: 8, step: { compute: 300 } }, /no duration/],
    ['an unknown key', { name: 'a', gpus: 8, step, colour: 'red' }, /colour/],
    ['a slash in a name', { name: 'a/b', gpus: 8, step }, /letters/],
    [
      'a tree for all-gather',
      {
        name: 'a',
        gpus: 8,
        step: { compute: '1s', collectives: [{ collective: 'all-gather', algorithm: 'tree', bytes: '1GB' }] },
      },
      /tree algorithm is for all-reduce/,
    ],
  ])('%s is refused', (_, job, message) => {
    const result = jobSchema.safeParse(job);
    expect(result.success).toBe(false);
    expect(JSON.stringify(result.error?.issues)).toMatch(message);
  });
});

describe('synthetic step', () => {
  const collectives = (job: Job) =>
    job.program.operations.filter((one): one is CollectiveOperation => one.type === 'collective');

  it('collectives follow the compute one after another, over groups in Megatron order', () => {
    const [job] = build([
      {
        name: 'a',
        gpus: 32,
        parallelism: { tensor: 8, pipeline: 2 },
        step: {
          compute: '300ms',
          collectives: [
            { collective: 'all-reduce', bytes: '1GB' },
            { name: 'stages', collective: 'send-receive', parallelism: 'pipeline', bytes: '10MB' },
          ],
        },
      },
    ]);
    const [compute, gradients, stages] = job.program.operations;
    expect(compute).toEqual({ type: 'compute', name: 'compute', durationNs: 300e6, after: [] });
    expect(gradients).toMatchObject({ name: 'data/all-reduce', bytes: 1e9, after: [0] });
    expect(stages).toMatchObject({ name: 'stages', after: [0, 1] });
    expect(collectives(job)[0].groups.slice(0, 2)).toEqual([
      [0, 8],
      [1, 9],
    ]);
    expect(collectives(job)[1].groups[0]).toEqual([0, 16]);
  });

  it('overlap cuts the compute where a collective may start', () => {
    const [job] = build([
      {
        name: 'a',
        gpus: 16,
        step: {
          compute: '100ms',
          collectives: [
            { name: 'early', collective: 'all-reduce', bytes: '1GB', overlap: 0.75 },
            { name: 'late', collective: 'all-gather', bytes: '1GB' },
          ],
        },
      },
    ]);
    expect(job.program.operations).toMatchObject([
      { name: 'compute-1', durationNs: 25e6, after: [] },
      { name: 'compute-2', durationNs: 75e6, after: [0] },
      { name: 'early', after: [0] },
      { name: 'late', after: [1, 2] },
    ]);
  });
});
