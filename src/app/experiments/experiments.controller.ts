/** `/v1/experiments`: definitions, their plans, and runs of them. */
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { z } from 'zod';
import { planView } from '../../drill/plan/plan.js';
import { paceSchema } from '../../fabric-api/pace.js';
import { InputError } from '../../core/problem.js';
import { parseBody } from '../platform/http/body.js';
import { definitionText } from '../platform/http/definition-body.js';
import { YAML_TYPES } from '../platform/http/media-types.js';
import { decodeUuidCursor, pageOf, pageQuery, parseQuery, placeOf } from '../platform/http/page.js';
import { nameSchema, type Experiment } from '../../documents/experiment.js';
import { refuseFiles } from '../../documents/fabric-document.js';
import { loadDefinitions, type Loaded } from '../../documents/load.js';
import type { ExperimentEntity } from '../../store/documents/experiment.entity.js';
import { confirmation } from '../fabrics/confirmation.js';
import { ExperimentsService } from './experiments.service.js';

const listQuery = z.strictObject({ ...pageQuery, name: nameSchema.optional() });

/** Choice of fabric and seed for a plan or a run; both default to the experiment's own. */
export const runOptionsSchema = z
  .strictObject({
    fabric: z
      .union([z.string().min(1).max(63), z.record(z.string(), z.unknown())])
      .optional()
      .describe('name of a stored fabric, or a Fabric document'),
    seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
    pace: paceSchema
      .optional()
      .describe('how fast a simulated fabric runs beside the wall clock, such as 1x'),
    confirm: confirmation,
  })
  .prefault({});

function experimentView(row: ExperimentEntity): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    digest: row.digest,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

@ApiTags('experiments')
@Controller('v1/experiments')
export class ExperimentsController {
  constructor(private readonly experiments: ExperimentsService) {}

  @Get()
  @ApiOperation({ summary: 'stored experiments, newest first' })
  @ApiQuery({ name: 'name', required: false })
  @ApiQuery({ name: 'limit', required: false, type: Number })
  @ApiQuery({ name: 'cursor', required: false })
  async list(@Query() query: Record<string, unknown>, @Res({ passthrough: true }) response: Response) {
    const { limit, cursor, name } = parseQuery(listQuery, query);
    const filter = name === undefined ? {} : { name };
    const rows = await this.experiments.list(
      filter,
      limit,
      cursor === undefined ? undefined : decodeUuidCursor(cursor),
    );
    const page = pageOf(response, {
      path: '/v1/experiments',
      query: filter,
      rows,
      limit,
      place: ({ createdAt, id }) => placeOf(createdAt, id),
    });
    return { data: page.map(experimentView) };
  }

  @Post()
  @ApiOperation({ summary: 'store an Experiment document' })
  @ApiConsumes('application/json', ...YAML_TYPES)
  @ApiBody({ description: 'an Experiment document', schema: { $ref: '#/components/schemas/Experiment' } })
  @ApiResponse({ status: 201, description: 'stored' })
  @ApiResponse({ status: 200, description: 'this name and content were stored already' })
  @ApiResponse({ status: 400, description: 'problem+json with JSON pointers, lines and hints' })
  async create(@Body() body: unknown, @Res({ passthrough: true }) response: Response) {
    const { experiment, created } = await this.experiments.create(oneExperiment(body));
    response.status(created ? 201 : 200).setHeader('Location', `/v1/experiments/${experiment.id}`);
    return { ...experimentView(experiment), definition: experiment.definition };
  }

  @Get(':id')
  @ApiOperation({ summary: 'one experiment with its definition' })
  async show(@Param('id') id: string) {
    const experiment = await this.experiments.get(id);
    return { ...experimentView(experiment), definition: experiment.definition };
  }

  @Put(':id')
  @ApiOperation({ summary: 'replace the definition; runs keep the one they ran' })
  @ApiConsumes('application/json', ...YAML_TYPES)
  @ApiBody({ description: 'an Experiment document', schema: { $ref: '#/components/schemas/Experiment' } })
  async replace(@Param('id') id: string, @Body() body: unknown) {
    const experiment = await this.experiments.replace(id, oneExperiment(body));
    return { ...experimentView(experiment), definition: experiment.definition };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'delete the definition; its runs stay' })
  async remove(@Param('id') id: string): Promise<void> {
    await this.experiments.remove(id);
  }

  @Post(':id/plan')
  @HttpCode(200)
  @ApiOperation({
    summary: 'resolved targets, blast radius, unsupported impairments, undo steps; writes nothing',
  })
  @ApiBody({ required: false, schema: { $ref: '#/components/schemas/RunOptions' } })
  async plan(@Param('id') id: string, @Body() body: unknown) {
    const { fabric, seed } = parseBody(runOptionsSchema, body);
    return planView(await this.experiments.plan(id, fabric, seed));
  }
}

function oneExperiment(body: unknown): Loaded<Experiment> {
  const { experiments, fabrics } = loadDefinitions(definitionText(body), refuseFiles);
  if (experiments.length === 1 && fabrics.length === 0) return experiments[0];
  throw InputError.at(
    '',
    `expected one document of kind Experiment, found ${experiments.length} and ${fabrics.length} of kind Fabric`,
    'send Fabric documents to /v1/fabrics, one document a request',
  );
}
