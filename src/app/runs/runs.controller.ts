/** `/v1/runs`: list, look, abort, clear, results, report, live events. */
import {
  Body,
  Controller,
  Get,
  Header,
  Headers,
  HttpCode,
  Logger,
  Param,
  Post,
  Query,
  Req,
  Res,
  Sse,
} from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiProduces, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { MessageEvent } from '@nestjs/common';
import type { Request, Response } from 'express';
import { pipeline } from 'node:stream/promises';
import { Observable } from 'rxjs';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { planView } from '../../drill/plan/plan.js';
import { optionalReason, parseBody } from '../platform/http/body.js';
import {
  decodeUuidCursor,
  instantQuery,
  pageOf,
  pageQuery,
  parseQuery,
  placeOf,
} from '../platform/http/page.js';
import { REPORT_FORMATS, reportFormat } from '../../reports/catalog.js';
import { RUN_STATES, type Scorecard } from '../../scoring/scorecard.js';
import { DiagnosesService } from './diagnoses/diagnoses.service.js';
import { scorecardEntry } from '../../store/runs/diagnosis-view.js';
import { decodeEvidenceFile, encodedParts, EVIDENCE_MEDIA_TYPE } from '../../evidence/arrow.js';
import { EvidenceFile } from '../../evidence/evidence-file.js';
import type { StoredEvidence } from '../../store/evidence/stored-evidence.js';
import { followEvents } from '../../store/runs/run-events.js';
import { runView } from '../../store/runs/run-view.js';
import { RunsService } from './runs.service.js';
import { followSealedEvents } from '../../store/runs/sealed-run.js';

const listQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(RUN_STATES).optional(),
  fabric: z.string().max(63).optional(),
  experiment: z.string().max(63).optional(),
  schedule: z.uuid().optional(),
  gameDay: z.uuid().optional(),
  since: instantQuery.optional(),
});

const reasonBody = z.strictObject({ reason: z.string().min(1).max(1000) });
const abortBody = optionalReason('abort requested');
const evidenceQuery = z.strictObject({ compression: z.enum(['zstd', 'none']).default('zstd') });
const reportQuery = z.strictObject({ format: z.string().default('text') });

@ApiTags('runs')
@Controller('v1/runs')
export class RunsController {
  private readonly logger = new Logger('RunsController');

