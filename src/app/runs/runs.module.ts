/** Runs in two halves: what the API needs, and what a worker needs. One process may have both. */
import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { ExperimentsModule } from '../experiments/experiments.module.js';
import { openFabric } from '../../drivers/catalog.js';
import { VERSION } from '../../system/version.js';
import { DiagnoseController } from './diagnose.controller.js';
import { DiagnoseService } from './diagnose.service.js';
import { AlertsService } from './diagnoses/alerts.service.js';
import { DiagnosesController, RunDiagnosesController } from './diagnoses/diagnoses.controller.js';
import { DiagnosesService } from './diagnoses/diagnoses.service.js';
import { ExperimentRunsController } from './experiment-runs.controller.js';
import { EXECUTOR_SETTINGS, RunExecutor, type ExecutorSettings } from './run-executor.js';
import { RunStore } from '../../store/runs/run-store.js';
import { RunWorker } from './run-worker.js';
import { RunsController } from './runs.controller.js';
import { RunsService } from './runs.service.js';

@Module({
  imports: [ExperimentsModule],
  controllers: [
    RunsController,
    ExperimentRunsController,
    DiagnoseController,
    RunDiagnosesController,
    DiagnosesController,
  ],
  providers: [RunsService, DiagnoseService, DiagnosesService, AlertsService],
  exports: [RunsService, DiagnosesService],
})
export class RunsApiModule {}

const SETTINGS: ExecutorSettings = {
  leaseMs: 15_000,
  heartbeatMs: 250,
  sweepMs: 5_000,
  onClose: 'abort',
  version: VERSION,
  openFabric,
};

@Module({})
export class RunsWorkerModule {
  static forRoot(settings: Partial<ExecutorSettings> = {}): DynamicModule {
    return {
      module: RunsWorkerModule,
      imports: [ScheduleModule.forRoot()],
      providers: [
        {
          provide: RunStore,
          inject: [DataSource],
          useFactory: (dataSource: DataSource) => new RunStore(dataSource),
        },
        RunExecutor,
        RunWorker,
        {
          provide: EXECUTOR_SETTINGS,
          useValue: { ...SETTINGS, computed: settings.openFabric === undefined, ...settings },
        },
      ],
    };
  }
}
