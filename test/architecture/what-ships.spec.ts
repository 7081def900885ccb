/**
 * Nothing ships in src which only tests and benches use: what no program of ours reaches belongs to them.
 *
 * Reached is what an entry point imports, directly or through others, types and dynamic imports included, and what is
 * started as a program by its path (`programPath`, or a URL beside the file).
 */
import { describe, expect, test } from '@jest/globals';
import { dirname, join } from 'node:path';
import { filesBelow, readSource, ships } from '../support/source-tree.js';

const ENTRY_POINTS = ['src/main.ts', 'src/worker.ts', 'src/cli.ts'];

/** Files that nothing reaches yet, and why they stay. A line goes as soon as its file is reached, or the reason is gone. */
const EXCEPTIONS: Record<string, string> = Object.fromEntries(
  ['congestion-run', 'endpoints', 'fluid-links', 'parcels', 'routes', 'shared-buffers'].map((file) => [
    `src/simulator/fluid/${file}.ts`,
    'the fluid model is what drills will use for congestion transients, instead of a jump to the steady state',
  ]),
);

const IMPORTED = /(?:from|import)\s*\(?\s*'([.][^']*)'/g;
const STARTED = /(?:programPath\('|new URL\('[.]\/)([^'.]+)(?:[.]js)?', import[.]meta[.]url\)/g;

/** Files that a file names. */
function namedBy(file: string, text: string): string[] {
  const beside = (path: string): string => join(dirname(file), path);
  const imported = [...text.matchAll(IMPORTED)].map(([, path]) => beside(path.replace(/[.]js$/, '.ts')));
  return [...imported, ...[...text.matchAll(STARTED)].map(([, name]) => beside(`${name}.ts`))];
}

/** What the entry points reach, themselves included. */
function reachedFrom(entries: readonly string[], read: (file: string) => string | undefined): Set<string> {
  const reached = new Set<string>();
  const left = [...entries];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    const text = reached.has(file) ? undefined : read(file);
    if (text === undefined) continue;
    reached.add(file);
    left.push(...namedBy(file, text));
  }
  return reached;
}

describe('reachability', () => {
  const files: Record<string, string> = {
    'src/a.ts': "import { b } from './b.js';\nimport type { T } from './types/t.js';",
    'src/b.ts': "const c = await import('./c.js'); fork(programPath('program', import.meta.url));",
    'src/types/t.ts': "export { u } from '../u.js';",
    'src/c.ts': "import './effect.js'; new Worker(new URL('./side.js', import.meta.url));",
  };
  const read = (file: string): string => files[file] ?? '';

  test('goes by imports of values, types and effects, by exports, dynamic imports and programs', () => {
    expect([...reachedFrom(['src/a.ts'], read)].sort()).toEqual([
      ...['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/effect.ts', 'src/program.ts'],
      ...['src/side.ts', 'src/types/t.ts', 'src/u.ts'],
    ]);
  });
});

describe('what ships', () => {
  const shipped = filesBelow('src').filter((file) => /[.]ts$/.test(file) && ships(file));
  const known = new Set(shipped);
  const reached = reachedFrom(ENTRY_POINTS, (file) => (known.has(file) ? readSource(file) : undefined));

  test('is used by a program, or stands on a short list with its reason', () => {
    const unused = shipped.filter((file) => !reached.has(file));
    expect(unused.filter((file) => EXCEPTIONS[file] === undefined)).toEqual([]);
  });

  test('is not on that list any longer than it has to be', () => {
    expect(Object.keys(EXCEPTIONS).filter((file) => !known.has(file) || reached.has(file))).toEqual([]);
  });
});
