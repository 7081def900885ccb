/**
 * The workers of one life of a job: started together, connected together, ended together.
 *
 * All listen before any connects, so that no rank waits for a neighbour that is not there yet. One that ends before it
 * is asked to, or reports a failure, is the failure of the whole crew, as with an NCCL communicator.
 */
import type { WorkerOrder, WorkerReport } from './protocol.js';
import type { WorkerProcess } from './worker-process.js';

/** Node starts slowly when many of it start at once on a small machine. */
const START_MS = 30_000;

export interface CrewEvents {
  report(report: WorkerReport): void;
  /** Once. */
  failed(atNs: number, reason: string): void;
}

export type Hire = (
  rank: number,
  events: { report(report: WorkerReport): void; ended(reason: string): void },
) => WorkerProcess;

export class Crew {
  readonly workers: readonly WorkerProcess[];
  private readonly waiting = new Map<WorkerReport['report'], { ranks: Set<number>; resolve: () => void }>();
  private rejectWaiting: ((error: Error) => void)[] = [];
  private over = false;
  private failure: string | undefined;

  constructor(
    ranks: number,
    hire: Hire,
    private readonly events: CrewEvents,
    private readonly nowNs: () => number,
  ) {
    this.workers = Array.from({ length: ranks }, (_, rank) =>
      hire(rank, {
        report: (report) => this.take(report),
        ended: (reason) => this.fail(this.nowNs(), `the worker of rank ${rank} ended: ${reason}`),
      }),
    );
  }

  /** @throws Error when not all workers connect in time */
  async connect(): Promise<void> {
    await this.untilAll('listening', START_MS);
    const connected = this.untilAll('connected', START_MS);
    this.order({ order: 'connect' });
    await connected;
  }

  /** Resolves when every rank has reported this. */
  untilAll(report: WorkerReport['report'], timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) return reject(new Error(this.failure));
      const timer = setTimeout(() => {
        const missing = this.workers.length - (this.waiting.get(report)?.ranks.size ?? 0);
        reject(
          new Error(`${missing} of ${this.workers.length} workers are not ${report} after ${timeoutMs} ms`),
        );
      }, timeoutMs);
      const done = (): void => clearTimeout(timer);
      const ranks = this.waiting.get(report)?.ranks ?? new Set<number>();
      this.waiting.set(report, {
        ranks,
        resolve: () => {
          done();
          resolve();
        },
      });
      this.rejectWaiting.push((error) => {
        done();
        reject(error);
      });
      this.checkAll(report);
    });
  }

  order(order: WorkerOrder): void {
    for (const worker of this.workers) worker.order(order);
  }

  /** Ends all workers; what they still report is not heard. */
  async dismiss(): Promise<void> {
    this.over = true;
    await Promise.all(this.workers.map((worker) => worker.kill()));
  }

  private take(report: WorkerReport): void {
    if (this.over) return;
    if (report.report === 'failed') {
      this.fail(report.atNs, `rank ${report.rank}: ${report.reason}`);
      return;
    }
    const waiting = this.waiting.get(report.report) ?? { ranks: new Set<number>(), resolve: () => undefined };
    this.waiting.set(report.report, waiting);
    waiting.ranks.add(report.rank);
    this.events.report(report);
    this.checkAll(report.report);
  }

  private checkAll(report: WorkerReport['report']): void {
    const waiting = this.waiting.get(report);
    if (waiting !== undefined && waiting.ranks.size === this.workers.length) waiting.resolve();
  }

  private fail(atNs: number, reason: string): void {
    if (this.over || this.failure !== undefined) return;
    this.failure = reason;
    for (const reject of this.rejectWaiting) reject(new Error(reason));
    this.rejectWaiting = [];
    this.events.failed(atNs, reason);
  }
}
