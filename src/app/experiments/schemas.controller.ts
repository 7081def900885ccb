/** `/schemas/{kind}.json`: JSON Schema 2020-12 of the files, for editors and pipelines. Made from what validates. */
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { z } from 'zod';
import { inputJsonSchema } from '../../core/schema-issues.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { NotFoundError } from '../../system/errors.js';
import { experimentSchema } from '../../documents/experiment.js';
import { fabricDocumentSchema } from '../../documents/fabric-document.js';
import { gameDaySchema } from '../../documents/game-day.js';
import { scheduleSchema } from '../../documents/schedule.js';
import { suiteSchema } from '../../documents/suite.js';

export const PUBLISHED_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  Experiment: experimentSchema,
  Fabric: fabricDocumentSchema,
  Suite: suiteSchema,
  Schedule: scheduleSchema,
  GameDay: gameDaySchema,
};

@ApiTags('schemas')
@Controller('schemas')
export class SchemasController {
  @Get(':file')
  @ApiOperation({ summary: 'JSON Schema of a kind of file, such as Experiment.json' })
  show(@Param('file') file: string) {
    const kinds = Object.keys(PUBLISHED_SCHEMAS);
    const kind = kinds.find((name) => `${name}.json` === file);
    if (kind === undefined) {
      throw new NotFoundError(
        `there is no schema "${file}"; there are ${listChoices(kinds.map((name) => `${name}.json`))}`,
        nearestHint(file, kinds),
      );
    }
    return inputJsonSchema(PUBLISHED_SCHEMAS[kind]);
  }
}
