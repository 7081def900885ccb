/**
 * jest runs every spec there is. A `testRegex` that misses a folder or a suffix skips it in silence, so the list is
 * compared with the files on disk, under any spelling that people take for a test.
 */
import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join, relative, sep } from 'node:path';
import { CHECKOUT, filesBelow, SOURCE_FOLDERS } from '../support/source-tree.js';

const LOOKS_LIKE_A_TEST = /\.(e2e-)?(spec|test)\.[cm]?[jt]sx?$/;

function listedByJest(): string[] {
  const program = join(CHECKOUT, 'node_modules/jest/bin/jest.js');
  const output = execFileSync(process.execPath, [program, '--listTests', '--json'], {
    cwd: CHECKOUT,
    encoding: 'utf8',
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
});
