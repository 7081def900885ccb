/**
 * The worker side of runs: takes them from the queue, and looks after those that nobody looks after any more. Paced runs
 * are taken out of the queue at once and go on beside the others.
 *
 * Once at start and then every few seconds, runs whose lease is over are claimed and cleaned up, and runs that were
 * stored but never reached the queue (the process died in between), or left it without being claimed, are queued again.
 */
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { messageOf } from '../../core/problem.js';
import { CONFIG, type Config } from '../../system/config/config.js';
import type { QueueWorker } from '../platform/queue/queue-backend.js';
import { RUN_QUEUE, type RunQueue } from '../platform/queue/run-queue.js';
import { FINAL_STATES } from '../../scoring/scorecard.js';
import { PacedRuns } from './paced-runs.js';
import { EXECUTOR_SETTINGS, RunExecutor, type ExecutorSettings } from './run-executor.js';

/** A run older than this that no worker holds may have missed the queue. */
const PENDING_GRACE_S = 15;

@Injectable()
export class RunWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('RunWorker');
  private sweeping: Promise<void> | undefined;
  private taking: QueueWorker | undefined;
  private readonly paced: PacedRuns;

  constructor(
    private readonly dataSource: DataSource,
    private readonly executor: RunExecutor,
    private readonly scheduler: SchedulerRegistry,
    @Inject(RUN_QUEUE) private readonly queue: RunQueue,
    @Inject(CONFIG) private readonly config: Pick<Config, 'workerConcurrency' | 'pacedConcurrency'>,
    @Inject(EXECUTOR_SETTINGS) private readonly settings: Pick<ExecutorSettings, 'sweepMs' | 'onClose'>,
  ) {
    const execute = (runId: string): Promise<void> =>
      this.executor
        .execute(runId)
        .catch((error: unknown) => this.logger.warn(`run ${runId}: ${messageOf(error)}`));
    this.paced = new PacedRuns(execute, config.pacedConcurrency);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.sweep();
    this.scheduler.addInterval(
      'sweep',
      setInterval(() => void this.sweep(), this.settings.sweepMs),
    );
    this.taking = await this.queue.worker((runId) => this.take(runId), {
      concurrency: this.config.workerConcurrency,
    });
  }

  /** No run is taken any more, those under way are reverted or finished, and only then do the connections go. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.scheduler.doesExist('interval', 'sweep')) this.scheduler.deleteInterval('sweep');
    const taken = this.taking?.close();
    if (this.settings.onClose === 'abort') this.executor.shutdown();
    await Promise.all([taken, this.paced.close(), this.sweeping]);
    await this.executor.close();
  }

  private async take(runId: string): Promise<void> {
    if (await this.isPaced(runId)) this.paced.begin(runId);
    else await this.executor.execute(runId);
  }

  private async isPaced(runId: string): Promise<boolean> {
    const rows = await this.dataSource.query<{ paced: boolean }[]>(
      `SELECT driver = 'simulated' AND fabric_definition #> '{spec,pace}' IS NOT NULL AS paced FROM runs WHERE id = $1`,
      [runId],
    );
    return rows[0]?.paced ?? false;
  }

  sweep(): Promise<void> {
    this.sweeping ??= this.lookAfter().finally(() => (this.sweeping = undefined));
    return this.sweeping;
  }

  private async lookAfter(): Promise<void> {
    try {
      for (const runId of await this.abandonedRuns()) await this.executor.execute(runId);
      for (const runId of await this.unqueuedRuns()) await this.queueAgain(runId);
    } catch (error) {
      this.logger.warn(`sweep: ${messageOf(error)}`);
    }
  }

  /** The queue remembers finished jobs and would take a run it knows for done. One that a worker has stays. */
  private async queueAgain(runId: string): Promise<void> {
    await this.queue.remove(runId);
    await this.queue.add(runId);
  }

  private async abandonedRuns(): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT id FROM runs WHERE NOT (state = ANY($1)) AND lease_owner IS NOT NULL AND lease_until < now()`,
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
