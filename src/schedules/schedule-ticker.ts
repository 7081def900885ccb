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
import { RunsService } from '../runs/runs.service.js';
import { ScheduleStore } from './schedule-store.js';

const LOOK_MS = 1000;
const INTERVAL = 'schedules';

@Injectable()
export class ScheduleTicker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('ScheduleTicker');
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
  }

  look(): Promise<void> {
    this.looking ??= this.lookAtAll().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async lookAtAll(): Promise<void> {
    try {
      for (const id of await this.store.toWake()) await this.lookAt(id);
    } catch (error) {
      this.logger.warn(`schedules: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** What fails is tried again at the next look, and does not keep the others waiting. */
  private async lookAt(id: string): Promise<void> {
    try {
      for (let more = true; more && !this.closing;) {
        const settled = await this.store.settle(id);
        for (const runId of settled?.runIds ?? []) await this.runs.enqueue(runId);
        more = settled?.more ?? false;
      }
    } catch (error) {
      this.logger.warn(`schedule ${id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
