/**
 * One rank's training steps: the graph of a step's operations, each started when those it waits for are done.
 *
 * Computation is time that passes; collectives move real data and check every element of the result. They run one after
 * another in the order of the program, as on NCCL's one stream. Not modelled: kernels that slow each other down.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicNs } from './monotonic.js';
import type { CollectiveReport, WorkerOperation } from './protocol.js';
import { elementsFor, Ring, type RingConnections } from './ring.js';
import { addTo, fillGradient, firstWrong, firstWrongWeight } from './training-state.js';

export class WrongDataError extends Error {
  override readonly name = 'WrongDataError';
}

export interface StepResult {
  beganNs: number;
  endedNs: number;
  /** Time spent computing; overlapping computations count once each. */
  computeNs: number;
  collectives: CollectiveReport[];
}

interface Collective {
  operation: WorkerOperation;
  ring: Ring;
}

export class StepRunner {
  private readonly collectives = new Map<number, Collective>();
  /** What training adds up: the sums of the first all-reduce that this rank takes part in. */
  readonly weights: Int32Array;
  private readonly learned: number | undefined;
  /** Computations take so many times longer than normal. */
  slowDown = 1;

  constructor(
    private readonly operations: readonly WorkerOperation[],
    private readonly rank: number,
    connections: RingConnections,
  ) {
    operations.forEach((operation, index) => {
      if (operation.type === 'compute' || operation.ring.length < 2) return;
      const data = new Int32Array(elementsFor(operation.bytes, operation.ring.length));
      this.collectives.set(index, { operation, ring: new Ring(connections, operation.ring, rank, data) });
    });
    this.learned = [...this.collectives].find(([, { operation }]) => operation.type === 'all-reduce')?.[0];
    const first = this.learned === undefined ? undefined : this.collectives.get(this.learned);
    this.weights = new Int32Array(first?.ring.data.length ?? 1);
  }

  /** @throws WrongDataError when the weights are not those that so many steps give */
  checkWeights(steps: number): void {
    if (this.learned === undefined) return;
    const wrong = firstWrongWeight(this.weights, this.operations[this.learned].ring, steps, this.learned);
    if (wrong >= 0) throw new WrongDataError(`weight ${wrong} is not what ${steps} steps give`);
  }

  /** @param step its number, from 1 */
  async run(step: number): Promise<StepResult> {
    const result: StepResult = { beganNs: monotonicNs(), endedNs: 0, computeNs: 0, collectives: [] };
    const done: Promise<void>[] = [];
    let stream: Promise<void> = Promise.resolve();
    this.operations.forEach((operation, index) => {
      const before = operation.after.map((other) => done[other]);
      if (operation.type === 'compute') {
        done.push(Promise.all(before).then(() => this.compute(operation, result)));
        return;
      }
      const turn = Promise.all([...before, stream]).then(() => this.communicate(index, step, result));
      stream = turn;
      done.push(turn);
    });
    await Promise.all(done);
    result.endedNs = monotonicNs();
    return result;
  }

  private async compute({ durationNs }: WorkerOperation, result: StepResult): Promise<void> {
    const lastsNs = durationNs * this.slowDown;
    await sleep(lastsNs / 1e6);
    // A GPU's own timers say when it was done, not when a busy host noticed.
    result.computeNs += lastsNs;
  }

  private async communicate(index: number, step: number, result: StepResult): Promise<void> {
    const collective = this.collectives.get(index);
    if (collective === undefined) return;
    const { operation, ring } = collective;
    const beganNs = monotonicNs();
    await this.perform(operation, ring, step, index);
    result.collectives.push({ operation: index, beganNs, endedNs: monotonicNs() });
    this.check(operation, ring, step, index);
    if (index === this.learned) addTo(this.weights, ring.data);
  }

  private async perform({ type }: WorkerOperation, ring: Ring, step: number, salt: number): Promise<void> {
    fillGradient(ring.data, this.rank, step, salt);
    if (type === 'all-reduce') await ring.allReduce();
    else if (type === 'reduce-scatter') await ring.reduceScatter();
    else await ring.allGather();
  }

  private check({ type, ring: ranks, name }: WorkerOperation, ring: Ring, step: number, salt: number): void {
    const whole = { from: 0, to: ring.data.length };
    const parts =
      type === 'all-gather'
        ? ranks.map((rank, place) => ({ span: ring.span(place), of: [rank] }))
        : [{ span: type === 'all-reduce' ? whole : ring.ownedSpan(), of: ranks }];
    for (const { span, of } of parts) {
      const wrong = firstWrong(ring.data, span, of, step, salt);
      if (wrong < 0) continue;
      throw new WrongDataError(`element ${wrong} of ${name} in step ${step} is not the sum over its ring`);
    }
  }
}
