/**
 * The package as a user gets it: what `npm pack` holds, and a drill from a folder that holds nothing but the tarball.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT, readSource } from '../support/source-tree.js';

interface Packed {
  filename: string;
  files: { path: string }[];
}

let place: string;
let packed: Packed;

function npm(args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

beforeAll(() => {
  if (!existsSync(join(CHECKOUT, 'dist/src/cli.js')))
    throw new Error('dist/src/cli.js is missing: run npm run build');
  place = mkdtempSync(join(tmpdir(), 'fabricdrill-install-'));
  // `npm ci` has built already
  const output = npm(['pack', '--ignore-scripts', '--json', '--pack-destination', place], CHECKOUT);
  const parsed = JSON.parse(output) as Packed[] | Record<string, Packed>;
  [packed] = Object.values(parsed);
}, 120_000);

afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('the package', () => {
  it('holds what a user runs, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const run =
      /^(dist\/(src|bench|migrations)\/.*\.js|experiments\/.*\.(yaml|txt)|test\/accuracy\/cases\/[\w.-]+|(README|CHANGELOG)\.md|LICENSE|package\.json)$/;
    expect(paths.filter((path) => !run.test(path) || /\.(e2e-)?spec\./.test(path))).toEqual([]);
    for (const entry of [
      'dist/src/cli.js',
      'dist/src/main.js',
      'dist/src/worker.js',
      'dist/bench/explain.js',
    ])
      expect(paths).toContain(entry);
  });

  it('runs a drill where it is installed into an empty folder', () => {
    const user = join(place, 'user');
    mkdirSync(user);
    writeFileSync(join(user, 'package.json'), '{ "private": true }\n');
    npm(['install', '--no-audit', '--no-fund', '--prefer-offline', join(place, packed.filename)], user);
    const drill = spawnSync(
      join(user, 'node_modules/.bin/fabricdrill'),
      ['run', 'node_modules/fabricdrill/experiments/link-down.yaml', '--output', 'json=card.json'],
      {
        cwd: user,
        encoding: 'utf8',
        env: { PATH: process.env.PATH, HOME: user, FABRICDRILL_HOME: join(place, 'home') },
      },
    );
    expect({ status: drill.status, stderr: drill.status === 0 ? '' : drill.stderr }).toEqual({
      status: 0,
      stderr: '',
    });
    const { run } = JSON.parse(readFileSync(join(user, 'card.json'), 'utf8')) as {
      run: { state: string; version: string };
    };
    const { version } = JSON.parse(readSource('package.json')) as { version: string };
    expect(run).toMatchObject({ state: 'passed', version });
  }, 300_000);
});
