/**
 * Reader of the workload text format of ASTRA-sim and SimAI, as written by aicb.
 *
 * Line 1 is a policy and `key: value` pairs (older files have fewer), line 2 the number of layer rows, then a row a
 * layer: name, dependency, and compute ns, collective and bytes for forward, input gradient and weight gradient, then
 * the update time. Fields are parted by tabs or spaces. The column `dependency` is unused by the simulators that
 * read this format, and here. Refused: policies other than the two hybrid-transformer ones, whose groups differ.
 */
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import type { ParallelGroups, Parallelism } from './groups.js';
import type { CollectiveKind } from './job.js';

export interface WorkloadCollective {
  collective: CollectiveKind;
  bytes: number;
  group: Exclude<keyof ParallelGroups, 'pipeline'>;
}

export interface WorkloadPhase {
  computeNs: number;
  /** Undefined for NONE and for 0 bytes. */
  communication?: WorkloadCollective;
}

export interface WorkloadLayer {
  name: string;
  forward: WorkloadPhase;
  inputGradient: WorkloadPhase;
  weightGradient: WorkloadPhase;
  updateNs: number;
}

export interface Workload {
  /** Degrees that the header names; data is left to the job. */
  parallelism: Partial<Omit<Parallelism, 'data'>>;
  /** Ranks for which the file was written, where it says so. */
  allGpus?: number;
  /** Micro-batches a step; their layer rows are all in the file. */
  gradientAccumulation: number;
  /** Bytes of activations that a stage hands on per micro-batch. */
  pipelineBytes: number;
  /** Layer numbers (0-based) whose activations are kept. */
  checkpoints: number[];
  /** Layers at whose backward pass the forward pass since the last checkpoint is done again. */
  recomputeAt: number[];
  layers: WorkloadLayer[];
  /** What was in the file and had no effect. */
  notes: string[];
}

const POLICIES = ['HYBRID_TRANSFORMER_FWD_IN_BCKWD', 'HYBRID_TRANSFORMER'];
const COLLECTIVE_OF: Readonly<Record<string, CollectiveKind>> = {
  ALLREDUCE: 'all-reduce',
  ALLGATHER: 'all-gather',
  REDUCESCATTER: 'reduce-scatter',
  ALLTOALL: 'all-to-all',
  BROADCAST: 'broadcast',
};
const GROUP_OF: Readonly<Record<string, WorkloadCollective['group']>> = {
  EP: 'expert',
  DP: 'data',
  DP_EP: 'dataWithinExpert',
};
const FIELDS = 12;
const MAX_LAYERS = 100_000;
const MAX_ISSUES = 20;
/** More than eleven days of compute, or a petabyte, in one column is a damaged file. */
const MAX_NUMBER = 1e15;

/**
 * @param place where the text came from: `file` for errors, `pointer` of the text in its document
 * @throws InputError with a line number per mistake: truncated or damaged file, unknown policy or collective
 */
export function parseWorkload(text: string, place: { file?: string; pointer?: string } = {}): Workload {
  return new WorkloadReader(text, place).read();
}

interface Line {
  number: number;
  fields: string[];
}

class WorkloadReader {
  private readonly lines: Line[];
  private readonly issues: InputIssue[] = [];

  constructor(
    text: string,
    private readonly place: { file?: string; pointer?: string },
  ) {
    this.lines = text
      .split(/\r\n|\r|\n/)
      .map((line, index) => ({
        number: index + 1,
        fields: line.split(/\s+/).filter((field) => field !== ''),
      }))
      .filter((line) => line.fields.length > 0);
  }

  read(): Workload {
    if (this.lines.length < 2) {
      this.issue(
        Math.max(1, this.lines.length),
        'the file is too short: it needs a header, a number of layers and the layers',
      );
      throw new InputError(this.issues);
    }
    const header = this.header(this.lines[0]);
    const rows = this.lines.slice(2);
    this.checkCount(this.lines[1], rows);
    const layers: WorkloadLayer[] = [];
    for (const row of rows) {
      const layer = this.layer(row);
      if (layer !== undefined) layers.push(layer);
      if (this.issues.length >= MAX_ISSUES) break;
    }
    if (this.issues.length > 0) throw new InputError(this.issues);
    this.checkCheckpoints(header, layers.length);
    return { ...header, layers };
  }

