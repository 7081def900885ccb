/** `POST /v1/experiments/{id}/runs`: start a run. Always 202; the run itself carries its status. */
import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { runOptionsSchema } from '../experiments/experiments.controller.js';
import { parseBody } from '../platform/http/body.js';
import { runView } from '../../store/runs/run-view.js';
import { RunsService } from './runs.service.js';

@ApiTags('runs')
@Controller('v1/experiments/:id/runs')
export class ExperimentRunsController {
  constructor(private readonly runs: RunsService) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({ summary: 'start a run of the experiment' })
  @ApiBody({ required: false, schema: { $ref: '#/components/schemas/RunOptions' } })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'a repeated request gives the first run back',
  })
  @ApiResponse({ status: 202, description: 'planned, stored and queued; Location names the run' })
  @ApiResponse({ status: 400, description: 'it can not be run on this fabric; nothing was stored' })
  @ApiResponse({
    status: 409,
    description: '`confirmation-required`: the fabric is a real one; or it is blocked',
  })
  async create(
    @Param('id') experimentId: string,
    @Body() body: unknown,
    @Res({ passthrough: true }) response: Response,
    @Headers('Idempotency-Key') idempotencyKey?: string,
  ) {
    const options = parseBody(runOptionsSchema, body);
    const { run, replayed } = await this.runs.create({ experimentId, ...options, idempotencyKey });
    response.setHeader('Location', `/v1/runs/${run.id}`).setHeader('Retry-After', '1');
    if (replayed) response.setHeader('Idempotency-Replayed', 'true');
    return runView(run);
  }
}
