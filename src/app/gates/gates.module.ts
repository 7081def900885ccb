/** Gates in two halves: what the API needs, and what a worker needs. One process may have both. */
import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ExperimentsModule } from '../experiments/experiments.module.js';
import { GateStore } from './gate-store.js';
import { GATE_WORKER_SETTINGS, GateWorker, type GateWorkerSettings } from './gate-worker.js';
import { GatesController } from './gates.controller.js';
import { GatesService } from './gates.service.js';

@Module({ imports: [ExperimentsModule], controllers: [GatesController], providers: [GatesService] })
export class GatesApiModule {}

const SETTINGS: GateWorkerSettings = { lockMs: 15_000, sweepMs: 5_000, quietS: 15 };

@Module({})
export class GatesWorkerModule {
  static forRoot(settings: Partial<GateWorkerSettings> = {}): DynamicModule {
    return {
      module: GatesWorkerModule,
      imports: [ScheduleModule.forRoot()],
      providers: [
        GateStore,
        GateWorker,
        { provide: GATE_WORKER_SETTINGS, useValue: { ...SETTINGS, ...settings } },
      ],
    };
  }
}
