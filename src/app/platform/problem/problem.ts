/**
 * Problem details for HTTP (RFC 9457): what every error of the API looks like.
 *
 * `errors[]` carries a JSON pointer, a message and, where known, the line in the YAML that was sent and a hint. What is
 * our own bug gets status 500 and an id to find it in the log, and nothing of its message or stack.
 */
import { HttpException } from '@nestjs/common';
import { STATUS_CODES } from 'node:http';
import { EnvironmentError, InputError, type InputIssue } from '../../../core/problem.js';
import { databaseLoss } from './database-loss.js';
import { ConflictError, ForbiddenError, NotFoundError, type RequestError } from '../../../system/errors.js';

export const PROBLEM_TYPE = 'application/problem+json';

export interface Problem {
  /** `about:blank`: the status says it all (RFC 9457 section 4.2.1). */
  type: string;
  title: string;
  status: number;
  detail: string;
  /** The request's path, or the id of a log entry for status 500. */
  instance: string;
  /** What to do next. */
  hint?: string;
  /** A name that programs go by, where there is one, and what it is about. */
  code?: string;
  params?: Readonly<Record<string, string>>;
  errors?: InputIssue[];
}

/** @param incident id under which an unexpected error is logged */
export function toProblem(error: unknown, path: string, incident: string): Problem {
  if (error instanceof InputError) {
    const count = error.issues.length;
    const detail = count === 1 ? error.issues[0].message : `${count} things are wrong with the input`;
    return { ...problem(400, detail, path), errors: [...error.issues] };
  }
  if (error instanceof NotFoundError) return coded(404, error, path);
  if (error instanceof ForbiddenError) return coded(403, error, path);
  if (error instanceof ConflictError) return coded(409, error, path);
  if (error instanceof EnvironmentError) return problem(503, error.message, path, error.hint);
  if (error instanceof HttpException) return fromHttpException(error, path);
  if (hasNulCharacter(error))
    return problem(400, 'a text has a NUL character, which can not be stored', path);
  const refused = refusedByParser(error);
  if (refused !== undefined) return problem(refused.status, refused.message, path);
  const lost = databaseLoss(error);
  if (lost !== undefined) return problem(503, lost.message, path, lost.hint);
  const detail = `an unexpected error; the log has it under the id ${incident}`;
  return { ...problem(500, detail, path), instance: `urn:uuid:${incident}` };
}

function coded(status: number, { message, hint, code, params }: RequestError, path: string): Problem {
  return {
    ...problem(status, message, path, hint),
    ...(code === undefined ? {} : { code }),
    ...(params === undefined ? {} : { params }),
  };
}

function problem(status: number, detail: string, instance: string, hint?: string): Problem {
  const title = STATUS_CODES[status] ?? 'Error';
  return { type: 'about:blank', title, status, detail, instance, ...(hint === undefined ? {} : { hint }) };
}

/** The framework's own: unknown route, failed validation, refused by a guard. */
function fromHttpException(error: HttpException, path: string): Problem {
  const status = error.getStatus();
  const answer = error.getResponse();
  const messages = typeof answer === 'object' && 'message' in answer ? answer.message : undefined;
  if (!Array.isArray(messages)) return problem(status, error.message, path);
  const errors = messages.map((message) => ({ pointer: '', message: String(message) }));
  return { ...problem(status, errors.map((one) => one.message).join('; '), path), errors };
}

/** PostgreSQL knows no text with U+0000 in it; whatever brought one here was a caller's input. */
const hasNulCharacter = (error: unknown): boolean =>
  error instanceof Error &&
  (error as { code?: unknown }).code === '22021' &&
  error.name === 'QueryFailedError';

/** Body parsers throw errors that carry a status and say with `expose` that the caller may see them. */
function refusedByParser(error: unknown): { status: number; message: string } | undefined {
  if (!(error instanceof Error) || !('status' in error) || !('expose' in error)) return undefined;
  const { status, expose, message } = error;
  if (typeof status !== 'number' || status < 400 || status > 499 || expose !== true) return undefined;
  return { status, message };
}
