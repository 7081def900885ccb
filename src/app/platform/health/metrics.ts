/**
 * Figures of this process for Prometheus, in a registry of its own so that two applications in one process (tests)
 * do not share them.
 */
import { Inject, Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { RUN_QUEUE, type RunQueue } from '../queue/run-queue.js';
import { VERSION } from '../../../system/version.js';

@Injectable()
export class Metrics {
  readonly registry = new Registry();

  constructor(@Inject(RUN_QUEUE) queue: RunQueue) {
    collectDefaultMetrics({ register: this.registry, prefix: 'fabricdrill_' });
    new Gauge({
      name: 'fabricdrill_info',
      help: 'Version and queue backend of this process, always 1',
      labelNames: ['version', 'queue'],
      registers: [this.registry],
    }).set({ version: VERSION, queue: queue.backend }, 1);
    new Gauge({
      name: 'fabricdrill_runs',
      help: 'Runs in the queue by state',
      labelNames: ['state'],
      registers: [this.registry],
      async collect() {
        for (const [state, count] of Object.entries(await queue.counts()))
          this.set({ state }, count as number);
      },
    });
  }
}
