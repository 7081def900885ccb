/** Schedules: REST, and the look at them every second. */
import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { refuseFiles } from '../../documents/fabric-document.js';
import { loadDefinitions } from '../../documents/load.js';
import { ExperimentsModule } from '../experiments/experiments.module.js';
import { requireConfirmation } from '../fabrics/confirmation.js';
import { ExperimentsService } from '../experiments/experiments.service.js';
import { GameDayPlanner } from '../game-days/game-day-planner.js';
import { GameDaysModule } from '../game-days/game-days.module.js';
import { GameDaysService } from '../game-days/game-days.service.js';
import { InputError } from '../../core/problem.js';
import { RunsApiModule } from '../runs/runs.module.js';
import { requestAbort, RunsService } from '../runs/runs.service.js';
import { databaseClock, SCHEDULE_CLOCK, ScheduleStore } from './schedule-store.js';
import { SCHEDULE_RUNS, type ConfirmedRuns, type ScheduledRuns } from './scheduled-runs.js';
import { ScheduleTicker } from './schedule-ticker.js';
import { SchedulesController } from './schedules.controller.js';
import { SuspendUnconfirmed } from './suspend-unconfirmed.js';
import { atSchedule, SchedulesService } from './schedules.service.js';

const UNTOLD = InputError.at(
  '/spec/gameDayRef',
  'its blind game day can not be planned; why is not told here',
  'plan its file',
);

const scheduledRuns = (
  runs: RunsService,
  experiments: ExperimentsService,
  days: GameDaysService,
  planner: GameDayPlanner,
): ScheduledRuns & ConfirmedRuns => ({
  requireConfirmation: async ({ experimentRef, gameDay, fabric, confirm }) => {
    if (gameDay !== undefined) {
      const loaded = loadDefinitions(gameDay, refuseFiles);
      await planner.requireConfirmation(loaded.gameDays[0], loaded, confirm);
      return;
    }
    const { definition } = await experiments.require(experimentRef!, '/spec/experimentRef');
    const drilled = await experiments.drilledFabric(definition, fabric).catch((error: unknown) => {
      throw error instanceof InputError ? atSchedule(error, fabric !== undefined) : error;
    });
    requireConfirmation([drilled], confirm);
  },
  prepare: async ({ id, scheduleId, experimentRef, gameDay, fabric, seed, confirm }) => {
    if (gameDay !== undefined) {
      const loaded = loadDefinitions(gameDay, refuseFiles);
      const [day] = loaded.gameDays;
      await planner.requireConfirmation(day, loaded, confirm);
      const planned = planner.plan(day, loaded, { id, scheduleId }).catch((error: unknown) => {
        // the tick is anybody's to read, and what is wrong would name what is hidden
        throw day.value.spec.blind && error instanceof InputError ? UNTOLD : error;
      });
      return { kind: 'game-day', planned: await planned };
    }
    const experiment = await experiments.require(experimentRef!, '/spec/experimentRef');
    const request = { experimentId: experiment.id, fabric, seed, confirm };
    const prepared = runs.prepare(request, { id, scheduleId }).catch((error: unknown) => {
      throw error instanceof InputError ? atSchedule(error, fabric !== undefined) : error;
    });
    return { kind: 'run', run: await prepared };
  },
  store: (manager, prepared) =>
    prepared.kind === 'run' ? runs.store(manager, prepared.run) : days.store(manager, prepared.planned),
  requestAbort: async (manager, { kind, id }, reason) => {
    if (kind === 'run') await requestAbort(manager, id, reason);
    else await days.requestAbort(manager, id, reason);
  },
});

@Module({})
export class SchedulesModule {
  /** @param ticks whether this process starts runs; one that answers a single command does not */
  static forRoot(ticks: boolean): DynamicModule {
    return {
      module: SchedulesModule,
      imports: [ExperimentsModule, RunsApiModule, GameDaysModule, ScheduleModule.forRoot()],
      controllers: [SchedulesController],
      providers: [
        SchedulesService,
        ScheduleStore,
        { provide: SCHEDULE_CLOCK, useValue: databaseClock },
        {
          provide: SCHEDULE_RUNS,
          inject: [RunsService, ExperimentsService, GameDaysService, GameDayPlanner],
          useFactory: scheduledRuns,
        },
        ...(ticks ? [SuspendUnconfirmed, ScheduleTicker] : []),
      ],
    };
  }
}
