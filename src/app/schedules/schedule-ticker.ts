/**
 * Looks at the schedules once a second, in every API process.
 *
 * An interval of @nestjs/schedule does that: it need not be exact, unique or kept, since the rows of the schedules are what
 * is true and any replica may do the work. Its own cron jobs would not do, as they have no lock between replicas and forget
 * what passed while no process ran; nor would the job schedulers of BullMQ, which know one next time each, go on from when
 * a job was taken, and let days without midnight pass without a tick. The queue gets a run when it is stored, as any other.
 */
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { messageOf } from '../../core/problem.js';
import { Unawaited } from '../../system/unawaited.js';
import { RunsService } from '../runs/runs.service.js';
import { SCHEDULES_AT_ONCE, ScheduleStore, type Settled } from './schedule-store.js';

const LOOK_MS = 1000;
const INTERVAL = 'schedules';
/** A schedule that failed is left for longer each time, so that it takes no time from the others. */
const LONGEST_REST_MS = 60_000;

interface Rest {
  untilMs: number;
  forMs: number;
}

@Injectable()
export class ScheduleTicker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('ScheduleTicker');
  /** By schedule. */
  private readonly rests = new Map<string, Rest>();
  /** Without the queue each run would take its time, and a worker's sweep queues it later. */
  private readonly queueing = new Unawaited(this.logger);
  private looking: Promise<void> | undefined;
  private closing = false;

  constructor(
    private readonly store: ScheduleStore,
    private readonly runs: RunsService,
    private readonly scheduler: SchedulerRegistry,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.addInterval(
      INTERVAL,
      setInterval(() => void this.look(), LOOK_MS),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.closing = true;
    if (this.scheduler.doesExist('interval', INTERVAL)) this.scheduler.deleteInterval(INTERVAL);
    await this.looking;
    await this.queueing.ended();
  }

  look(): Promise<void> {
    this.looking ??= this.lookAtAll().finally(() => (this.looking = undefined));
    return this.looking;
  }

  /** All in turn, of each a part of what is due, until nothing is left that this replica can get. */
  private async lookAtAll(): Promise<void> {
    try {
      for (let isMore = true; isMore && !this.closing;) {
        const ids = await this.store.toWake(this.resting());
        const settled: Settled[] = [];
        for (const id of ids) settled.push(...(await this.lookAt(id)));
        isMore = settled.some(({ more }) => more) || (settled.length > 0 && ids.length === SCHEDULES_AT_ONCE);
      }
    } catch (error) {
      this.logger.warn(`schedules: ${messageOf(error)}`);
    }
  }

  private resting(): string[] {
    const nowMs = performance.now();
    return [...this.rests].flatMap(([id, { untilMs }]) => (untilMs > nowMs ? id : []));
  }

  /** @returns nothing when another replica was at it, or it failed and is left for a while */
  private async lookAt(id: string): Promise<Settled[]> {
    if (this.closing) return [];
    try {
      const settled = await this.store.settle(id);
      this.rests.delete(id);
      for (const runId of settled?.runIds ?? []) {
        this.queueing.begin(`run ${runId}`, () => this.runs.enqueue(runId));
      }
      return settled === undefined ? [] : [settled];
    } catch (error) {
      this.rest(id);
      this.logger.warn(`schedule ${id}: ${messageOf(error)}`);
      return [];
    }
  }

  private rest(id: string): void {
    const forMs = Math.min((this.rests.get(id)?.forMs ?? LOOK_MS / 2) * 2, LONGEST_REST_MS);
    this.rests.set(id, { untilMs: performance.now() + forMs, forMs });
  }
}
