/**
 * What two fabrics differ in, in words: how many of what, and which settings.
 *
 * For the reader of a verdict, who wants to see that the change is the one that was meant and nothing else. Keys are
 * compared as parsed, so that another order, a default that was written out or another unit is no difference.
 */
import type { Topology } from '../topology/model.js';

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
 * Keys whose values differ, `settings.bfd: true → false`.
 * @param quantities shows a number of a path with its unit, where it has one
 */
export function specDifferences(baseline: unknown, candidate: unknown): string[] {
  const lines: string[] = [];
  compare(baseline, candidate, '', lines);
  const left = lines.length - LINES_MAX;
  return left <= 1 ? lines : [...lines.slice(0, LINES_MAX), `and ${left} more keys`];
}

function compare(before: unknown, after: unknown, path: string, lines: string[]): void {
  if (isTree(before) && isTree(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    for (const key of keys) {
      const inner = path === '' ? key : `${path}.${key}`;
      compare(before[key], after[key], inner, lines);
    }
  } else if (!Object.is(before, after)) lines.push(`${path}: ${shown(before)} → ${shown(after)}`);
}

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

function shown(value: unknown): string {
  if (value === undefined) return '(nothing)';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
