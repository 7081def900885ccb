import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { InputError } from '../../../core/problem.js';
import { decodeCursor, encodeCursor, nextLink, pageQuery, parseQuery } from './page.js';

const schema = z.strictObject({ ...pageQuery, state: z.enum(['passed', 'failed']).optional() });

describe('pages of a list', () => {
  it('give back the cursor they gave out', () => {
    const cursor = { createdAt: '2026-01-02T03:04:05.678Z', id: 'a/b?c' };
    expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
  });

  it.each(['', 'x', 'bnVsbA', Buffer.from('["never","x"]').toString('base64url')])(
    'refuse the cursor %j',
    (text) => {
      expect(() => decodeCursor(text)).toThrow(InputError);
    },
  );

  it('refuse an unknown filter and name the nearest', () => {
    expect(() => parseQuery(schema, { stat: 'passed' })).toThrow(
      /unknown query parameter "stat".*did you mean "state"/,
    );
    expect(() => parseQuery(schema, { state: 'pased' })).toThrow(InputError);
    expect(() => parseQuery(schema, { limit: '0' })).toThrow(InputError);
  });

  it('link to the next page with the same filters', () => {
    const query = parseQuery(schema, { state: 'failed', limit: '2' });
    const link = nextLink('/v1/runs', query, { createdAt: '2026-01-02T03:04:05.678Z', id: 'r' });
    expect(link).toMatch(/^<\/v1\/runs\?limit=2&state=failed&cursor=[\w-]+>; rel="next"$/);
  });
});
