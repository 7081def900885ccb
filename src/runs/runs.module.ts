/** Runs in two halves: what the API needs, and what a worker needs. One process may have both. */
import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ExperimentsModule } from '../experiments/experiments.module.js';
import { VERSION } from '../platform/version.js';
import { ExperimentRunsController } from './experiment-runs.controller.js';
import { EXECUTOR_SETTINGS, RunExecutor, type ExecutorSettings } from './run-executor.js';
import { RunStore } from './run-store.js';
import { RunWorker } from './run-worker.js';
import { RunsController } from './runs.controller.js';
import { RunsService } from './runs.service.js';

@Module({
  imports: [ExperimentsModule],
  controllers: [RunsController, ExperimentRunsController],
  providers: [RunsService],
})
export class RunsApiModule {}

/** A worker that is silent for this long is taken for dead, and its faults are reverted by another. */
const LEASE_MS = 15_000;
const HEARTBEAT_MS = 250;

const SETTINGS: ExecutorSettings = { leaseMs: LEASE_MS, heartbeatMs: HEARTBEAT_MS, version: VERSION };

@Module({})
export class RunsWorkerModule {
  static forRoot(settings: Partial<ExecutorSettings> = {}): DynamicModule {
    return {
      module: RunsWorkerModule,
      imports: [ScheduleModule.forRoot()],
      providers: [
        RunStore,
        RunExecutor,
        RunWorker,
        { provide: EXECUTOR_SETTINGS, useValue: { ...SETTINGS, ...settings } },
      ],
    };
  }
}
