/**
 * At start, suspends schedules of real fabrics that were stored without a confirmation, by a version that asked for none.
 *
 * Only those are looked at that might be such; whatever else is wrong with one, its tick tells. A schedule whose fabric
 * becomes a real one later is suspended by its next tick.
 */
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { messageOf } from '../../core/problem.js';
import { RunsService } from '../runs/runs.service.js';
import { ScheduleStore, suspend } from './schedule-store.js';
import { ScheduleEntity } from './schedule.entity.js';
import { SCHEDULE_RUNS, workOf, type ConfirmedRuns } from './scheduled-runs.js';
import { readSchedule } from './stored-schedule.js';
import { unconfirmedReason } from './unconfirmed.js';

@Injectable()
export class SuspendUnconfirmed implements OnApplicationBootstrap {
  private readonly logger = new Logger('SuspendUnconfirmed');

  constructor(
    private readonly dataSource: DataSource,
    private readonly store: ScheduleStore,
    private readonly runs: RunsService,
    @Inject(SCHEDULE_RUNS) private readonly scheduled: ConfirmedRuns,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const rows = await this.dataSource
      .getRepository(ScheduleEntity)
      .createQueryBuilder('schedule')
      .where('schedule.suspendedAt IS NULL')
      .andWhere(`schedule.definition ->> 'confirm' IS NULL`)
      .andWhere(
        `(schedule.gameDay IS NOT NULL OR EXISTS (SELECT 1 FROM fabrics WHERE driver <> 'simulated'))`,
      )
      .getMany();
    for (const row of rows) await this.look(row);
  }

  private async look(row: ScheduleEntity): Promise<void> {
    try {
      await this.scheduled.requireConfirmation(await workOf(this.dataSource.manager, row, readSchedule(row)));
    } catch (error) {
      const reason = unconfirmedReason(error);
      if (reason === undefined) this.logger.debug(`schedule ${row.id}: ${messageOf(error)}`);
      else await this.suspend(row.id, reason);
    }
  }

  private async suspend(id: string, reason: string): Promise<void> {
    this.logger.warn(`schedule ${id} is suspended: ${reason}`);
    const changed = await this.store.change(id, (row, now) => {
      suspend(row, 'confirmation-required', reason, now);
      return false;
    });
    for (const runId of changed?.runIds ?? []) await this.runs.enqueue(runId);
  }
}
