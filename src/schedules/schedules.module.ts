/** Schedules: REST, and the look at them every second. */
import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ExperimentsModule } from '../experiments/experiments.module.js';
import { ExperimentsService } from '../experiments/experiments.service.js';
import { RunsApiModule } from '../runs/runs.module.js';
import { requestAbort, RunsService } from '../runs/runs.service.js';
import {
  databaseClock,
  SCHEDULE_CLOCK,
  SCHEDULE_RUNS,
  ScheduleStore,
  type ScheduledRuns,
} from './schedule-store.js';
import { ScheduleTicker } from './schedule-ticker.js';
import { SchedulesController } from './schedules.controller.js';
import { SchedulesService } from './schedules.service.js';

const scheduledRuns = (runs: RunsService, experiments: ExperimentsService): ScheduledRuns => ({
  prepare: async ({ id, scheduleId, experimentRef, fabric, seed }) => {
    const experiment = await experiments.require(experimentRef, '/spec/experimentRef');
    return runs.prepare({ experimentId: experiment.id, fabric, seed }, { id, scheduleId });
  },
  store: (manager, run) => runs.store(manager, run),
  requestAbort: async (manager, runId, reason) => void (await requestAbort(manager, runId, reason)),
});

@Module({})
export class SchedulesModule {
  /** @param ticks whether this process starts runs; one that answers a single command does not */
  static forRoot(ticks: boolean): DynamicModule {
    return {
      module: SchedulesModule,
      imports: [ExperimentsModule, RunsApiModule, ScheduleModule.forRoot()],
      controllers: [SchedulesController],
      providers: [
        SchedulesService,
        ScheduleStore,
        { provide: SCHEDULE_CLOCK, useValue: databaseClock },
        { provide: SCHEDULE_RUNS, inject: [RunsService, ExperimentsService], useFactory: scheduledRuns },
        ...(ticks ? [ScheduleTicker] : []),
      ],
    };
  }
}
