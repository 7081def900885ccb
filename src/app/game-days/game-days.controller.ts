/** `/v1/game-days`: start one, follow it, take part in it, and its report. */
import { Body, Controller, Get, Header, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiHeader,
  ApiOperation,
  ApiProduces,
  ApiQuery,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { nameSchema } from '../../documents/experiment.js';
import { refuseFiles } from '../../documents/fabric-document.js';
import type { GameDay } from '../../documents/game-day.js';
import { loadDefinitions, type Loaded, type LoadedFile } from '../../documents/load.js';
import { InputError } from '../../core/problem.js';
import { optionalReason, parseBody } from '../platform/http/body.js';
import { definitionText } from '../platform/http/definition-body.js';
import { YAML_TYPES } from '../platform/http/media-types.js';
import { decodeUuidCursor, pageOf, pageQuery, parseQuery, placeOf } from '../platform/http/page.js';
import { verdictOf, verdictSchema } from '../runs/diagnoses/verdict-body.js';
import { DOCUMENT_FORMATS } from '../../reports/catalog.js';
import { gameDayPlan } from './game-day-plan.js';
import { GameDayPlanner } from './game-day-planner.js';
import { GameDayReports } from './game-day-reports.js';
import { gameDayDetails, gameDayView, noteView } from './game-day-view.js';
import { reportDocument } from './report-document.js';
import { GAME_DAY_STATES } from './rules/stages.js';
import { isSealed, NOTE_KINDS } from './game-day.entity.js';
import { GameDaysService } from './game-days.service.js';

const listQuery = z.strictObject({
  ...pageQuery,
  name: nameSchema.optional(),
  state: z.enum(GAME_DAY_STATES).optional(),
});
const GAME_DAY_REPORT_FORMATS = ['json', ...DOCUMENT_FORMATS.map(({ name }) => name)];
const reportQuery = z.strictObject({
  format: z.enum(GAME_DAY_REPORT_FORMATS).default('json'),
  with: z.uuid().optional(),
});
const person = z.string().min(1).max(200).default('anonymous');

export const gameDayNoteSchema = z.strictObject({
  text: z.string().min(1).max(5000),
  author: person,
  kind: z.enum(NOTE_KINDS).default('note').describe('an action is something to do afterwards'),
});
export const gameDayCommitSchema = z.strictObject({
  run: z.uuid().describe('the run that the diagnosis is of'),
  author: person.describe('the team, or who speaks for it'),
  verdict: verdictSchema,
});
export const gameDayContinueSchema = z
  .strictObject({
    stage: nameSchema.optional().describe('may be left out where only one waits'),
    by: person,
  })
  .prefault({});
const abortBody = optionalReason('abort requested');

@ApiTags('game days')
@Controller('v1/game-days')
export class GameDaysController {
  constructor(
    private readonly days: GameDaysService,
    private readonly planner: GameDayPlanner,
    private readonly reports: GameDayReports,
  ) {}

  @Get()
  @ApiOperation({ summary: 'game days, newest first' })
  @ApiQuery({ name: 'name', required: false })
  @ApiQuery({ name: 'state', required: false, enum: GAME_DAY_STATES })
  @ApiQuery({ name: 'limit', required: false, type: Number })
  @ApiQuery({ name: 'cursor', required: false })
  async list(@Query() query: Record<string, unknown>, @Res({ passthrough: true }) response: Response) {
    const { limit, cursor, ...filter } = parseQuery(listQuery, query);
    const after = cursor === undefined ? undefined : decodeUuidCursor(cursor);
    const rows = await this.days.list(filter, limit, after);
    const page = pageOf(response, {
      path: '/v1/game-days',
      query: filter,
      rows,
      limit,
      place: ({ createdAt, id }) => placeOf(createdAt, id),
    });
    return { data: page.map(gameDayView) };
  }

  @Post()
  @HttpCode(202)
  @ApiOperation({ summary: 'plan and begin a game day' })
  @ApiConsumes(...YAML_TYPES, 'application/json')
  @ApiBody({
    description: 'a GameDay document; as YAML with the Experiment and Fabric documents that it brings along',
    schema: { $ref: '#/components/schemas/GameDay' },
  })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'a repeated request gives the first game day back; without one each begins another',
  })
  @ApiResponse({ status: 202, description: 'begun; Location names it' })
  @ApiResponse({
    status: 400,
    description: 'problem+json: what can not be found or planned; nothing was begun',
  })
  @ApiResponse({ status: 409, description: '`confirmation-required`: one of its fabrics is a real one' })
  async start(
    @Body() body: unknown,
    @Res({ passthrough: true }) response: Response,
    @Headers('Idempotency-Key') idempotencyKey?: string,
  ) {
    const { gameDay, loaded } = oneGameDay(body);
    const { day, replayed } = await this.days.start(gameDay, loaded, idempotencyKey);
    response.setHeader('Location', `/v1/game-days/${day.id}`);
    if (replayed) response.setHeader('Idempotency-Replayed', 'true');
    return gameDayDetails(day, await this.days.itemsOf(day.id));
  }

  @Post('plan')
  @HttpCode(200)
  @ApiOperation({ summary: 'what it would do and hide; nothing is stored or begun' })
  @ApiConsumes(...YAML_TYPES, 'application/json')
  @ApiBody({ description: 'as for a begin', schema: { $ref: '#/components/schemas/GameDay' } })
  @ApiResponse({ status: 200, description: 'the plan' })
  @ApiResponse({ status: 400, description: 'problem+json: what can not be found or planned' })
  async plan(@Body() body: unknown) {
    const { gameDay, loaded } = oneGameDay(body);
    return gameDayPlan(gameDay.value, await this.planner.plan(gameDay, loaded, { id: randomUUID() }));
  }

  @Get(':id')
  @ApiOperation({ summary: 'one game day: its stages, runs and seals' })
  @ApiResponse({ status: 200, description: 'the game day as it is now' })
  @ApiResponse({ status: 404, description: 'no such game day' })
  async show(@Param('id') id: string) {
    const day = await this.days.get(id);
    return gameDayDetails(day, await this.days.itemsOf(id));
  }

  @Post(':id/notes')
  @ApiOperation({ summary: 'write something down, with the time' })
  @ApiBody({ schema: { $ref: '#/components/schemas/GameDayNote' } })
  async note(@Param('id') id: string, @Body() body: unknown) {
    return noteView(await this.days.note(id, parseBody(gameDayNoteSchema, body)));
  }

  @Get(':id/notes')
  @ApiOperation({ summary: 'what was written down, oldest first' })
  async notes(@Param('id') id: string) {
    return { data: (await this.days.notesOf(id)).map(noteView) };
  }

  @Post(':id/continue')
  @HttpCode(200)
  @ApiOperation({ summary: 'go on with a stage that waits for a person' })
  @ApiBody({ required: false, schema: { $ref: '#/components/schemas/GameDayContinue' } })
  @ApiResponse({ status: 200, description: 'it goes on' })
  @ApiResponse({ status: 409, description: 'it waits for nobody' })
  async continue(@Param('id') id: string, @Body() body: unknown) {
    const { stage, by } = parseBody(gameDayContinueSchema, body);
    const day = await this.days.continue(id, stage, by);
    return gameDayDetails(day, await this.days.itemsOf(id));
  }

  @Post(':id/commit')
  @HttpCode(200)
  @ApiOperation({ summary: 'the team’s diagnosis of a run; breaks its seal once the run has ended' })
  @ApiBody({ schema: { $ref: '#/components/schemas/GameDayCommit' } })
  @ApiResponse({ status: 200, description: 'committed; what is sealed is shown once the run has ended' })
  @ApiResponse({ status: 409, description: 'one was committed before, or the seal was broken' })
  async commit(@Param('id') id: string, @Body() body: unknown) {
    const { run, author, verdict } = parseBody(gameDayCommitSchema, body);
    const item = await this.days.commit(id, run, author, verdictOf(verdict));
    return {
      run: item.runId,
      committedAt: item.committedAt!.toISOString(),
      committedBy: item.committedBy,
      diagnosis: item.diagnosisId,
      sealed: isSealed(item),
    };
  }

  @Post(':id/abort')
  @HttpCode(202)
  @ApiOperation({
    summary:
      'revert what is under way and start nothing more; what was begun stays sealed until the team commits',
  })
  async abort(@Param('id') id: string, @Body() body: unknown) {
    const { reason } = parseBody(abortBody, body);
    return gameDayView(await this.days.abort(id, reason));
  }

  @Get(':id/seals/:run')
  @Header('Content-Type', 'application/json; charset=utf-8')
  @ApiOperation({ summary: 'what was sealed, byte for byte: its SHA-256 is the seal' })
  @ApiResponse({ status: 200, description: 'what was sealed' })
  @ApiResponse({ status: 409, description: 'the seal holds' })
  seal(@Param('id') id: string, @Param('run') run: string): Promise<string> {
    return this.days.sealedText(id, run);
  }

  @Get(':id/report')
  @ApiOperation({ summary: 'what it showed, what is to be done, and how the last one went' })
  @ApiProduces('application/json', ...DOCUMENT_FORMATS.map(({ mediaType }) => mediaType))
  @ApiQuery({ name: 'format', required: false, enum: GAME_DAY_REPORT_FORMATS })
  @ApiQuery({ name: 'with', required: false, description: 'id of the day to compare with' })
  @ApiResponse({ status: 200, description: 'the report' })
  @ApiResponse({ status: 409, description: 'it has not ended' })
  async report(@Param('id') id: string, @Query() query: Record<string, unknown>, @Res() response: Response) {
    const { format, with: other } = parseQuery(reportQuery, query);
    const day = await this.days.get(id);
    const report = await this.reports.ofDay(
      day,
      other === undefined ? undefined : await this.days.get(other),
    );
    const form = DOCUMENT_FORMATS.find(({ name }) => name === format);
    if (form === undefined) response.json(report);
    else response.type(`${form.mediaType}; charset=utf-8`).send(form.render(reportDocument(report)));
  }
}

function oneGameDay(body: unknown): { gameDay: Loaded<GameDay>; loaded: LoadedFile } {
  const loaded = loadDefinitions(definitionText(body), refuseFiles);
  const [gameDay] = loaded.gameDays;
  if (gameDay !== undefined && loaded.gameDays.length === 1) return { gameDay, loaded };
  throw InputError.at(
    '',
    `expected one document of kind GameDay, found ${loaded.gameDays.length}`,
    'Experiment and Fabric documents may stand beside it, apart by ---',
  );
}
