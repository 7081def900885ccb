/**
 * One training iteration from a workload file: forward, backward, update.
 *
 * Forward goes through the layers in order, each compute followed by its collective. Backward goes in reverse: input
 * gradient and its collective, then weight gradient, whose collective runs beside the backward pass of earlier
 * layers, one such collective at a time. The update waits for all. Where the file keeps activation checkpoints, the
 * forward pass since the last one is done again first. Neighbouring computes without a collective between them become
 * one operation, and all collectives share the lists of groups, so that a deep file stays small.
 * Not modelled: the pipeline's bubble (stages move together) and its interleaving.
 */
import { InputError } from '../../core/problem.js';
import type { ParallelGroups } from './groups.js';
import { keptBefore, type Workload, type WorkloadCollective, type WorkloadPhase } from './import-workload.js';
import type { CollectiveOperation, StepOperation, StepProgram } from './job.js';

/**
 * @param pointer of the workload in its document
 * @throws InputError when nothing in the file takes time
 */
export function workloadProgram(workload: Workload, groups: ParallelGroups, pointer: string): StepProgram {
  const builder = new ProgramBuilder();
  const { layers } = workload;
  const recomputeAt = new Set(workload.recomputeAt);
  const label = (index: number) => `${layers[index].name}-${index + 1}`;
  const phase = (name: string, { computeNs, communication }: WorkloadPhase, blocking: boolean): void => {
    builder.compute(name, computeNs);
    if (communication !== undefined) builder.collective(name, communication, groups, blocking);
  };
  layers.forEach((layer, index) => phase(`forward/${label(index)}`, layer.forward, true));
  exchangeStages(builder, workload, groups, 'forward');
  for (let index = layers.length - 1; index >= 0; index--) {
    if (recomputeAt.has(index)) {
      for (let again = keptBefore(workload, index); again <= index; again++) {
        phase(`recompute-${index + 1}/${label(again)}`, layers[again].forward, true);
      }
    }
    phase(`input-gradient/${label(index)}`, layers[index].inputGradient, true);
    phase(`weight-gradient/${label(index)}`, layers[index].weightGradient, false);
  }
  exchangeStages(builder, workload, groups, 'backward');
  builder.waitForAll();
  const updateNs = layers.reduce((sum, layer) => sum + layer.updateNs, 0);
  builder.compute('update', updateNs);
  const operations = builder.finish();
  if (operations.length === 0) throw InputError.at(pointer, 'nothing in the workload takes time');
  return { operations };
}

/** Activations to the next stage, or gradients back, of all micro-batches at once. */
function exchangeStages(
  builder: ProgramBuilder,
  workload: Workload,
  groups: ParallelGroups,
  direction: 'forward' | 'backward',
): void {
  const bytes = workload.pipelineBytes * workload.gradientAccumulation;
  if (bytes === 0 || groups.pipeline.length === 0) return;
  builder.exchange(
    direction === 'forward' ? 'forward/activations' : 'backward/gradients',
    bytes,
    direction === 'forward' ? groups.pipeline : groups.pipeline.map((group) => [...group].reverse()),
  );
}

class ProgramBuilder {
  private readonly operations: StepOperation[] = [];
  private pending: { first: string; last: string; durationNs: number } | undefined;
  /** Operations that whatever comes next has to wait for. */
  private tail: number[] = [];
  private lastOverlapped: number | undefined;

  compute(name: string, durationNs: number): void {
    if (durationNs === 0) return;
    if (this.pending === undefined) this.pending = { first: name, last: name, durationNs };
    else {
      this.pending.last = name;
      this.pending.durationNs += durationNs;
    }
  }

  collective(name: string, wanted: WorkloadCollective, groups: ParallelGroups, blocking: boolean): void {
    const members = groups[wanted.group];
    if (members.length === 0) return;
    const operation = {
      name: `${name}/${wanted.collective}`,
      collective: wanted.collective,
      bytes: wanted.bytes,
      groups: members,
      parallelism: wanted.group === 'dataWithinExpert' ? 'data' : wanted.group,
    } as const;
    this.flush();
    if (blocking) this.tail = [this.push(operation, this.tail)];
    else {
      const after = this.lastOverlapped === undefined ? this.tail : [...this.tail, this.lastOverlapped];
      this.lastOverlapped = this.push(operation, after);
    }
  }

  exchange(name: string, bytes: number, groups: number[][]): void {
    this.flush();
    const operation = { name, collective: 'send-receive', bytes, groups, parallelism: 'pipeline' } as const;
    this.tail = [this.push(operation, this.tail)];
  }

  /** What comes next waits for overlapped collectives too. */
  waitForAll(): void {
    this.flush();
    if (this.lastOverlapped !== undefined) this.tail = [...this.tail, this.lastOverlapped];
    this.lastOverlapped = undefined;
  }

  finish(): StepOperation[] {
    this.flush();
    return this.operations;
  }

  private flush(): void {
    if (this.pending === undefined) return;
    const { first, last, durationNs } = this.pending;
    const name = first === last ? first : `${first}..${last}`;
    this.tail = [this.operations.push({ type: 'compute', name, durationNs, after: this.tail }) - 1];
    this.pending = undefined;
  }

  private push(
    operation: Omit<CollectiveOperation, 'type' | 'algorithm' | 'after'>,
    after: readonly number[],
  ): number {
    return this.operations.push({ type: 'collective', algorithm: 'ring', ...operation, after }) - 1;
  }
}
