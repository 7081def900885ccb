/**
 * The import fences hold, and each of them bites.
 *
 * The checker has a known way to fail open (it reads no module, finds nothing and exits 0), so it must have read every source
 * file, and in a copy of the sources with planted violations each plant must be reported. What it reports of any other file
 * is a real violation. Source: dependency-cruiser run as a program, with the configuration that `npm run fences` uses.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLANTS } from './plants.js';

const CHECKOUT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const FOLDERS = ['src', 'migrations', 'bench', 'test'];

interface CruiseResult {
  modules: { source: string }[];
  summary: { totalCruised: number; violations: { from: string; to: string; rule: { name: string } }[] };
}

/** Cruises the four folders below `place` with the configuration in it. */
function cruise(place: string): CruiseResult {
  const program = join(CHECKOUT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const folders = FOLDERS.filter((folder) => existsSync(join(place, folder)));
  const output = execFileSync(
    process.execPath,
    [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...folders],
    { cwd: place, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024, env: { ...process.env, NODE_OPTIONS: '' } },
  );
  return JSON.parse(output) as CruiseResult;
}

const sourceFiles = (place: string): string[] =>
  FOLDERS.filter((folder) => existsSync(join(place, folder))).flatMap((folder) =>
    readdirSync(join(place, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
      .map((file) => `${folder}/${file}`),
  );

const inWords = ({ rule, from, to }: CruiseResult['summary']['violations'][number]): string =>
  `${rule.name}: ${from} → ${to}`;

describe('import fences', () => {
  let place: string;
  let planted: CruiseResult;

  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), 'fabricdrill-fences-'));
    const settings = ['package.json', 'tsconfig.json', '.dependency-cruiser.cjs', 'docs/rooms.cjs'];
    for (const name of [...FOLDERS, ...settings]) {
      if (existsSync(join(CHECKOUT, name)))
        cpSync(join(CHECKOUT, name), join(place, name), { recursive: true });
    }
    symlinkSync(join(CHECKOUT, 'node_modules'), join(place, 'node_modules'));
    for (const { sources } of PLANTS) {
      for (const [file, source] of Object.entries(sources)) {
        mkdirSync(dirname(join(place, file)), { recursive: true });
        appendFileSync(join(place, file), source);
      }
    }
    planted = cruise(place);
  }, 300_000);

  afterAll(() => rmSync(place, { recursive: true, force: true }));

  test('no arrow between rooms is broken', () => {
    const own = new Set(PLANTS.flatMap(({ sources }) => Object.keys(sources)));
    const others = planted.summary.violations.filter((violation) => !own.has(violation.from));
    expect(others.map(inWords)).toEqual([]);
  });

  test('every source file is seen', () => {
    const seen = new Set(planted.modules.map(({ source }) => source));
    const files = sourceFiles(place);
    expect(files.filter((file) => !seen.has(file))).toEqual([]);
    expect(files.length).toBeGreaterThan(200);
    expect(planted.summary.totalCruised).toBeGreaterThan(150);
  });

  test('every rule has a planted violation', () => {
    const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
      forbidden: { name: string; comment?: string }[];
    };
    const bitten = new Set(PLANTS.map(({ rule }) => rule));
    expect(forbidden.map(({ name }) => name).filter((name) => !bitten.has(name))).toEqual([]);
    expect(forbidden.filter(({ comment }) => !comment).map(({ name }) => name)).toEqual([]);
  });

  test.each(PLANTS.map((plant) => [plant.rule, plant.file] as const))('%s catches %s', (rule, file) => {
    const caught = planted.summary.violations.filter((violation) => violation.from === file);
    expect(caught.map((violation) => violation.rule.name)).toContain(rule);
  });
});
