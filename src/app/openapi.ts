/**
 * The OpenAPI document, made from the controllers and from the schemas that validate: `/openapi.json` and `/docs`.
 *
 * OpenAPI 3.1, whose schemas are JSON Schema 2020-12, so that the published file schemas fit in as they are.
 */
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { PUBLISHED_SCHEMAS } from './experiments/schemas.controller.js';
import { runOptionsSchema } from './experiments/experiments.controller.js';
import { importSchema } from './fabrics/fabrics.controller.js';
import { gateRequestSchema } from './gates/gate-request.js';
import {
  gameDayCommitSchema,
  gameDayContinueSchema,
  gameDayNoteSchema,
} from './game-days/game-days.controller.js';
import { inputJsonSchema } from '../core/schema-issues.js';
import { diagnoseSchema } from './runs/diagnose.controller.js';
import { verdictSchema } from './runs/diagnoses/verdict-body.js';
import { completeOperations } from './openapi-operations.js';
import { VERSION } from '../system/version.js';

export function openApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('fabricdrill')
    .setDescription(
      'Fault drills for RoCE AI-training fabrics. Errors are application/problem+json (RFC 9457).',
    )
    .setVersion(VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth()
    .build();
  const document = SwaggerModule.createDocument(app, builder);
  const schemas = {
    ...PUBLISHED_SCHEMAS,
    RunOptions: runOptionsSchema,
    FabricImport: importSchema,
    Diagnose: diagnoseSchema,
    Gate: gateRequestSchema,
    Verdict: verdictSchema,
    GameDayNote: gameDayNoteSchema,
    GameDayCommit: gameDayCommitSchema,
    GameDayContinue: gameDayContinueSchema,
  };
  const published = Object.entries(schemas).map(([name, schema]): [string, Record<string, unknown>] => [
    name,
    withoutDialect(inputJsonSchema(schema)),
  ]);
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...Object.fromEntries(published) },
  };
  completeOperations(document);
  return document;
}

/** Inside OpenAPI 3.1 the dialect is implied. */
function withoutDialect(schema: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
}

export function describeApi(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app), { jsonDocumentUrl: '/openapi.json' });
}
