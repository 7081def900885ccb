/** `POST /v1/diagnose`: the question without a drill, on recorded or live telemetry. Injects and stores nothing. */
import { Body, Controller, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import type { Verdict } from '../../diagnosis/verdict.js';
import { durationNs } from '../../core/units.js';
import { parseBody } from '../platform/http/body.js';
import { ARROW_TYPES, JSON_TYPES } from '../platform/http/media-types.js';
import { parseQuery } from '../platform/http/page.js';
import { confirmation } from '../fabrics/confirmation.js';
import { DiagnoseService } from './diagnose.service.js';

/** What is observed grows with the length of the window. */
const LONGEST_WINDOW_NS = 2 * 3600e9;

const instant = durationNs.refine((ns) => ns <= LONGEST_WINDOW_NS, 'a window ends at 2h at the latest');
const window = {
  from: instant.optional().describe('start of the window on the fabric’s clock; default: its start'),
  to: instant.optional().describe('end of the window; needed for a fabric that is watched'),
};

/** What is to be looked at: a stored run, or a fabric for a while. */
export const diagnoseSchema = z
  .strictObject({
    run: z.string().min(1).max(100).optional().describe('id of a run whose stored evidence is looked at'),
    fabric: z
      .union([z.string().min(1).max(63), z.record(z.string(), z.unknown())])
      .optional()
      .describe(
        'name of a stored fabric, or a Fabric document: it is watched, or with `run` describes the evidence',
      ),
    ...window,
    seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(1).describe('of a simulated fabric'),
    confirm: confirmation,
  })
  .prefault({});

const evidenceQuery = z.strictObject({ ...window, fabric: z.string().min(1).max(63).optional() });

@ApiTags('diagnosis')
@Controller('v1/diagnose')
export class DiagnoseController {
  constructor(private readonly diagnosing: DiagnoseService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'why is this fabric not at full speed? A verdict from telemetry; nothing is injected or stored',
  })
  @ApiConsumes(JSON_TYPES[0], ...ARROW_TYPES)
  @ApiBody({
    description: 'what to look at as JSON, or an evidence file (then with the parameters)',
    schema: { $ref: '#/components/schemas/Diagnose' },
  })
  @ApiQuery({
    name: 'fabric',
    required: false,
    description: 'with an evidence file: name of a stored fabric',
  })
  @ApiQuery({ name: 'from', required: false, description: 'with an evidence file, as 20s' })
  @ApiQuery({ name: 'to', required: false, description: 'with an evidence file, as 40s' })
  @ApiResponse({ status: 200, description: 'the verdict' })
  @ApiResponse({ status: 400, description: 'problem+json: what can not be looked at, and why' })
  @ApiResponse({
    status: 409,
    description: '`confirmation-required`: jobs would be started on a real fabric',
  })
  diagnose(@Body() body: unknown, @Query() query: Record<string, unknown>): Promise<Verdict> {
    if (Buffer.isBuffer(body)) {
      const { fabric, from, to } = parseQuery(evidenceQuery, query);
      return this.diagnosing.ofFile(body, fabric, { fromNs: from, toNs: to });
    }
    parseQuery(z.strictObject({}), query);
    const { run, fabric, from, to, seed, confirm } = parseBody(diagnoseSchema, body);
    const asked = { fromNs: from, toNs: to };
    return run === undefined
      ? this.diagnosing.ofFabric(fabric, seed, asked, confirm)
      : this.diagnosing.ofRun(run, fabric, asked);
  }
}
