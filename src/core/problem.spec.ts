import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  EnvironmentError,
  formatIssue,
  InputError,
  pointerToken,
  toPointer,
  withPointer,
} from './problem.js';

/** A document in which every key of a path leads on, whatever the key is. */
function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>(
    (inner, key) => Object.defineProperty({}, key, { value: inner, enumerable: true }),
    value,
  );
}

/** Resolves a JSON pointer by the words of RFC 6901 section 4. */
function resolve(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((inner, key) => (inner as Record<string, unknown>)[key], document);
}

describe('a JSON pointer', () => {
  it('finds its way back to the value, whatever the keys are', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 6 }), (path) => {
        const mark = Symbol('mark');
        expect(resolve(nested(path, mark), toPointer(path))).toBe(mark);
      }),
    );
  });

  it('is the examples of RFC 6901', () => {
    expect(toPointer([])).toBe('');
    expect(toPointer([''])).toBe('/');
    expect(toPointer(['a/b'])).toBe('/a~1b');
    expect(toPointer(['m~n'])).toBe('/m~0n');
    expect(toPointer(['spec', 'faults', 0])).toBe('/spec/faults/0');
    expect(pointerToken('~1')).toBe('~01');
  });
});

describe('an issue as text', () => {
  const issue = { pointer: '/spec/seed', message: 'must be whole' };

  it.each([
    [issue, '/spec/seed: must be whole'],
    [{ ...issue, pointer: '' }, 'must be whole'],
    [{ ...issue, file: 'a.yaml' }, 'a.yaml /spec/seed: must be whole'],
    [{ ...issue, file: 'a.yaml', line: 7 }, 'a.yaml:7 /spec/seed: must be whole'],
    [{ ...issue, file: 'a.yaml', line: 7, column: 3 }, 'a.yaml:7:3 /spec/seed: must be whole'],
    [{ ...issue, line: 7, column: 3 }, 'line 7:3 /spec/seed: must be whole'],
    [{ ...issue, hint: 'write 7' }, '/spec/seed: must be whole (write 7)'],
  ])('of %j is %j', (given, text) => {
    expect(formatIssue(given)).toBe(text);
  });
});

describe('an input error', () => {
  it('reads as all of its issues, one a line', () => {
    const error = new InputError([
      { pointer: '/a', message: 'x' },
      { pointer: '/b', message: 'y' },
    ]);
    expect(error.message).toBe('/a: x\n/b: y');
    expect(InputError.at('/a', 'x').issues).toEqual([{ pointer: '/a', message: 'x' }]);
    expect(InputError.at('/a', 'x', 'h').issues).toEqual([{ pointer: '/a', message: 'x', hint: 'h' }]);
  });

  it('from a part of a document points into the whole, other errors pass unchanged', () => {
    const inner = (): never => {
      throw new InputError([{ pointer: '/kind', message: 'x', hint: 'h', line: 3 }]);
    };
    expect(() => withPointer('/spec', inner)).toThrow(
      expect.objectContaining({ issues: [{ pointer: '/spec/kind', message: 'x', hint: 'h', line: 3 }] }),
    );
    const other = new EnvironmentError('no database', 'set DATABASE_URL');
    expect(() =>
      withPointer('/spec', () => {
        throw other;
      }),
    ).toThrow(other);
    expect(withPointer('/spec', () => 7)).toBe(7);
  });

  it('writes control characters out, so that a file can not steer a terminal', () => {
    const line = formatIssue({ pointer: '/spec', message: '\u001b[31mred\u001b[2J', file: 'a\nb.yaml' });
    expect(line).toContain('\\u001b[31mred\\u001b[2J');
    expect(line).not.toContain('\u001b');
  });
});
