import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { InputError } from '../core/problem.js';
import { parseDocuments } from './document.js';

const TEXT = `# a comment
name: link-down
spec:
  faults:
    - kind: link-down
      at: 20s
    - { kind: none, at: 5s }
`;

const issueOf = (text: string, file?: string): InputError['issues'][number] => {
  try {
    parseDocuments(text, file);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as InputError).issues[0];
  }
  throw new Error('nothing was wrong');
};

describe('a YAML text', () => {
  it('knows the line and column of every value and key', () => {
    const [document] = parseDocuments(TEXT);
    expect(document.locate(['name'])).toEqual({ line: 2, column: 7 });
    expect(document.locate(['name'], true)).toEqual({ line: 2, column: 1 });
    expect(document.locate(['spec', 'faults', 0, 'at'])).toEqual({ line: 6, column: 11 });
    expect(document.locate(['spec', 'faults', 1, 'at'], true)).toEqual({ line: 7, column: 21 });
  });

  it('gives the nearest parent of what is not there', () => {
    const [document] = parseDocuments(TEXT);
    expect(document.locate(['spec', 'faults', 1, 'duration']).line).toBe(7);
    expect(document.locate(['nothing', 'at', 'all']).line).toBe(2);
    expect(document.locate(['spec', 'faults', 9]).line).toBe(5);
  });

  it('may hold several documents, each with its own lines; empty ones are left out', () => {
    const documents = parseDocuments('---\na: 1\n---\n# nothing\n---\nb: 2\n');
    expect(documents.map(({ value, ordinal }) => [value, ordinal])).toEqual([
      [{ a: 1 }, 0],
      [{ b: 2 }, 2],
    ]);
    expect(documents[1].locate(['b']).line).toBe(6);
  });

  it('comes back as the JSON it was made of, as JSON too', () => {
    const value = fc.dictionary(
      fc.string(),
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string())),
      { minKeys: 1, noNullPrototype: true },
    );
    fc.assert(
      fc.property(value, (given) => {
        fc.pre(!Object.hasOwn(given, '__proto__'));
        expect(parseDocuments(stringify(given))[0].value).toEqual(given);
        expect(parseDocuments(JSON.stringify(given, null, 2))[0].value).toEqual(given);
      }),
    );
  });

  it.each([
    ['a quote without an end', 'a: "x\n'],
    ['a tab for indentation', 'a:\n\tb: 1\n'],
    ['a key twice', 'a: 1\na: 2\n'],
    ['brackets that do not match', 'a: [1, 2\nb: 3\n'],
  ])('with %s is refused with file, line and column', (_, text) => {
    expect(issueOf(text, 'bad.yaml')).toMatchObject({
      pointer: '',
      message: expect.stringMatching(/^this is no valid YAML: |is written twice/),
      file: 'bad.yaml',
      line: expect.any(Number),
      column: expect.any(Number),
    });
  });

  it('that is empty is refused with a way on', () => {
    for (const text of ['', '\n\n', '# only a comment\n', '---\n---\n']) {
      expect(issueOf(text, 'empty.yaml')).toMatchObject({ file: 'empty.yaml', hint: expect.any(String) });
    }
  });

  it('whose aliases multiply is refused before it fills the memory', () => {
    const levels = Array.from({ length: 9 }, (_, level) =>
      level === 0
        ? 'a0: &a0 [x, x, x, x, x, x, x, x, x]'
        : `a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(', ')}]`,
    );
    expect(issueOf(levels.join('\n'), 'bomb.yaml').message).toMatch(/alias/i);
  });

  it('that is too large is refused unread', () => {
    expect(issueOf('x'.repeat(16 * 1024 * 1024 + 1)).message).toMatch(/larger than/);
  });

  it('reads anything or refuses it in words, never otherwise', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          parseDocuments(text);
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
    );
  });
});
