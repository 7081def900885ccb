/**
 * Lists over REST: `{ data: [...] }`, an opaque cursor, and `Link: rel="next"`.
 *
 * The cursor is the place of the last row in a total order (creation time, then id), so rows that come or go between
 * two pages neither repeat nor hide others. Unknown query parameters are refused: a misspelt filter would otherwise
 * list everything.
 */
import { z } from 'zod';
import { InputError } from '../../../core/problem.js';
import { listChoices, nearestHint } from '../../../core/nearest.js';
import { describeIssues } from '../../../core/schema-issues.js';
import { isUuid } from '../../../system/uuid.js';

export interface Cursor {
  createdAt: string;
  id: string;
}

/** PostgreSQL has no year 0. */
const hasYear = (text: string): boolean => !text.startsWith('0000');
const time = z.iso.datetime().refine(hasYear);
const INSTANT = 'write a time with its offset, as in 2026-11-30T01:00:00Z';
/** A time in a query, as in `?since=`. */
export const instantQuery = z.iso.datetime({ offset: true, error: INSTANT }).refine(hasYear, INSTANT);
const cursorSchema = z.tuple([time, z.string().min(1).max(200)]);

export const encodeCursor = (cursor: Cursor): string =>
  Buffer.from(JSON.stringify([cursor.createdAt, cursor.id])).toString('base64url');

/** @throws InputError for a text that no list gave out */
export function decodeCursor(text: string): Cursor {
  try {
    const [createdAt, id] = cursorSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    return { createdAt, id };
  } catch {
    throw foreignCursor();
  }
}

/** A cursor of a list whose ids are UUIDs. */
export function decodeUuidCursor(text: string): Cursor {
  const cursor = decodeCursor(text);
  if (isUuid(cursor.id)) return cursor;
  throw foreignCursor();
}

const foreignCursor = (): InputError =>
  InputError.at(
    '/cursor',
    'this cursor was not given out by a list',
    'follow the Link header, or leave cursor out',
  );

export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('rows a page'),
  cursor: z.string().max(1000).optional().describe('opaque; from the Link header'),
};

/** Parses a query string's parameters; every unknown one is an error that names the known ones. */
export function parseQuery<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  query: Record<string, unknown>,
): z.output<z.ZodObject<Shape>> {
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(query).filter((key) => !known.includes(key));
  if (unknown.length > 0) {
    throw new InputError(
      unknown.map((key) => ({
        pointer: `/${key}`,
        message: `unknown query parameter "${key}"; known here: ${listChoices(known)}`,
        ...(nearestHint(key, known) === undefined ? {} : { hint: nearestHint(key, known) }),
      })),
    );
  }
  const parsed = schema.safeParse(query);
  if (parsed.success) return parsed.data;
  throw new InputError(describeIssues(parsed.error, schema, query));
}

/** Rows of a list that was asked for one row more than a page has, and where they came from. */
export interface Listed<Row> {
  path: string;
  query: Record<string, string | number | undefined>;
  rows: readonly Row[];
  limit: number;
  place: (row: Row) => Cursor;
}

/** The rows of the page; sets the Link header where more follow. */
export function pageOf<Row>(
  response: { setHeader(name: string, value: string): unknown },
  { path, query, rows, limit, place }: Listed<Row>,
): Row[] {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  if (rows.length > limit && last !== undefined) {
    response.setHeader('Link', nextLink(path, { limit, ...query }, place(last)));
  }
  return page;
}

/** The place of a row in a list by a time, then by id. */
export const placeOf = (time: Date, id: string): Cursor => ({ createdAt: time.toISOString(), id });

/** Value of the Link header for the next page. */
export function nextLink(
  path: string,
  query: Record<string, string | number | undefined>,
  cursor: Cursor,
): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (key !== 'cursor' && value !== undefined) parameters.set(key, String(value));
  }
  parameters.set('cursor', encodeCursor(cursor));
  return `<${path}?${parameters.toString()}>; rel="next"`;
}
