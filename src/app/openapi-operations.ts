/**
 * What the framework leaves out of the OpenAPI document: what an operation answers and in which media type, how it fails,
 * and what its parameters mean. Filled in for every operation alike, so that a new route has it from the start.
 *
 * Not modelled: the members of an answer beyond `data` of a list; they are shown in docs/rest.md.
 */
import type { OpenAPIObject } from '@nestjs/swagger';
import { PROBLEM_TYPE } from './platform/problem/problem.js';
import { DOCUMENT_FORMATS, GATE_FORMATS, REPORT_FORMATS } from '../reports/catalog.js';
import { EVIDENCE_MEDIA_TYPE } from '../evidence/arrow.js';

type PathItem = OpenAPIObject['paths'][string];
type Operation = NonNullable<PathItem['get']>;
type Parameter = Extract<NonNullable<Operation['parameters']>[number], { in: string }>;
type Response = Extract<Operation['responses'][string], { description: string }>;
type Content = NonNullable<Response['content']>;

const METHODS = ['get', 'put', 'post', 'delete'] as const;

const PARAMETERS: Record<string, Partial<Parameter>> = {
  id: { description: 'id, as lists show it; of a schedule its name, too' },
  name: { description: 'by this name' },
  kind: { description: 'name of a fault kind' },
  file: { description: 'kind of file and `.json`, such as `Experiment.json`' },
  run: { description: 'id of a run' },
  diagnosis: { description: 'id of a diagnosis of this run' },
  cursor: { description: 'where the page begins; from `Link: rel="next"` of the page before' },
  limit: { description: 'rows a page', schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 } },
  state: { description: 'only those in this state' },
  fabric: { description: 'only those on the fabric of this name' },
  experiment: { description: 'only those of the experiment of this name' },
  suite: { description: 'only those of the suite of this name' },
  baseline: { description: 'only those with this baseline' },
  candidate: { description: 'only those with this candidate' },
  suspended: { description: 'only those that are suspended, or are not' },
  outcome: { description: 'only ticks that became this' },
  reason: { description: 'only skips for this reason' },
  matched: { description: 'only those that belong to a run, or to none' },
  source: { description: 'only those that came this way' },
  format: { description: 'of the report' },
  compression: { description: 'of the record batches' },
  replace: { description: 'replace other content of this name' },
};

const PROBLEM: Content = { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } };

const text = (types: readonly string[]): Content =>
  Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
const json = (schema: object = { type: 'object' }): Content => ({ 'application/json': { schema } });
const LIST = {
  type: 'object',
  required: ['data'],
  properties: { data: { type: 'array', items: { type: 'object' } } },
};

/** Lists without pages; those with a cursor are seen by it. */
const SHORT_LISTS = new Set(['/v1/faults', '/v1/runs/{id}/diagnoses', '/v1/game-days/{id}/notes']);

const reportTypes = (formats: readonly { mediaType: string }[]): string[] =>
  [...new Set(formats.map(({ mediaType }) => mediaType))].filter((type) => type !== 'application/json');

/** What is not, or not only, JSON. */
const CONTENTS: Record<string, Content> = {
  '/v1/runs/{id}/events': text(['text/event-stream']),
  '/v1/runs/{id}/evidence': { [EVIDENCE_MEDIA_TYPE]: {} },
  '/v1/runs/{id}/evidence/live': { [EVIDENCE_MEDIA_TYPE]: {} },
  '/v1/runs/{id}/report': { ...json(), ...text(reportTypes(REPORT_FORMATS)) },
  '/v1/gates/{id}': { ...json(), ...text(reportTypes(GATE_FORMATS)) },
  '/v1/game-days/{id}/report': { ...json(), ...text(reportTypes(DOCUMENT_FORMATS)) },
};

const PROBLEM_SCHEMA = {
  type: 'object',
  description: 'problem details (RFC 9457)',
  required: ['type', 'title', 'status', 'detail', 'instance'],
  properties: {
    type: { type: 'string', description: '`about:blank`: the status says it all' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'what is wrong' },
    instance: {
      type: 'string',
      description: 'the path that was asked for; of a bug of ours the id of its log entry',
    },
    hint: { type: 'string', description: 'what to do next' },
    code: {
      type: 'string',
      description: 'a name that programs go by, where there is one, such as `confirmation-required`',
    },
    params: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'what the code is about, such as the `fabric` that was not confirmed',
    },
    errors: {
      type: 'array',
      description: 'one entry a mistake',
      items: {
        type: 'object',
        required: ['pointer', 'message'],
        properties: {
          pointer: {
            type: 'string',
            description: 'JSON pointer into what was sent, or the name of a parameter',
          },
          message: { type: 'string' },
          line: { type: 'integer', description: 'in the YAML as it was sent' },
          column: { type: 'integer' },
          hint: { type: 'string' },
        },
      },
    },
  },
} as const;

/** Completes the operations of a document in place. */
export function completeOperations(document: OpenAPIObject): void {
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, Problem: PROBLEM_SCHEMA as object },
    responses: {
      ...document.components?.responses,
      Problem: { description: 'anything else: what is wrong, where, and what to do next', content: PROBLEM },
    },
  };
  // a server has a token, or is reached from its own machine alone
  document.security = [{ bearer: [] }, {}];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation !== undefined) complete(path, operation);
    }
  }
}

function complete(path: string, operation: Operation): void {
  const parameters = (operation.parameters ?? []) as Parameter[];
  operation.parameters = parameters.map(described);
  const responses = operation.responses as Record<string, Response>;
  const isPaged = parameters.some(({ name }) => name === 'cursor');
  for (const [status, response] of Object.entries(responses)) {
    if (Number(status) >= 400) response.content ??= PROBLEM;
    else succeed(path, status, response, operation.summary ?? '', isPaged);
  }
  operation.responses = { ...responses, default: { $ref: '#/components/responses/Problem' } };
}

function succeed(path: string, status: string, response: Response, summary: string, isPaged: boolean): void {
  response.description ||= summary;
  if (status === '204') return;
  const isList = (isPaged || SHORT_LISTS.has(path)) && status === '200';
  response.content ??= CONTENTS[path] ?? json(isList ? LIST : undefined);
  const link = { description: 'rel="next": the next page, where there is one', schema: { type: 'string' } };
  if (isPaged) response.headers = { ...response.headers, Link: link };
}

function described(parameter: Parameter): Parameter {
  const { schema, description } = PARAMETERS[parameter.name] ?? {};
  const stated = parameter.schema !== undefined && Object.keys(parameter.schema).length > 0;
  return {
    ...parameter,
    description: parameter.description ?? description,
    schema: schema ?? (stated ? parameter.schema : { type: 'string' }),
  };
}
