/** `/v1/schedules`: when experiments are run by themselves, and what became of each tick. */
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { z } from 'zod';
import { nameSchema } from '../../documents/experiment.js';
import { refuseFiles } from '../../documents/fabric-document.js';
import { loadDefinitions, type Loaded, type LoadedFile } from '../../documents/load.js';
import type { Schedule } from '../../documents/schedule.js';
import { InputError } from '../../core/problem.js';
import { optionalReason, parseBody } from '../platform/http/body.js';
import { definitionText } from '../platform/http/definition-body.js';
import { YAML_TYPES } from '../platform/http/media-types.js';
import {
  decodeCursor,
  decodeUuidCursor,
  instantQuery,
  pageOf,
  pageQuery,
  parseQuery,
  placeOf,
} from '../platform/http/page.js';
import { scheduleDetails, scheduleView, tickView } from './schedule-view.js';
import { SchedulesService } from './schedules.service.js';
import { SKIP_REASONS } from '../../model/calendar/decide.js';

const MOST_UPCOMING = 1000;
const listQuery = z.strictObject({
  ...pageQuery,
  name: nameSchema.optional(),
  suspended: z.enum(['true', 'false']).optional(),
});
const ticksQuery = z.strictObject({
  ...pageQuery,
  outcome: z.enum(['run', 'skip']).optional(),
  reason: z.enum(SKIP_REASONS).optional(),
  since: instantQuery.optional(),
});
const showQuery = z.strictObject({
  upcoming: z.coerce.number().int().min(0).max(MOST_UPCOMING).default(10),
});
const suspendBody = optionalReason('asked for');

@ApiTags('schedules')
@Controller('v1/schedules')
export class SchedulesController {
  constructor(private readonly schedules: SchedulesService) {}

  @Get()
  @ApiOperation({ summary: 'schedules, newest first' })
  @ApiQuery({ name: 'name', required: false })
  @ApiQuery({ name: 'suspended', required: false, enum: ['true', 'false'] })
  @ApiQuery({ name: 'limit', required: false, type: Number })
  @ApiQuery({ name: 'cursor', required: false })
  async list(@Query() query: Record<string, unknown>, @Res({ passthrough: true }) response: Response) {
    const { limit, cursor, ...filter } = parseQuery(listQuery, query);
    const rows = await this.schedules.list(
      {
        ...(filter.name === undefined ? {} : { name: filter.name }),
        ...(filter.suspended === undefined ? {} : { suspended: filter.suspended === 'true' }),
      },
      limit,
      cursor === undefined ? undefined : decodeUuidCursor(cursor),
    );
    const page = pageOf(response, {
      path: '/v1/schedules',
      query: filter,
      rows,
      limit,
      place: ({ createdAt, id }) => placeOf(createdAt, id),
    });
    return { data: page.map(scheduleView) };
  }

  @Post()
  @ApiOperation({
    summary: 'store a Schedule document; its experiment must be stored, its game day comes along',
  })
  @ApiConsumes('application/json', ...YAML_TYPES)
  @ApiBody({
    description: 'a Schedule document, and the GameDay with its documents where it starts one',
    schema: { $ref: '#/components/schemas/Schedule' },
  })
  @ApiResponse({ status: 201, description: 'stored' })
  @ApiResponse({ status: 200, description: 'this name and content were stored already' })
  @ApiResponse({ status: 400, description: 'problem+json with JSON pointers, lines and hints' })
  @ApiResponse({ status: 409, description: 'the name is taken by another content' })
  async create(@Body() body: unknown, @Res({ passthrough: true }) response: Response) {
    const { schedule: sent, beside } = oneSchedule(body);
    const { schedule, created } = await this.schedules.create(sent, beside);
    response.status(created ? 201 : 200).setHeader('Location', `/v1/schedules/${schedule.id}`);
    return scheduleDetails(schedule);
  }

  @Get(':id')
  @ApiOperation({ summary: 'one schedule with its definition and its next ten ticks' })
  @ApiResponse({ status: 200, description: 'the schedule' })
  @ApiQuery({ name: 'upcoming', required: false, type: Number, description: 'coming ticks instead of ten' })
  @ApiResponse({ status: 404, description: 'no such schedule' })
  async show(@Param('id') id: string, @Query() query: Record<string, unknown>) {
    const { upcoming } = parseQuery(showQuery, query);
    return scheduleDetails(await this.schedules.get(id), upcoming);
  }

  @Put(':id')
  @ApiOperation({ summary: 'replace the definition; ticks until now go by the old one' })
  @ApiConsumes('application/json', ...YAML_TYPES)
  @ApiBody({ description: 'a Schedule document', schema: { $ref: '#/components/schemas/Schedule' } })
  async replace(@Param('id') id: string, @Body() body: unknown) {
    const { schedule, beside } = oneSchedule(body);
    return scheduleDetails(await this.schedules.replace(id, schedule, beside));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'delete the schedule with its ticks; its runs stay' })
  async remove(@Param('id') id: string): Promise<void> {
    await this.schedules.remove(id);
  }

  @Post(':id/suspend')
  @HttpCode(200)
  @ApiOperation({ summary: 'skip every tick until it is resumed; runs under way go on' })
  async suspend(@Param('id') id: string, @Body() body: unknown) {
    const { reason } = parseBody(suspendBody, body);
    return scheduleView(await this.schedules.suspend(id, reason));
  }

  @Post(':id/resume')
  @HttpCode(200)
  @ApiOperation({ summary: 'go on with the next tick' })
  @ApiResponse({ status: 200, description: 'it goes on; the schedule as it is now' })
  @ApiResponse({ status: 409, description: 'this version does not accept its file' })
  async resume(@Param('id') id: string) {
    return scheduleView(await this.schedules.resume(id));
  }

  @Get(':id/ticks')
  @ApiOperation({ summary: 'what became of each tick, newest first: a run, or a skip with its reason' })
  @ApiQuery({ name: 'outcome', required: false, enum: ['run', 'skip'] })
  @ApiQuery({ name: 'reason', required: false, enum: SKIP_REASONS })
  @ApiQuery({ name: 'since', required: false, description: 'RFC 3339 time' })
  @ApiQuery({ name: 'limit', required: false, type: Number })
  @ApiQuery({ name: 'cursor', required: false })
  async ticks(
    @Param('id') id: string,
    @Query() query: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { limit, cursor, ...filter } = parseQuery(ticksQuery, query);
    const before = cursor === undefined ? undefined : new Date(decodeCursor(cursor).createdAt);
    const rows = await this.schedules.listTicks(id, filter, limit, before);
    const page = pageOf(response, {
      path: `/v1/schedules/${id}/ticks`,
      query: filter,
      rows,
      limit,
      place: ({ nominalAt }) => placeOf(nominalAt, id),
    });
    return { data: page.map(tickView) };
  }
}

/** A schedule, alone or with the game day that it starts and what that brings along. */
function oneSchedule(body: unknown): { schedule: Loaded<Schedule>; beside: LoadedFile } {
  const loaded = loadDefinitions(definitionText(body), refuseFiles);
  const [schedule] = loaded.schedules;
  const documents = Object.values(loaded).flat().length;
  const along = schedule?.value.spec.gameDayRef === undefined ? documents - 1 : loaded.suites.length;
  if (schedule !== undefined && loaded.schedules.length === 1 && along === 0) {
    return { schedule, beside: loaded };
  }
  throw InputError.at(
    '',
    `expected one document of kind Schedule, found ${loaded.schedules.length} among ${documents}`,
    'send Experiment documents to /v1/experiments and Fabric documents to /v1/fabrics, one a request',
  );
}