  private issue(line: number, message: string, hint?: string): void {
    const { file, pointer = '' } = this.place;
    this.issues.push({
      pointer,
      message,
      line,
      ...(file === undefined ? {} : { file }),
      ...(hint === undefined ? {} : { hint }),
    });
  }

  private header({ number, fields: [policy, ...rest] }: Line): Omit<Workload, 'layers'> {
    if (!POLICIES.includes(policy)) {
      const message = `unknown policy "${policy}"; known are ${POLICIES.join(', ')}`;
      this.issue(number, message, nearestHint(policy, POLICIES));
    }
    const values = this.headerValues(rest, number);
    const notes: string[] = [];
    const one = (key: string): number | undefined => {
      const found = values.get(key);
      values.delete(key);
      return found?.[0];
    };
    const many = (key: string): number[] => {
      const found = values.get(key) ?? [0];
      values.delete(key);
      if (found[0] !== found.length - 1) {
        this.issue(number, `${key} announces ${found[0]} layers and lists ${found.length - 1}`);
      }
      return found.slice(1);
    };
    const degree = (key: string): number | undefined => {
      const value = one(key);
      if (value === undefined || (Number.isInteger(value) && value >= 1)) return value;
      this.issue(number, `${key} must be a whole number from 1; it is ${value}`);
      return undefined;
    };
    const known = {
      parallelism: defined({
        tensor: degree('model_parallel_NPU_group'),
        expert: degree('ep'),
        pipeline: degree('pp'),
      }),
      allGpus: degree('all_gpus'),
      gradientAccumulation: degree('ga') ?? 1,
      pipelineBytes: one('pp_comm') ?? 0,
      checkpoints: many('checkpoints'),
      recomputeAt: many('checkpoint_initiates'),
      notes,
    };
    if ((degree('vpp') ?? 1) > 1 && (known.parallelism.pipeline ?? 1) > 1)
      notes.push('vpp: interleaved pipeline stages are treated as one stage');
    for (const key of values.keys()) notes.push(`${key}: not used`);
    return known;
  }

  private headerValues(words: readonly string[], number: number): Map<string, number[]> {
    const values = new Map<string, number[]>();
    let current: number[] | undefined;
    for (const word of words) {
      const value = toNumber(word);
      if (value === undefined && /^[A-Za-z_]+:?$/.test(word)) {
        current = [];
        values.set(word.replace(/:$/, ''), current);
      } else if (value === undefined || current === undefined) {
        this.issue(number, `"${word}" is neither a key nor a number from 0 to ${MAX_NUMBER}`);
      } else current.push(value);
    }
    for (const [key, list] of values) {
      if (list.length === 0) this.issue(number, `${key} has no value`);
    }
    return values;
  }

  private checkCount(line: Line, rows: readonly Line[]): void {
    const count = toNumber(line.fields[0]);
    if (line.fields.length !== 1 || count === undefined || !Number.isInteger(count) || count < 1) {
      this.issue(line.number, `"${line.fields.join(' ')}" is not the number of layers`);
    } else if (count > MAX_LAYERS) {
      this.issue(line.number, `${count} layers; at most ${MAX_LAYERS} are read`);
    } else if (rows.length < count) {
      const last = this.lines[this.lines.length - 1].number;
      this.issue(
        last,
        `the file ends after ${rows.length} of the ${count} layers that line ${line.number} announces`,
      );
    } else if (rows.length > count) {
      this.issue(rows[count].number, `one layer too many: line ${line.number} announces ${count}`);
    }
    if (this.issues.length > 0 && rows.length > MAX_LAYERS) throw new InputError(this.issues);
  }

