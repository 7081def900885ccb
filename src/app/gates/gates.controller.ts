/** `/v1/gates`: ask for a gate, look how far it is, read its result. */
import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiHeader,
  ApiOperation,
  ApiProduces,
  ApiQuery,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { nameSchema } from '../../documents/experiment.js';
import { optionalReason, parseBody } from '../platform/http/body.js';
import { decodeUuidCursor, pageOf, pageQuery, parseQuery, placeOf } from '../platform/http/page.js';
import { ConflictError, NotFoundError } from '../../system/errors.js';
import { GATE_FORMATS, gateFormat } from '../../reports/catalog.js';
import { quoteArgument } from '../../reports/common/report.js';
import type { GateFormat, GateReportOptions } from '../../reports/gate/format.js';
import { gateRequestSchema } from './gate-request.js';
import { gateDetails, gateView } from './gate-view.js';
import { GATE_STATES, OPEN_GATE_STATES, type GateEntity, type GateSources } from './gate.entity.js';
import { GatesService } from './gates.service.js';

const listQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(GATE_STATES).optional(),
  suite: nameSchema.optional(),
  baseline: nameSchema.optional(),
  candidate: nameSchema.optional(),
});
const showQuery = z.strictObject({ format: z.string().optional() });
const abortBody = optionalReason('abort requested');

const JSON_TYPE = 'application/json';
/** What an Accept header may ask for; a format that has its type from another is chosen by `?format=`. */
const BY_TYPE = new Map([...GATE_FORMATS].reverse().map((format) => [format.mediaType, format]));

@ApiTags('gates')
@Controller('v1/gates')
export class GatesController {
  constructor(private readonly gates: GatesService) {}

  @Get()
  @ApiOperation({ summary: 'gates, newest first' })
  @ApiQuery({ name: 'state', required: false, enum: GATE_STATES })
  @ApiQuery({ name: 'suite', required: false })
  @ApiQuery({ name: 'baseline', required: false })
  @ApiQuery({ name: 'candidate', required: false })
  @ApiQuery({ name: 'limit', required: false, type: Number })
  @ApiQuery({ name: 'cursor', required: false })
  async list(@Query() query: Record<string, unknown>, @Res({ passthrough: true }) response: Response) {
    const { limit, cursor, ...filter } = parseQuery(listQuery, query);
    const after = cursor === undefined ? undefined : decodeUuidCursor(cursor);
    const rows = await this.gates.list(filter, limit, after);
    const page = pageOf(response, {
      path: '/v1/gates',
      query: filter,
      rows,
      limit,
      place: ({ createdAt, id }) => placeOf(createdAt, id),
    });
    return { data: page.map(gateView) };
  }

  @Post()
  @HttpCode(202)
  @ApiOperation({
    summary: 'is the candidate as good as the baseline? The same experiments and seeds on both',
  })
  @ApiBody({ schema: { $ref: '#/components/schemas/Gate' } })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'a repeated request gives the first gate back',
  })
  @ApiResponse({ status: 202, description: 'checked, stored and queued; Location names the gate' })
  @ApiResponse({ status: 400, description: 'it could not decide anything; nothing was stored' })
  @ApiResponse({
    status: 409,
    description:
      '`confirmation-required`: a side is a real fabric; or the key came with another request before',
  })
  @ApiResponse({ status: 503, description: 'the queue or the database is away; nothing was stored' })
  async create(
    @Body() body: unknown,
    @Res({ passthrough: true }) response: Response,
    @Headers('Idempotency-Key') idempotencyKey?: string,
  ) {
    const { gate, replayed } = await this.gates.create(parseBody(gateRequestSchema, body), idempotencyKey);
    response.setHeader('Location', `/v1/gates/${gate.id}`).setHeader('Retry-After', '1');
    if (replayed) response.setHeader('Idempotency-Replayed', 'true');
    return gateView(gate);
  }

  @Get(':id')
  @ApiOperation({ summary: 'state, progress and result; a report by Accept or ?format=' })
  @ApiProduces(JSON_TYPE, ...new Set(GATE_FORMATS.map(({ mediaType }) => mediaType)))
  @ApiQuery({ name: 'format', required: false, enum: GATE_FORMATS.map(({ name }) => name) })
  @ApiResponse({ status: 200, description: 'the gate as it is now, or the report' })
  @ApiResponse({ status: 404, description: 'no such gate, or it ended without a result' })
  @ApiResponse({ status: 409, description: 'a report of a gate that has not ended' })
  async show(
    @Param('id') id: string,
    @Query() query: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ) {
    const gate = await this.gates.get(id);
    const { format } = parseQuery(showQuery, query);
    response.vary('Accept');
    const report = format === undefined ? accepted(request) : gateFormat(format, '/format');
    if (report === undefined) {
      response.json(gateDetails(gate));
      return;
    }
    if (gate.result === null) throw notYet(gate);
    response.setHeader('Content-Type', `${report.mediaType}; charset=utf-8`);
    response.send(report.render(gate.result, replayOptions(gate, request)));
  }

  @Get(':id/definition')
  @ApiOperation({ summary: 'all documents of the gate: what makes the same gate again when it is posted' })
  @ApiResponse({ status: 200, description: 'the documents' })
  @ApiResponse({ status: 404, description: 'no such gate' })
  async definition(@Param('id') id: string): Promise<GateSources> {
    return (await this.gates.get(id)).definition;
  }

  @Post(':id/abort')
  @HttpCode(200)
  @ApiOperation({ summary: 'end the gate as aborted; runs that were made are kept' })
  @ApiResponse({ status: 200, description: 'aborted, now or before' })
  @ApiResponse({ status: 409, description: 'it has ended already' })
  async abort(@Param('id') id: string, @Body() body: unknown) {
    const { reason } = parseBody(abortBody, body);
    return gateView(await this.gates.abort(id, reason));
  }
}

/** The report that the client would rather have than JSON. */
function accepted(request: Request): GateFormat | undefined {
  const type = request.accepts([JSON_TYPE, ...BY_TYPE.keys()]);
  return type === false || type === JSON_TYPE ? undefined : BY_TYPE.get(type);
}

/** Runs are the same wherever they are made, so that the command line does any of them again from the gate's documents. */
function replayOptions({ id }: GateEntity, request: Request): GateReportOptions {
  const server = quoteArgument(`${request.protocol}://${request.host}`);
  const command = `FABRICDRILL_URL=${server} fabricdrill gate ${id}`;
  const replay: GateReportOptions['replay'] = (experiment, seed) =>
    `${command} --only ${quoteArgument(experiment)} --seed ${seed}`;
  return { command, replay };
}

const notYet = (gate: GateEntity): Error =>
  OPEN_GATE_STATES.includes(gate.state)
    ? new ConflictError(
        `gate ${gate.id} has no report yet; it is ${gate.state}`,
        'ask again when it has ended',
      )
    : new NotFoundError(`gate ${gate.id} ended as ${gate.state} without a report`, gate.reason ?? undefined);
