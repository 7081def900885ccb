/**
 * The text of a JSON body as it was sent, kept beside what was parsed from it: a mistake in it has a line and a column
 * there, and a person who wrote the file looks for it in that file.
 */
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

const RAW = Symbol('the body as it was sent');

type WithRaw = IncomingMessage & { [RAW]?: string };

/** For `express.json({ verify })`. */
export function keepRawJson(request: IncomingMessage, _response: unknown, bytes: Buffer): void {
  (request as WithRaw)[RAW] = bytes.toString('utf8');
}

/** Middleware behind the JSON parser. */
export function attachRawJson(request: Request, _response: Response, next: NextFunction): void {
  const raw = (request as unknown as WithRaw)[RAW];
  const body: unknown = request.body;
  if (raw !== undefined && typeof body === 'object' && body !== null) {
    Object.defineProperty(body, RAW, { value: raw, enumerable: false });
  }
  next();
}

/**
 * The text that a body was parsed from, lines and columns as sent.
 *
 * JSON is YAML, but for tabs, which YAML takes for indentation where JSON takes them for blanks.
 */
export const rawJsonOf = (body: unknown): string | undefined =>
  typeof body === 'object' && body !== null
    ? (body as { [RAW]?: string })[RAW]?.replaceAll('\t', ' ')
    : undefined;