  private layer({ number, fields }: Line): WorkloadLayer | undefined {
    if (fields.length !== FIELDS) {
      this.issue(number, `a layer has ${FIELDS} fields; this row has ${fields.length}`);
      return undefined;
    }
    const name = fields[0];
    if (name.length > 100) this.issue(number, 'the layer name is longer than 100 characters');
    return {
      name,
      forward: this.phase(fields, 2, 'tensor', number),
      inputGradient: this.phase(fields, 5, 'tensor', number),
      weightGradient: this.phase(fields, 8, 'data', number),
      updateNs: this.number(fields, 11, number),
    };
  }

  private phase(
    fields: readonly string[],
    first: number,
    group: WorkloadCollective['group'],
    number: number,
  ): WorkloadPhase {
    const computeNs = this.number(fields, first, number);
    const bytes = this.number(fields, first + 2, number);
    const communication = this.communication(fields[first + 1], bytes, group, number);
    return communication === undefined ? { computeNs } : { computeNs, communication };
  }

  private communication(
    word: string,
    bytes: number,
    defaultGroup: WorkloadCollective['group'],
    number: number,
  ): WorkloadCollective | undefined {
    if (word === 'NONE') return undefined;
    const [base, ...suffix] = word.split('_');
    const collective = Object.hasOwn(COLLECTIVE_OF, base) ? COLLECTIVE_OF[base] : undefined;
    const ending = suffix.join('_');
    const group = suffix.length === 0 ? defaultGroup : Object.hasOwn(GROUP_OF, ending) && GROUP_OF[ending];
    if (collective === undefined || group === false) {
      const choices = ['NONE', ...Object.keys(COLLECTIVE_OF)];
      const endings = Object.keys(GROUP_OF).map((key) => `_${key}`);
      const message = `unknown collective "${word}"; known are ${choices.join(', ')}, alone or with ${listChoices(endings)}`;
      this.issue(number, message, collective === undefined ? nearestHint(base, choices) : undefined);
      return undefined;
    }
    return bytes === 0 ? undefined : { collective, bytes, group };
  }

  private number(fields: readonly string[], index: number, number: number): number {
    const value = toNumber(fields[index]);
    if (value !== undefined) return value;
    this.issue(number, `field ${index + 1}: "${fields[index]}" is no number from 0 to ${MAX_NUMBER}`);
    return 0;
  }

  private checkCheckpoints(header: Omit<Workload, 'layers'>, layers: number): void {
    const all = [...header.checkpoints, ...header.recomputeAt];
    const outside = all.find((layer) => !Number.isInteger(layer) || layer >= layers);
    const first = Math.min(...header.checkpoints);
    const early = header.recomputeAt.find((layer) => layer < first);
    if (outside !== undefined) this.issue(1, `checkpoint layer ${outside}: layers are 0 to ${layers - 1}`);
    else if (early !== undefined)
      this.issue(1, `checkpoint_initiates ${early}: no checkpoint before that layer`);
    if (this.issues.length > 0) throw new InputError(this.issues);
    const again = header.recomputeAt.reduce((sum, layer) => sum + layer - keptBefore(header, layer) + 1, 0);
    if (again > MAX_LAYERS)
      this.issue(1, `checkpoints make ${again} layers run again; at most ${MAX_LAYERS} may`);
    if (this.issues.length > 0) throw new InputError(this.issues);
  }
}

/** The last checkpoint at or before a layer; there is one for every layer of `recomputeAt`. */
export function keptBefore({ checkpoints }: Pick<Workload, 'checkpoints'>, layer: number): number {
  return checkpoints.reduce(
    (kept, checkpoint) => (checkpoint <= layer ? Math.max(kept, checkpoint) : kept),
    -1,
  );
}

function toNumber(word: string): number | undefined {
  if (!/^\d+(\.\d+)?$/.test(word)) return undefined;
  const value = Number(word);
  return value <= MAX_NUMBER ? value : undefined;
}

/** Without the keys that are undefined, so that spreading it overrides nothing by accident. */
function defined<T extends object>(object: T): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<{
    [K in keyof T]: Exclude<T[K], undefined>;
  }>;
}
