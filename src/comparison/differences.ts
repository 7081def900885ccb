/**
 * What two fabrics differ in, in words: how many of what, and which settings.
 *
 * For the reader of a verdict, who wants to see that the change is the one that was meant and nothing else. Keys are
 * compared as parsed, so that another order, a default that was written out or another unit is no difference.
 */
import type { z } from 'zod';
import { schemaOfKey } from '../core/schema-walk.js';
import { quantityWriter } from '../core/units.js';
import type { Topology } from '../model/topology/model.js';

const LINES_MAX = 20;

/** `spines: 4 → 5`, one line each; empty for equal fabrics. */
export function countDifferences(baseline: Topology, candidate: Topology): string[] {
  const [before, after] = [countsOf(baseline), countsOf(candidate)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((what) => {
    const [from, to] = [before.get(what) ?? 0, after.get(what) ?? 0];
    return from === to ? [] : [`${what}: ${from} → ${to}`];
  });
}

function countsOf(topology: Topology): Map<string, number> {
  const counts = new Map<string, number>([
    ['GPUs', topology.gpus.length],
    ['NICs', topology.nics.length],
  ]);
  const add = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  for (const { tier } of topology.devices) add(`devices of tier ${tier}`);
  for (const { tier } of topology.links) add(`links ${tier}`);
  return counts;
}

/**
 * Keys whose values differ, `settings.bfdInterval: 300ms → 1s`.
 * @param schema of both, for the units of their numbers
 */
export function specDifferences(baseline: unknown, candidate: unknown, schema?: z.core.$ZodType): string[] {
  const lines: string[] = [];
  compare(baseline, candidate, { path: '', schema }, lines);
  const left = lines.length - LINES_MAX;
  return left <= 1 ? lines : [...lines.slice(0, LINES_MAX), `and ${left} more keys`];
}

interface Place {
  path: string;
  schema: z.core.$ZodType | undefined;
}

function compare(before: unknown, after: unknown, { path, schema }: Place, lines: string[]): void {
  if (isTree(before) && isTree(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    for (const key of keys) {
      const holder = key in after ? after : before;
      const inner = { path: path === '' ? key : `${path}.${key}`, schema: schemaOfKey(schema, key, holder) };
      compare(before[key], after[key], inner, lines);
    }
  } else if (!Object.is(before, after))
    lines.push(`${path}: ${shown(before, schema)} → ${shown(after, schema)}`);
}

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

function shown(value: unknown, schema: z.core.$ZodType | undefined): string {
  if (value === undefined) return '(nothing)';
  const write = schema === undefined ? undefined : quantityWriter(schema);
  if (write !== undefined && typeof value === 'number') return write(value);
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
