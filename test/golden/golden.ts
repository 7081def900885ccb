/**
 * Compares with what an earlier version answered, or records anew what this one answers.
 *
 * Golden files are those of commit 5e5372a until somebody changes one on purpose: then the commit that records it anew says
 * why. What later versions only add to an object need not be recorded; it stands in `ADDED`, each with its reason.
 */
import { expect } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format } from 'prettier';
import { ADDED } from './added.js';

const RECORDED = join(import.meta.dirname, 'recorded');

/** Whether golden files are written instead of compared with: `FABRICDRILL_GOLDEN=record`. */
export const RECORDING = process.env.FABRICDRILL_GOLDEN === 'record';

export const recordedFile = (name: string): string => join(RECORDED, name);

export function readGolden<T>(name: string): T {
  return JSON.parse(readFileSync(recordedFile(name), 'utf8')) as T;
}

/** @param name of a JSON file among the recorded ones */
export async function expectGolden(name: string, actual: unknown): Promise<void> {
  // as it would be read back: what is undefined is not there
  const value: unknown = JSON.parse(JSON.stringify(actual));
  if (RECORDING) return write(name, await format(JSON.stringify(value), { parser: 'json', printWidth: 110 }));
  const golden = readGolden<unknown>(name);
  expect(withoutAdded(value, golden, name)).toEqual(golden);
}

/** The same for a text. */
export async function expectGoldenText(name: string, actual: string): Promise<void> {
  if (RECORDING) write(name, actual);
  else expect(actual).toBe(readFileSync(recordedFile(name), 'utf8'));
}

function write(name: string, text: string): void {
  const file = recordedFile(name);
  mkdirSync(dirname(file), { recursive: true });
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

/** Leaves out keys that the golden object lacks and that are listed as added there. */
export function withoutAdded(value: unknown, golden: unknown, path: string): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      withoutAdded(item, Array.isArray(golden) ? golden[index] : undefined, `${path}/${index}`),
    );
  }
  if (typeof value !== 'object' || value === null) return value;
  const known = (typeof golden === 'object' && golden !== null ? golden : {}) as Record<string, unknown>;
  const kept = Object.entries(value).filter(
    ([key]) => key in known || !ADDED.some(({ where }) => where.test(`${path}/${key}`)),
  );
  return Object.fromEntries(
    kept.map(([key, item]) => [key, withoutAdded(item, known[key], `${path}/${key}`)]),
  );
}
