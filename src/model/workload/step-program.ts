/**
 * A synthetic step as a program: compute first, then collectives one after another on one communication stream.
 *
 * A collective that overlaps starts earlier: the compute is cut where the earliest start of each collective lies.
 * That is the shape of a gradient exchange which begins during the backward pass (bucketed data parallelism).
 * Not modelled: the slowdown of compute kernels by communication kernels on the same GPU.
 */
import { InputError, type InputIssue } from '../../core/problem.js';
import type { ParallelGroups } from './groups.js';
import type { StepDefinition } from './job-schema.js';
import type { CollectiveOperation, StepOperation, StepProgram } from './job.js';

/**
 * @param pointer of the job's `step`
 * @throws InputError for a collective over groups of one rank, a name used twice, or a step that takes no time
 */
export function syntheticProgram(step: StepDefinition, groups: ParallelGroups, pointer: string): StepProgram {
  checkStep(step, groups, pointer);
  const operations: StepOperation[] = [];
  const compute = cutCompute(step, operations);
  let previous: number | undefined;
  for (const collective of step.collectives) {
    const segment = compute.get(startShare(collective.overlap));
    const after = [segment, previous].filter((index) => index !== undefined);
    const operation: CollectiveOperation = {
      type: 'collective',
      name: nameOf(collective),
      collective: collective.collective,
      algorithm: collective.algorithm,
      bytes: collective.bytes,
      groups: groups[collective.parallelism],
      parallelism: collective.parallelism,
      after,
    };
    previous = operations.push(operation) - 1;
  }
  return { operations };
}

type Collective = StepDefinition['collectives'][number];
const nameOf = (collective: Collective): string =>
  collective.name ?? `${collective.parallelism}/${collective.collective}`;
const startShare = (overlap: number): number => 1 - overlap;

/** Adds the compute segments; returns share of compute done → index of the segment that ends there. */
function cutCompute(step: StepDefinition, operations: StepOperation[]): Map<number, number> {
  const ends = new Map<number, number>();
  if (step.compute === 0) return ends;
  const shares = new Set([...step.collectives.map(({ overlap }) => startShare(overlap)), 1]);
  shares.delete(0);
  let done = 0;
  for (const share of [...shares].sort((a, b) => a - b)) {
    const name = shares.size === 1 ? 'compute' : `compute-${ends.size + 1}`;
    const endNs = Math.round(step.compute * share);
    const after = operations.length === 0 ? [] : [operations.length - 1];
    operations.push({ type: 'compute', name, durationNs: endNs - done, after });
    ends.set(share, operations.length - 1);
    done = endNs;
  }
  return ends;
}

function checkStep(step: StepDefinition, groups: ParallelGroups, pointer: string): void {
  const issues: InputIssue[] = [];
  const names = new Set<string>();
  step.collectives.forEach((collective, index) => {
    const place = `${pointer}/collectives/${index}`;
    const name = nameOf(collective);
    if (names.has(name) || /^compute(-\d+)?$/.test(name)) {
      issues.push({
        pointer: `${place}/name`,
        message: `the name "${name}" is taken`,
        hint: 'give it another name',
      });
    }
    names.add(name);
    if (groups[collective.parallelism].length === 0) {
      const message = `there is nobody to talk to: the job's ${collective.parallelism}-parallel degree is 1`;
      const wide = (['data', 'tensor', 'pipeline', 'expert'] as const).filter(
        (kind) => groups[kind].length > 0,
      );
      const hint = wide.length > 0 ? `degrees above 1: ${wide.join(', ')}` : 'the job has one rank';
      issues.push({ pointer: `${place}/parallelism`, message, hint });
    }
  });
  if (step.compute === 0 && step.collectives.length === 0) {
    issues.push({ pointer, message: 'the step takes no time: give it compute or collectives' });
  }
  if (issues.length > 0) throw new InputError(issues);
}
