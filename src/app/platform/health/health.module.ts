/** Probes and metrics; needs the database and queue modules in the application. */
import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { HealthController } from './health.controller.js';
import { Metrics } from './metrics.js';

@Module({
  // Its own error log would print a stack for every probe while a database restarts.
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [Metrics],
})
export class HealthModule {}
