/** What every kind in the catalogue must be: named apart, documented with metrics that exist, with an example that is valid. */
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { METRICS } from '../model/telemetry/catalog.js';
import { FAULT_KINDS, faultKind, faultKindNames } from './catalog.js';
import { refusalOf } from './testing/compile.js';

const known = new Set<string>(METRICS.map(({ name }) => name));

it('has each name once, and refuses others with the nearest', () => {
  const names = faultKindNames();
  expect(new Set(names).size).toBe(names.length);
  const issue = refusalOf(() => faultKind('incats', '/spec/faults/0/kind'));
  expect(issue).toMatchObject({
    pointer: '/spec/faults/0/kind',
    hint: expect.stringContaining('incast'),
  });
});

describe.each(FAULT_KINDS.map((kind) => [kind.name, kind] as const))('%s', (name, kind) => {
  it('has symptoms of catalogue metrics, each with a citation, for every variant', () => {
    const variants = Object.entries(kind.allSymptoms());
    expect(variants.length).toBeGreaterThan(0);
    for (const [, symptoms] of variants) {
      expect(symptoms.length).toBeGreaterThan(0);
      for (const { text, metrics, citation } of symptoms) {
        expect(text).not.toBe('');
        expect(citation).not.toBe('');
        expect(metrics.filter((metric) => !known.has(metric))).toEqual([]);
      }
    }
  });

  it('has limits, and an example whose parameters it accepts and whose target it acts on', () => {
    expect(kind.limits.length).toBeGreaterThan(0);
    const [example] = parse(kind.example) as { kind: string; params?: object; target?: { type: string } }[];
    expect(example.kind).toBe(name);
    const parameters = kind.parameters.parse(example.params);
    expect(kind.symptoms(parameters as never).length).toBeGreaterThan(0);
    if (kind.withoutTarget) expect(example.target).toBeUndefined();
    else expect(kind.targetTypes(parameters as never)).toContain(example.target?.type);
  });
});
