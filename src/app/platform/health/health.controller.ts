/**
 * Probes and figures: is the process alive, can it do its work, how is it doing.
 *
 * `live` looks at nothing outside: restarting us would not mend a database. `ready` asks database and queue, each with
 * a deadline, because a queue that retries for ever would otherwise keep the probe waiting.
 */
import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import {
  HealthCheckService,
  type HealthCheckResult,
  HealthIndicatorService,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { Public } from '../auth/public.js';
import { RUN_QUEUE, type RunQueue } from '../queue/run-queue.js';
import { Metrics } from './metrics.js';

const PATIENCE_MS = 3_000;

@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly dataSource: DataSource,
    @Inject(RUN_QUEUE) private readonly queue: RunQueue,
    private readonly metrics: Metrics,
  ) {}

  @Public()
  @Get('health/live')
  @Header('Cache-Control', 'no-store')
  live(): { status: string } {
    return { status: 'ok' };
  }

  /** 200 when both answer, else 503 with the one that does not. */
  @Public()
  @Get('health/ready')
  async ready(@Res() response: Response): Promise<void> {
    const result = await this.check();
    response
      .status(result.status === 'ok' ? 200 : 503)
      .setHeader('Cache-Control', 'no-store')
      .json(result);
  }

  @Get('metrics')
  async figures(@Res() response: Response): Promise<void> {
    const text = await withDeadline(this.metrics.registry.metrics());
    response.setHeader('Content-Type', this.metrics.registry.contentType).send(text);
  }

  private async check(): Promise<Pick<HealthCheckResult, 'status' | 'details'>> {
    const probe = (name: string, ask: () => Promise<unknown>) => () => this.indicate(name, ask);
    try {
      const { status, details } = await this.health.check([
        probe('database', () => this.dataSource.query('SELECT 1')),
        probe('queue', () => this.queue.counts()),
      ]);
      return { status, details };
    } catch (error) {
      const { status, details } = (error as { getResponse(): HealthCheckResult }).getResponse();
      return { status, details };
    }
  }

  private async indicate(name: string, ask: () => Promise<unknown>): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check(name);
    try {
      await withDeadline(ask());
      return indicator.up();
    } catch (error) {
      // Probes are public, so only the kind of failure is told.
      return indicator.down((error as { code?: string }).code ?? 'no answer');
    }
  }
}

function withDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer));
}
