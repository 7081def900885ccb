import { describe, expect, it } from '@jest/globals';
import { mutantsOf } from './operators.js';

/** The changed texts, in the order of the source. */
const changed = (source: string) =>
  mutantsOf('some.ts', source).map(
    ({ start, end, text }) => source.slice(0, start) + text + source.slice(end),
  );

describe('mutants of a source file', () => {
  it.each([
    ['a < b;', ['a <= b;']],
    ['a === b;', ['a !== b;']],
    ['a ?? b;', ['a && b;']],
    ['a += b;', ['a -= b;']],
    ['!a;', ['(a);']],
    ['a(1_000);', [';', 'a(1001);']],
    ['const a = true;', ['const a = false;']],
    ['if (a) b;', ['if (true) b;', 'if (false) b;']],
    ['a ? b : c;', ['true ? b : c;', 'false ? b : c;']],
    ['const a = [b];', ['const a = [];']],
    ['const a = Math.min;', ['const a = Math.max;']],
    ['const a = b.some(c);', ['const a = b.every(c);']],
  ])('%s', (source, mutants) => {
    expect(changed(source)).toEqual(mutants);
  });

  it.each([
    ['a type', 'type A = 1 | true; interface B { c: 2 } const d: -1 = e;'],
    ['an import', "import { a } from 'b';"],
    ['a text', "const a = 'b';"],
    ['what is assigned to', '[a, b] = c;'],
    ['a call of the base class', 'class A extends B { constructor() { super(); } }'],
    ['an empty list', 'const a = [];'],
  ])('leave alone %s', (_, source) => {
    expect(changed(source)).toEqual([]);
  });

  it('are told with the line of what they change, from 1', () => {
    expect(mutantsOf('some.ts', 'a;\n  b > c;\n')).toEqual([
      { start: 7, end: 8, line: 2, operator: '> to >=', text: '>=' },
    ]);
  });
});
