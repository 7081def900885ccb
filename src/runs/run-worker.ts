/**
 * The worker side of runs: takes them from the queue, and looks after those that nobody looks after any more.
 *
 * Once at start and then every few seconds, runs whose lease is over are claimed and cleaned up, and runs that were
 * stored but never reached the queue (the process died in between) are queued again.
 */
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { CONFIG, type Config } from '../platform/config/config.js';
import { RUN_QUEUE, type RunQueue } from '../platform/queue/run-queue.js';
import { FINAL_STATES } from '../scoring/scorecard.js';
import { RunExecutor } from './run-executor.js';

const SWEEP_MS = 5000;
/** A run older than this that no worker holds may have missed the queue. */
const PENDING_GRACE_S = 15;

@Injectable()
export class RunWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('RunWorker');
  private sweeping = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly executor: RunExecutor,
    @Inject(RUN_QUEUE) private readonly queue: RunQueue,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.sweep();
    await this.queue.worker((runId) => this.executor.execute(runId), {
      concurrency: this.config.workerConcurrency,
    });
  }

  /** Running drills revert and end as aborted before the queue's worker is closed. */
  beforeApplicationShutdown(): void {
    this.executor.shutdown();
  }

  @Interval(SWEEP_MS)
  async sweep(): Promise<void> {
    if (this.sweeping) return;
    this.sweeping = true;
    try {
      for (const runId of await this.abandonedRuns()) await this.executor.execute(runId);
      for (const runId of await this.unqueuedRuns()) await this.queue.add(runId);
    } catch (error) {
      this.logger.warn(`sweep: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.sweeping = false;
    }
  }

  private async abandonedRuns(): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT id FROM runs WHERE NOT (state = ANY($1)) AND state <> 'pending' AND lease_until < now()`,
      [FINAL_STATES],
    );
    return rows.map((row) => row.id);
  }

  private async unqueuedRuns(): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT id FROM runs WHERE state = 'pending' AND lease_owner IS NULL
          AND created_at < now() - $1 * interval '1 second'`,
      [PENDING_GRACE_S],
    );
    return rows.map((row) => row.id);
  }
}
