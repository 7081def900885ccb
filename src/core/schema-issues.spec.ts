import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import type { InputIssue } from './problem.js';
import { describeIssues, inputJsonSchema, type IssuePlace } from './schema-issues.js';

const schema = z.strictObject({
  name: z.string(),
  seed: z.int().min(0).optional(),
  mode: z.enum(['one', 'all']).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  faults: z
    .array(
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('cut'), link: z.string() }),
        z.strictObject({ kind: z.literal('incast'), senders: z.int(), spread: z.number().optional() }),
      ]),
    )
    .optional(),
  topology: z
    .union([
      z.strictObject({ builder: z.literal('leaf-spine'), leaves: z.int(), spines: z.int() }),
      z.strictObject({ builder: z.literal('fat-tree'), ports: z.int() }),
    ])
    .optional(),
});

const issuesOf = (value: unknown, place?: IssuePlace): InputIssue[] => {
  const { error } = schema.safeParse(value);
  return error === undefined ? [] : describeIssues(error, schema, value, place);
};

describe('an unknown key', () => {
  it('is pointed at, with the known ones and the nearest', () => {
    expect(issuesOf({ name: 'x', sead: 1 })).toEqual([
      {
        pointer: '/sead',
        message: 'unknown key "sead"; known here: name, seed, mode, labels, faults, topology',
        hint: 'did you mean "seed"?',
      },
    ]);
  });

  it('deep in a union is compared with the keys of the alternative that is meant', () => {
    expect(issuesOf({ name: 'x', faults: [{ kind: 'incast', senders: 3, spraed: 1 }] })).toEqual([
      {
        pointer: '/faults/0/spraed',
        message: 'unknown key "spraed"; known here: kind, senders, spread',
        hint: 'did you mean "spread"?',
      },
    ]);
    expect(
      issuesOf({ name: 'x', topology: { builder: 'leaf-spine', leaves: 2, spines: 2, spinse: 2 } }),
    ).toEqual([
      expect.objectContaining({
        pointer: '/topology/spinse',
        message: expect.stringContaining('builder, leaves, spines'),
      }),
    ]);
  });

  it('is found whatever it is called, and its pointer leads to it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (key) => {
        fc.pre(!Object.hasOwn(schema.shape, key) && key !== '__proto__');
        const [issue] = issuesOf({ name: 'x', [key]: 1 });
        expect(issue.pointer).toBe(`/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
      }),
    );
  });
});

describe('a value', () => {
  it('outside of the choices gets all of them and the nearest', () => {
    expect(issuesOf({ name: 'x', mode: 'al' })).toEqual([
      {
        pointer: '/mode',
        message: '"al" is not allowed; it must be one of one, all',
        hint: 'did you mean "all"?',
      },
    ]);
  });

  it('of no known kind gets the kinds', () => {
    expect(issuesOf({ name: 'x', faults: [{ kind: 'cutt', link: 'a' }] })).toEqual([
      expect.objectContaining({
        pointer: '/faults/0/kind',
        message: expect.stringMatching(/cut, incast/),
        hint: 'did you mean "cut"?',
      }),
    ]);
  });

  it('that is missing is told from one of the wrong type, and a long one is shortened', () => {
    expect(issuesOf({})).toEqual([{ pointer: '/name', message: '"name" is missing; it must be a string' }]);
    expect(issuesOf({ name: 7 })).toEqual([{ pointer: '/name', message: 'expected a string, found 7' }]);
    const [long] = issuesOf({ name: ['y'.repeat(500)] });
    expect(long.message.length).toBeLessThan(120);
  });

  it('out of bounds keeps the reason', () => {
    expect(issuesOf({ name: 'x', seed: -1 })).toEqual([
      { pointer: '/seed', message: '-1 is not allowed; it must be at least 0' },
    ]);
    const bounds = z.strictObject({
      text: z.string().min(1),
      list: z.array(z.int()).max(1),
      share: z.number().gt(0),
      own: z.array(z.int(), { error: 'name one' }),
    });
    const given = { text: '', list: [1, 2], share: 0 };
    const { error } = bounds.safeParse(given);
    expect(describeIssues(error!, bounds, given).map(({ message }) => message)).toEqual([
      'the text must not be empty',
      'at most 1 entry is allowed',
      '0 is not allowed; it must be more than 0',
      'name one',
    ]);
  });
});

describe('the place of an issue', () => {
  it('carries file and line of the key for unknown keys, of the value otherwise', () => {
    const asked: [unknown, boolean | undefined][] = [];
    const place: IssuePlace = {
      prefix: ['spec'],
      file: 'a.yaml',
      document: {
        locate: (path, onKey) => {
          asked.push([path, onKey]);
          return { line: asked.length, column: 1 };
        },
      },
    };
    const issues = issuesOf({ name: 7, sead: 1 }, place);
    expect(issues).toEqual([
      expect.objectContaining({ pointer: '/spec/name', file: 'a.yaml', line: 1 }),
      expect.objectContaining({ pointer: '/spec/sead', file: 'a.yaml', line: 2 }),
    ]);
    expect(asked).toEqual([
      [['spec', 'name'], false],
      [['spec', 'sead'], true],
    ]);
  });

  it('is told for every one of many mistakes at once', () => {
    expect(
      issuesOf({ seed: -1, mode: 'x', faults: [{ kind: 'cut' }] }).map(({ pointer }) => pointer),
    ).toEqual(['/name', '/seed', '/mode', '/faults/0/link']);
  });
});

describe('the published schema', () => {
  it('is JSON Schema 2020-12 of what a user may write', () => {
    expect(inputJsonSchema(schema)).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      required: ['name'],
      additionalProperties: false,
    });
  });
});