  constructor(
    private readonly runs: RunsService,
    private readonly dataSource: DataSource,
    private readonly diagnoses: DiagnosesService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'runs, newest first' })
  @ApiQuery({ name: 'state', required: false, enum: RUN_STATES })
  @ApiQuery({ name: 'fabric', required: false })
  @ApiQuery({ name: 'experiment', required: false })
  @ApiQuery({ name: 'schedule', required: false, description: 'id of the schedule whose runs' })
  @ApiQuery({ name: 'gameDay', required: false, description: 'id of the game day whose runs' })
  @ApiQuery({ name: 'since', required: false, description: 'RFC 3339 time' })
  @ApiQuery({ name: 'limit', required: false, type: Number })
  @ApiQuery({ name: 'cursor', required: false })
  async list(@Query() query: Record<string, unknown>, @Res({ passthrough: true }) response: Response) {
    const { limit, cursor, ...filter } = parseQuery(listQuery, query);
    const rows = await this.runs.list(
      filter,
      limit,
      cursor === undefined ? undefined : decodeUuidCursor(cursor),
    );
    const page = pageOf(response, {
      path: '/v1/runs',
      query: filter,
      rows,
      limit,
      place: ({ createdAt, id }) => placeOf(createdAt, id),
    });
    return { data: page.map(runView) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'one run with its plan' })
  @ApiResponse({ status: 200, description: 'the run as it is now' })
  @ApiResponse({ status: 404, description: 'no such run' })
  async show(@Param('id') id: string) {
    const run = await this.runs.get(id);
    return { ...runView(run), plan: run.sealed ? null : planView(run.plan) };
  }

  @Sse(':id/events')
  @ApiOperation({ summary: 'live events (SSE); Last-Event-ID resumes, `end` is the last' })
  @ApiProduces('text/event-stream')
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'the last event that was seen' })
  async events(
    @Param('id') id: string,
    @Headers('Last-Event-ID') lastEventId?: string,
  ): Promise<Observable<MessageEvent>> {
    const { sealed } = await this.runs.get(id);
    const after = lastEventId === undefined || !/^\d{1,9}$/.test(lastEventId) ? 0 : Number(lastEventId);
    return new Observable((subscriber) => {
      const stop = new AbortController();
      const pump = async (): Promise<void> => {
        const events = sealed
          ? followSealedEvents(this.dataSource, id, stop.signal)
          : followEvents(this.dataSource, id, after, stop.signal);
        for await (const { seq, type, data, at } of events) {
          subscriber.next({ ...(seq === undefined ? {} : { id: String(seq) }), type, data: { ...data, at } });
        }
      };
      pump().then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
      return () => stop.abort();
    });
  }

  @Post(':id/abort')
  @HttpCode(202)
  @ApiOperation({ summary: 'revert everything and end the run as aborted' })
  async abort(@Param('id') id: string, @Body() body: unknown) {
    const { reason } = parseBody(abortBody, body);
    return runView(await this.runs.abort(id, reason));
  }

  @Post(':id/clear')
  @HttpCode(200)
  @ApiOperation({ summary: 'lift the block that a failed undo leaves on its fabric' })
  async clear(@Param('id') id: string, @Body() body: unknown) {
    const { reason } = parseBody(reasonBody, body);
    return runView(await this.runs.clear(id, reason));
  }

  @Get(':id/scorecard')
  @ApiOperation({ summary: 'the three scores with their raw figures, verdict and truth' })
  @ApiResponse({ status: 200, description: 'the scorecard' })
  @ApiResponse({ status: 409, description: 'the run has not ended' })
  scorecard(@Param('id') id: string): Promise<Scorecard> {
    return this.withDiagnoses(id);
  }

  @Get(':id/verdict')
  @ApiOperation({ summary: 'the sealed diagnosis' })
  @ApiResponse({ status: 200, description: 'the verdict' })
  @ApiResponse({ status: 409, description: 'not sealed yet' })
  verdict(@Param('id') id: string) {
    return this.runs.verdict(id);
  }

  @Get(':id/evidence')
  @Header('Cache-Control', 'private, max-age=31536000, immutable')
  @ApiOperation({ summary: 'what was observed, as an Apache Arrow IPC file' })
  @ApiProduces(EVIDENCE_MEDIA_TYPE)
  @ApiQuery({ name: 'compression', required: false, enum: ['zstd', 'none'] })
  async evidence(
    @Param('id') id: string,
    @Query() query: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ) {
    const { compression } = parseQuery(evidenceQuery, query);
    const stored = await this.runs.evidence(id);
    const plain = compression === 'none';
    response.setHeader('Content-Type', EVIDENCE_MEDIA_TYPE);
    response.setHeader('Content-Disposition', `attachment; filename="${id}.arrow"`);
    response.setHeader('ETag', `"${stored.sha256}${plain ? '-plain' : ''}"`);
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    if (!plain) response.setHeader('Content-Length', stored.bytes);
    const body = plain ? withoutCompression(stored) : stored.parts();
    // a reader that goes away ends the reading from the database; a reading that fails cuts the file short
    await pipeline(body, response).catch((error: unknown) =>
      this.logger.warn(`the evidence of run ${id} was not sent to its end: ${(error as Error).message}`),
    );
  }

  @Get(':id/evidence/live')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'what was observed so far of a run with a pace, as an Apache Arrow IPC file' })
  @ApiProduces(EVIDENCE_MEDIA_TYPE)
  @ApiResponse({
    status: 200,
    description: 'Evidence-Until says up to where, seconds from the start of the run',
  })
  @ApiResponse({ status: 409, description: 'it has no pace, has just begun, or has ended' })
  async live(@Param('id') id: string, @Res() response: Response) {
    const { untilNs, bytes } = await this.runs.liveEvidence(id);
    response.setHeader('Content-Type', EVIDENCE_MEDIA_TYPE);
    response.setHeader('Evidence-Until', String(untilNs / 1e9)).send(bytes);
  }

  @Get(':id/report')
  @ApiOperation({ summary: 'the scorecard as text, json, markdown or junit' })
  @ApiQuery({ name: 'format', required: false, enum: REPORT_FORMATS.map((format) => format.name) })
  async report(@Param('id') id: string, @Query() query: Record<string, unknown>, @Res() response: Response) {
    const { format } = parseQuery(reportQuery, query);
    const report = reportFormat(format, '/format');
    const scorecard = await this.withDiagnoses(id);
    response.setHeader('Content-Type', `${report.mediaType}; charset=utf-8`);
    response.send(report.render(scorecard, {}));
  }

  /** The stored scorecard is never changed; what others say of the run goes beside it. */
  private async withDiagnoses(id: string): Promise<Scorecard> {
    const scorecard = await this.runs.scorecard(id);
    const entries = (await this.diagnoses.ofRun(id)).flatMap((row) => scorecardEntry(row) ?? []);
    return entries.length === 0 ? scorecard : { ...scorecard, diagnoses: entries };
  }
}

async function* withoutCompression({ parts }: StoredEvidence): AsyncGenerator<Uint8Array> {
  const file = await EvidenceFile.from(parts());
  try {
    const { evidence, fabric } = await decodeEvidenceFile(file.handle);
    for await (const part of encodedParts(evidence, false, fabric)) yield* part.bytes;
  } finally {
    await file.close();
  }
}
