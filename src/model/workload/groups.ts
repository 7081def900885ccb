/**
 * Parallel groups in Megatron's rank order: tensor varies fastest, then data (with expert inside it), pipeline slowest.
 *
 * Rank = t + tensor·(d + data·p). An expert group is `expert` neighbouring data positions; ranks that hold the same
 * expert (one in each of those) form the data-within-expert groups over which expert gradients are reduced.
 * Source: Megatron-LM's default order tp-cp-ep-dp-pp. Not modelled: context parallelism, expert-tensor parallelism.
 */
import { InputError, type InputIssue } from '../../core/problem.js';

export interface Parallelism {
  tensor: number;
  pipeline: number;
  expert: number;
  /** Whole data-parallel degree, experts included: tensor × pipeline × data = ranks. */
  data: number;
}

/** Every list of groups keeps only groups of two ranks or more, so that it is empty where the degree is 1. */
export interface ParallelGroups {
  tensor: number[][];
  data: number[][];
  expert: number[][];
  dataWithinExpert: number[][];
  /** Stage order; a backward pass uses the reverse. */
  pipeline: number[][];
}

/**
 * The degrees a job runs with; `data` is what remains of the ranks unless given.
 * @param pointer of the job's `parallelism`
 * @throws InputError when the product does not fit
 */
export function resolveParallelism(
  wanted: Partial<Parallelism>,
  ranks: number,
  pointer: string,
): Parallelism {
  const { tensor = 1, pipeline = 1, expert = 1 } = wanted;
  const model = tensor * pipeline;
  const data = wanted.data ?? ranks / model;
  const issues: InputIssue[] = [];
  if (model * data !== ranks || !Number.isInteger(data)) {
    const shown =
      wanted.data === undefined
        ? `tensor × pipeline = ${model}`
        : `tensor × pipeline × data = ${model * data}`;
    const problem =
      wanted.data === undefined
        ? `does not divide the job's ${ranks} ranks`
        : `must equal the job's ${ranks} ranks`;
    const whole = Math.max(1, Math.floor(ranks / model)) * model;
    const hint = `${tensor} × ${pipeline} × ${whole / model} = ${whole} ranks would fit`;
    issues.push({ pointer, message: `${shown} ${problem}`, hint });
  } else if (data % expert !== 0) {
    const divisors = Array.from({ length: data }, (_, index) => index + 1).filter(
      (degree) => data % degree === 0,
    );
    const message = `expert = ${expert} must divide the data-parallel degree ${data}: one of ${divisors.join(', ')}`;
    issues.push({ pointer: `${pointer}/expert`, message });
  }
  if (issues.length > 0) throw new InputError(issues);
  return { tensor, pipeline, expert, data };
}

/** All groups of a job with these degrees. */
export function parallelGroups({ tensor, pipeline, expert, data }: Parallelism): ParallelGroups {
  const rank = (t: number, d: number, p: number) => t + tensor * (d + data * p);
  const range = (count: number) => Array.from({ length: count }, (_, index) => index);
  const each = (
    outer: number,
    inner: number,
    size: number,
    at: (o: number, i: number, m: number) => number,
  ) =>
    size < 2
      ? []
      : range(outer).flatMap((o) => range(inner).map((i) => range(size).map((member) => at(o, i, member))));
  const blocks = data / expert;
  const ofExpert = (size: number, at: (t: number, p: number, group: number, member: number) => number) =>
    range(tensor).flatMap((t) =>
      each(pipeline, data / size, size, (p, group, member) => at(t, p, group, member)),
    );
  return {
    tensor: each(pipeline, data, tensor, (p, d, t) => rank(t, d, p)),
    data: each(pipeline, tensor, data, (p, t, d) => rank(t, d, p)),
    expert: ofExpert(expert, (t, p, block, member) => rank(t, block * expert + member, p)),
    dataWithinExpert: ofExpert(blocks, (t, p, position, member) => rank(t, member * expert + position, p)),
    pipeline: each(data, tensor, pipeline, (d, t, p) => rank(t, d, p)),
  };
}
