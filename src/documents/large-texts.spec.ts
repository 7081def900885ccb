/**
 * Texts that are large in one way or another are read, or refused before anything is made of them. Neither may take time
 * that grows with the square of the text: at these sizes that would be minutes, and end these tests.
 */
import { describe, expect, it } from '@jest/globals';
import { InputError } from '../core/problem.js';
import { parseDocuments } from './document.js';
import { refuseFiles } from './fabric-document.js';
import { loadDefinitions, loadExperiment } from './load.js';

const issuesOf = (step: () => unknown): InputError['issues'] => {
  try {
    step();
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as InputError).issues;
  }
  throw new Error('nothing was wrong');
};
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const flow = (count: number, entry: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => entry(index)).join(', ');
const keys = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, index]));

describe('a text', () => {
  it.each([
    [
      'a mapping of 80 000 keys',
      lines(80_000, (at) => `key-${at}: 1`),
      2001,
      /a mapping has more than 2000 keys/,
    ],
    ['the same as JSON', JSON.stringify(keys(80_000)), 1, /a mapping has more than 2000 keys/],
    ['80 000 documents', lines(80_000, () => '---\na: 1'), 2001, /more than 1000 documents/],
    ['lists in lists, opened', '['.repeat(80_000), 1, /nested more than 100 levels deep/],
    [
      'lists in lists, closed',
      '['.repeat(80_000) + ']'.repeat(80_000),
      1,
      /nested more than 100 levels deep/,
    ],
    ['mappings in mappings', '{a: '.repeat(80_000), 1, /nested more than 100 levels deep/],
    ['entries in entries', '- '.repeat(80_000) + 'x', 1, /nested more than 100 levels deep/],
    ['keys in keys', '? '.repeat(80_000) + 'x', 1, /nested more than 100 levels deep/],
    [
      'more marks than any fabric',
      `[${'1,'.repeat(1_100_000)}1]`,
      1,
      /more than 2000000 keys, values and marks/,
    ],
  ])('with %s is refused where it goes too far', (_, text, line, message) => {
    const [issue, ...others] = issuesOf(() => parseDocuments(text, 'large.yaml'));
    expect(others).toEqual([]);
    expect(issue.message).toMatch(message);
    expect(issue).toMatchObject({ file: 'large.yaml', line });
  });

  it.each([
    ['100 levels', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['2000 keys', lines(2000, (at) => `key-${at}: 1`)],
    ['1000 documents', lines(1000, () => '---\na: 1')],
    ['20 000 entries', lines(20_000, (at) => `- ${at}`)],
    ['20 000 anchors, each with an alias', lines(20_000, (at) => `- &a${at} x\n- *a${at}`)],
    ['one anchor and 20 000 aliases', `- &a x\n${lines(20_000, () => '- *a')}`],
    ['a word of 8 MB', `a: ${'x'.repeat(8e6)}`],
    ['a word of 80 000 lines', `a:\n${lines(80_000, () => '  word')}`],
    ['80 000 escapes', `a: "${'\\u0041'.repeat(80_000)}"`],
    ['20 000 comments', `${lines(20_000, () => '# word')}\na: 1`],
  ])('with %s is read', (_, text) => {
    expect(parseDocuments(text).length).toBeGreaterThan(0);
  });

  it('with aliases of aliases is refused, however few lines it has', () => {
    const deeper = lines(200, (at) => `- &a${at} ${at === 0 ? 'x' : `[*a${at - 1}]`}`);
    const wider = lines(40, (at) => `- &a${at} ${at === 0 ? 'x' : `[*a${at - 1}, *a${at - 1}]`}`);
    const large = `- &a [${flow(80_000, String)}]\n${lines(20, () => '- *a')}`;
    for (const text of [deeper, wider, large]) {
      const issues = issuesOf(() => parseDocuments(text));
      expect(issues).toHaveLength(1);
      expect(issues[0].message).toMatch(/^aliases in this YAML can't be expanded/);
    }
  });

  it('whose alias means itself or nothing is refused at its line', () => {
    expect(issuesOf(() => parseDocuments('a: 1\nb: &b [*b]\n'))).toMatchObject([
      { line: 2, message: 'the alias *b has no anchor &b before it' },
    ]);
    expect(issuesOf(() => parseDocuments('a: *b\n'))).toMatchObject([{ line: 1 }]);
  });

  it('with thousands of mistakes tells the first hundred, and that there are more', () => {
    for (const text of [
      lines(2000, () => 'same: 1'),
      `[${'}'.repeat(8000)}`,
      lines(1000, () => '---\nkind: Nothing'),
    ]) {
      const issues = issuesOf(() => loadDefinitions(text, refuseFiles, 'wrong.yaml'));
      expect(issues).toHaveLength(101);
      expect(issues[100]).toMatchObject({
        file: 'wrong.yaml',
        message: expect.stringMatching(/^and more mistakes/),
      });
    }
  });

  it('with unknown keys by the thousand tells each with its line and what was meant, up to a hundred', () => {
    const text = `apiVersion: fabricdrill/v1
kind: Experiment
metadata: { name: many }
spec:
  fabric: some
  faults: [{ kind: none, at: 1s, duration: 1s }]
${lines(1900, (at) => `  descriptio${at}: x`)}
`;
    const issues = issuesOf(() => loadDefinitions(text, refuseFiles));
    expect(issues).toHaveLength(101);
    expect(issues[0]).toMatchObject({ line: 7, hint: 'did you mean "description"?' });
    expect(issues[99]).toMatchObject({ line: 106 });
  });
});

describe('a plain value', () => {
  const experiment = (spec: object): unknown => ({
    apiVersion: 'fabricdrill/v1',
    kind: 'Experiment',
    metadata: { name: 'many' },
    spec: { fabric: 'some', faults: [{ kind: 'none', at: '1s', duration: '1s' }], ...spec },
  });

  it.each([
    ['unknown keys', experiment(keys(80_000))],
    ['wrong entries', experiment({ objectives: Array.from({ length: 80_000 }, () => 1) })],
    [
      'wrong entries in one of two alternatives',
      experiment({
        jobs: [{ name: 'a', hosts: Array.from({ length: 150_000 }, () => 1), step: { compute: '1s' } }],
      }),
    ],
    ['an unknown key of 8 MB', experiment({ ['x'.repeat(8e6)]: 1 })],
  ])('with 80 000 %s is refused in a hundred sentences at most', (_, value) => {
    const issues = issuesOf(() => loadExperiment(value, refuseFiles));
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.length).toBeLessThanOrEqual(101);
  });
});
