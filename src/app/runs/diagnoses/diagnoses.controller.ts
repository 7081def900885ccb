/** Diagnoses that others make: of a run, and the alerts of an operator's monitoring. */
import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { z } from 'zod';
import { parseBody } from '../../platform/http/body.js';
import { decodeUuidCursor, pageOf, pageQuery, parseQuery, placeOf } from '../../platform/http/page.js';
import { AlertsService } from './alerts.service.js';
import { alertmanagerSchema } from './alertmanager-body.js';
import { DiagnosesService } from './diagnoses.service.js';
import { DIAGNOSIS_SOURCES } from '../../../store/runs/diagnosis.entity.js';
import { diagnosisView } from '../../../store/runs/diagnosis-view.js';
import { verdictOf, verdictSchema } from './verdict-body.js';

const authorQuery = z.strictObject({ author: z.string().min(1).max(200).default('anonymous') });
const fabricQuery = z.strictObject({ fabric: z.string().min(1).max(63).optional() });
const listQuery = z.strictObject({
  ...pageQuery,
  matched: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  source: z.enum(DIAGNOSIS_SOURCES).optional(),
});

@ApiTags('diagnosis')
@Controller('v1/runs/:id/diagnoses')
export class RunDiagnosesController {
  constructor(private readonly diagnoses: DiagnosesService) {}

  @Post()
  @ApiOperation({ summary: 'a diagnosis of your own; scored like ours once the run has ended' })
  @ApiBody({ schema: { $ref: '#/components/schemas/Verdict' } })
  @ApiQuery({ name: 'author', required: false, description: 'who says so; default: anonymous' })
  @ApiResponse({ status: 201, description: 'stored; with its score where the run has ended' })
  @ApiResponse({ status: 400, description: 'no verdict, or a culprit that the fabric does not have' })
  async add(
    @Param('id') id: string,
    @Body() body: unknown,
    @Query() query: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { author } = parseQuery(authorQuery, query);
    const row = await this.diagnoses.add(id, author, verdictOf(parseBody(verdictSchema, body)));
    response.setHeader('Location', `/v1/runs/${id}/diagnoses/${row.id}`);
    return diagnosisView(row);
  }

  @Get()
  @ApiOperation({ summary: 'diagnoses that others made of the run, oldest first, with their scores' })
  async list(@Param('id') id: string) {
    return { data: (await this.diagnoses.ofRun(id)).map(diagnosisView) };
  }

  @Get(':diagnosis')
  @ApiOperation({ summary: 'one of them' })
  async show(@Param('id') id: string, @Param('diagnosis') diagnosis: string) {
    return diagnosisView(await this.diagnoses.one(id, diagnosis));
  }
}

@ApiTags('diagnosis')
@Controller('v1/diagnoses')
export class DiagnosesController {
  constructor(
    private readonly diagnoses: DiagnosesService,
    private readonly alerts: AlertsService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'diagnoses of all runs and alerts that belong to none, newest first' })
  @ApiQuery({ name: 'matched', required: false, enum: ['true', 'false'] })
  @ApiQuery({ name: 'source', required: false, enum: DIAGNOSIS_SOURCES })
  @ApiQuery({ name: 'limit', required: false, type: Number })
  @ApiQuery({ name: 'cursor', required: false })
  async list(@Query() query: Record<string, unknown>, @Res({ passthrough: true }) response: Response) {
    const { limit, cursor, ...filter } = parseQuery(listQuery, query);
    const after = cursor === undefined ? undefined : decodeUuidCursor(cursor);
    const rows = await this.diagnoses.list(filter, limit, after);
    const { matched, source } = filter;
    const again = { source, matched: matched === undefined ? undefined : String(matched) };
    const page = pageOf(response, {
      path: '/v1/diagnoses',
      query: again,
      rows,
      limit,
      place: ({ receivedAt, id }) => placeOf(receivedAt, id),
    });
    return { data: page.map(diagnosisView) };
  }

  @Post('alertmanager')
  @HttpCode(202)
  @ApiOperation({ summary: 'webhook of Alertmanager; labels are read by the fabric’s alertLabels' })
  @ApiQuery({ name: 'fabric', required: false, description: 'only runs on this fabric are meant' })
  @ApiResponse({ status: 202, description: 'taken; what belongs to no run is listed as unmatched' })
  async receive(@Body() body: unknown, @Query() query: Record<string, unknown>) {
    const { fabric } = parseQuery(fabricQuery, query);
    const { receiver, alerts } = parseBody(alertmanagerSchema, body);
    return this.alerts.receive(receiver, alerts, fabric);
  }
}
