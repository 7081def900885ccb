/**
 * Request bodies: JSON, or YAML as a user wrote it, checked against a schema.
 */
import { z } from 'zod';
import { InputError } from '../../../core/problem.js';
import { describeIssues } from '../../../core/schema-issues.js';
import { refuseDeepNesting } from './nesting.js';

/** @throws InputError with a pointer per mistake; an absent or empty body counts as not given */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const given = isAbsent(body) ? undefined : body;
  refuseDeepNesting(given);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  // of an empty body it is said what it should hold
  const empty = given === undefined ? schema.safeParse({}) : parsed;
  const [error, value] = empty.success ? [parsed.error, given] : [empty.error, given ?? {}];
  throw new InputError(describeIssues(error, schema, value));
}

/** A body that may say why, or be left out. */
export const optionalReason = (otherwise: string) =>
  z.strictObject({ reason: z.string().min(1).max(1000).default(otherwise) }).prefault({});

const isAbsent = (body: unknown): boolean =>
  body === undefined ||
  body === null ||
  body === '' ||
  (typeof body === 'object' && !Array.isArray(body) && Object.keys(body).length === 0);
