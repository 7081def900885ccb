/**
 * jest runs every spec there is. A `testRegex` that misses a folder or a suffix skips it in silence, so the list is
 * compared with the files on disk, under any spelling that people take for a test.
 */
import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join, relative, sep } from 'node:path';
import { CHECKOUT, filesBelow, SOURCE_FOLDERS } from '../support/source-tree.js';
import { LATER } from '../suites.js';

const LOOKS_LIKE_A_TEST = /\.(e2e-)?(spec|test)\.[cm]?[jt]sx?$/;

/** What is never put off: a case from end to end of each thing that the product does. */
const ALWAYS = ['cli', 'runs', 'gates', 'schedules', 'game-days', 'crash'].map(
  (name) => `test/e2e/${name}.e2e-spec.ts`,
);

/** @param suite as in FABRICDRILL_SUITE; every spec when left out */
function listedByJest(suite?: string): string[] {
  const program = join(CHECKOUT, 'node_modules/jest/bin/jest.js');
  const output = execFileSync(process.execPath, [program, '--listTests', '--json'], {
    cwd: CHECKOUT,
    encoding: 'utf8',
    env: { ...process.env, FABRICDRILL_SUITE: suite },
  });
  return (JSON.parse(output) as string[]).map((file) => relative(CHECKOUT, file).split(sep).join('/'));
}

describe('jest', () => {
  test.each(['a.spec.ts', 'a.e2e-spec.ts', 'a.test.tsx', 'a.spec.mjs'])('%s looks like a test', (name) => {
    expect(LOOKS_LIKE_A_TEST.test(name)).toBe(true);
  });

  test('lists every spec file on disk, and nothing else', () => {
    const onDisk = SOURCE_FOLDERS.flatMap((folder) => filesBelow(folder)).filter((file) =>
      LOOKS_LIKE_A_TEST.test(file),
    );
    expect(onDisk).toContain('test/architecture/jest-lists-every-spec.spec.ts');
    expect(listedByJest().sort()).toEqual(onDisk.sort());
  }, 60_000);

  test('has every spec in one suite: that of minutes, what comes later, or labs', () => {
    const [minutes, all, labs] = ['minutes', 'all', 'every-lab'].map((suite) => listedByJest(suite));
    const later = LATER.map(({ file }) => file);
    expect([...minutes, ...later, ...labs].sort()).toEqual(listedByJest().sort());
    expect([...minutes, ...later].sort()).toEqual(all.sort());
    expect(minutes).toEqual(expect.arrayContaining(ALWAYS));
    for (const { seconds, reason } of LATER) expect([seconds > 0, reason.length > 10]).toEqual([true, true]);
    expect(labs).toEqual(labs.filter((file) => file.startsWith('test/e2e/linux-lab')));
  }, 60_000);
});
