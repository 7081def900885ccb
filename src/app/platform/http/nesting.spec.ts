/** Bodies that are nested too deeply are the sender's mistake, not ours. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { InputError } from '../../../core/problem.js';
import { parseBody } from './body.js';
import { definitionText } from './definition-body.js';

const nested = (levels: number): unknown => JSON.parse(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
/** What a schema of ours that calls itself does. */
const anyTree: z.ZodType = z.lazy(() => z.union([z.array(anyTree), z.record(z.string(), anyTree)]));

describe('a body', () => {
  test.each([100, 20_000, 1_000_000])('of %i levels below its root is refused as input', (levels) => {
    expect(() => definitionText(nested(levels))).toThrow(InputError);
    expect(() => definitionText(nested(levels))).toThrow(/nested more than 100 levels deep/);
    expect(() => parseBody(anyTree, nested(levels))).toThrow(/nested more than 100 levels deep/);
  });

  test('of 99 levels below its root is taken', () => {
    expect(JSON.parse(definitionText(nested(99)))).toEqual(nested(99));
    expect(parseBody(anyTree, nested(99))).toEqual(nested(99));
  });
});
