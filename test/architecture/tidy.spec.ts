/**
 * House rules that no compiler checks: purity beyond imports, sizes, leftovers, catalogues, and what must not ship.
 *
 * Each rule that looks for something is first shown an example that it must find, since a search that finds nothing
 * passes in silence.
 */
import { describe, expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import { basename, dirname, posix } from 'node:path';
import { filesBelow, readSource, ships, SOURCE_FOLDERS, typescriptFiles } from '../support/source-tree.js';
import { disabledTests, type Finding, importedModules, impureConstructs } from './constructs.js';

const LINES_MAX = 400;
const FILES_MAX = 25;
/** A folder with one file a kind may have more. */
const KINDS_MAX = 40;
const KINDS = ['src/faults', 'src/diagnosis/hypotheses'];

const { ROOMS } = createRequire(import.meta.url)('../../docs/rooms.cjs') as {
  ROOMS: { room: string; pure?: true; reach: string[] }[];
};
const pureRooms = ROOMS.flatMap(({ room, pure }) => (pure === true ? [`src/${room}/`] : []));
// the paced simulation is a process that keeps to the wall clock: that is all it adds to the simulated fabric
const isPure = (file: string): boolean =>
  pureRooms.some((room) => file.startsWith(room)) || /^src\/drivers\/simulated\/(?!paced\/)/.test(file);

// Put together here, so that this file does not contain what it looks for.
const LEFTOVER = new RegExp(`\\b(${['FIX' + 'ME', 'TO' + 'DO', 'X' + 'XX', 'HA' + 'CK'].join('|')})\\b`);
const WORKPLACE = new RegExp(['/wo' + 'rk/', '\\.\\./sha' + 'red', '/wo' + 'rk\\b(?![-a-z])'].join('|'));

const files = typescriptFiles();
const product = files.filter(ships);

const inWords = (file: string, findings: Finding[]): string[] =>
  findings.map(({ line, construct }) => `${file}:${line} ${construct}`);

/** `file:line` of every line that matches. */
function linesMatching(file: string, pattern: RegExp): string[] {
  return readSource(file)
    .split('\n')
    .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : []));
}

describe('pure rooms', () => {
  const pureFiles = product.filter(isPure);

  test.each([
    ['Date.now', 'const t = Date.now();'],
    ['Math.random', 'const draw = Math.random;'],
    ['new Date()', 'const t = new Date();'],
    ['Date()', 'const t = Date();'],
    ['setTimeout', 'setTimeout(() => 1, 5);'],
    ['process', 'const home = process.env.HOME;'],
    ['performance', 'const t = performance.now();'],
    ['crypto', 'const id = crypto.randomUUID();'],
    ['console', 'console.log(1);'],
    ['fetch', 'const tools = { fetch };'],
    ['globalThis', "const clock = globalThis['Date'];"],
    ['localeCompare', 'names.sort((a, b) => a.localeCompare(b));'],
    ['Intl', 'new Intl.NumberFormat();'],
  ])('%s would be found', (construct, source) => {
    expect(impureConstructs(source).map((finding) => finding.construct)).toEqual([construct]);
  });

  test.each([
    ['a comment', '// Date.now and process'],
    ['a string', "const text = 'Math.random()';"],
    ['a given instant', 'const t = new Date(0);'],
    ['a member of that name', 'const p = run.process; const q = { process: 1 };'],
    ['a declaration of that name', 'function process(step: number) { return step; }'],
  ])('%s is no finding', (_, source) => {
    expect(impureConstructs(source)).toEqual([]);
  });

  test('know no clock, no entropy, no environment and no locale', () => {
    expect(pureFiles.length).toBeGreaterThan(20);
    expect(pureFiles.flatMap((file) => inWords(file, impureConstructs(readSource(file))))).toEqual([]);
  });

  test('the timing of schedules reads no clock; of its surroundings it asks for the rules of time zones alone', () => {
    const timing = product.filter((file) => file.startsWith('src/model/calendar/'));
    expect(timing.length).toBeGreaterThan(3);
    const found = timing.flatMap((file) =>
      impureConstructs(readSource(file)).map(({ construct }) => `${basename(file)} ${construct}`),
    );
    expect([...new Set(found)].sort()).toEqual(['zone-names.ts Intl', 'zone.ts Intl']);
  });
});

describe('rooms', () => {
  const below = (room: string): string[] => product.filter((file) => file.startsWith(`src/${room}/`));

  test('each room of the table is there, and each file lies in one', () => {
    expect(ROOMS.filter(({ room }) => below(room).length === 0)).toEqual([]);
    const wires = /^src\/(main|worker|cli|app\/[a-z-]+(\.module)?)\.ts$/;
    const homeless = product.filter(
      (file) => file.startsWith('src/') && !ROOMS.some(({ room }) => file.startsWith(`src/${room}/`)),
    );
    expect(homeless.filter((file) => !wires.test(file))).toEqual([]);
  });

  test('what a room may reach is there', () => {
    const present = (path: string): boolean =>
      path.endsWith('/')
        ? product.some((file) => file.startsWith(`src/${path}`))
        : product.includes(`src/${path}`);
    expect(
      ROOMS.flatMap(({ room, reach }) => reach.map((path) => `${room}: ${path}`)).filter(
        (line) => !present(line.split(': ')[1]),
      ),
    ).toEqual([]);
  });

  test('the compiler project for pure code holds the pure rooms', () => {
    const { include } = JSON.parse(readSource('tsconfig.pure.json')) as { include: string[] };
    const covered = pureRooms.map((room) => include.find((folder) => room.startsWith(`${folder}/`)));
    expect(covered).not.toContain(undefined);
    expect(include.filter((folder) => !covered.includes(folder))).toEqual([]);
  });

  test(`no folder has more than ${FILES_MAX} files, one of kinds no more than ${KINDS_MAX}`, () => {
    const counts = new Map<string, number>();
    for (const file of product.filter((one) => one.startsWith('src/'))) {
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    const full = [...counts].filter(
      ([folder, count]) => count > (KINDS.includes(folder) ? KINDS_MAX : FILES_MAX),
    );
    expect(full).toEqual([]);
  });
});

describe('sizes and heads', () => {
  test(`no file has more than ${LINES_MAX} lines`, () => {
    const lines = (file: string): number => readSource(file).split('\n').length - 1;
    const long = files.filter((file) => lines(file) > LINES_MAX);
    expect(long.map((file) => `${file}: ${lines(file)} lines`)).toEqual([]);
  });

  test('every product file opens with a comment that says what it is', () => {
    const bare = product.filter((file) => !/^(#!.*\n)?\/\*\*/.test(readSource(file)));
    expect(bare).toEqual([]);
  });
});

describe('leftovers', () => {
  test.each([
    ['it.only', "it.only('a', () => {});"],
    ['describe.skip', "describe.skip('a', () => {});"],
    ['test.skip', "test.skip.each([1])('a', () => {});"],
    ['test.todo', "test.todo('a');"],
    ['xit', "xit('a', () => {});"],
  ])('%s would be found', (construct, source) => {
    expect(disabledTests(source).map((finding) => finding.construct)).toContain(construct);
  });

  test('a suite that waits for a program is no finding', () => {
    expect(disabledTests("const suite = found ? describe : describe.skip; suite('a', () => {});")).toEqual(
      [],
    );
  });

  test('no test is switched off or runs alone', () => {
    const tests = files.filter((file) => !ships(file));
    expect(tests.flatMap((file) => inWords(file, disabledTests(readSource(file))))).toEqual([]);
  });

  test('no note of unfinished work is left', () => {
    expect(LEFTOVER.test(`// ${'TO' + 'DO'}: later`)).toBe(true);
    expect(files.flatMap((file) => linesMatching(file, LEFTOVER))).toEqual([]);
  });
});

describe('catalogues', () => {
  /** Files of the catalogue's room that its imports lead to, itself included. */
  function listed(catalogue: string): Set<string> {
    const room = `${dirname(catalogue)}/`;
    const reached = new Set<string>();
    const follow = (file: string): void => {
      if (reached.has(file) || !file.startsWith(room)) return;
      reached.add(file);
      for (const specifier of importedModules(readSource(file))) {
        if (specifier.startsWith('.')) follow(posix.join(dirname(file), specifier.replace(/\.js$/, '.ts')));
      }
    };
    follow(catalogue);
    return reached;
  }

  const catalogues = product.filter((file) => /^src\/(faults|reports|drivers)\/catalog\.ts$/.test(file));

  test('the fault catalogue is one of them', () => {
    expect(catalogues).toContain('src/faults/catalog.ts');
  });

  test.each(catalogues)('%s leads to everything in its folder', (catalogue) => {
    const reached = listed(catalogue);
    const room = `${dirname(catalogue)}/`;
    const beside = product.filter((file) => file.startsWith(room));
    // of a driver the catalogue names the door, not each file behind it
    const entry = (file: string): string => file.slice(room.length).split('/')[0];
    const doors = new Set([...reached].map(entry));
    expect(beside.map(entry).filter((name) => !doors.has(name))).toEqual([]);
  });

  test('each fault kind has the file, and the experiment, of its name', async () => {
    const { faultKindNames } = await import('../../src/faults/catalog.js');
    const kinds = faultKindNames();
    expect(kinds.length).toBeGreaterThan(0);
    expect([...new Set(kinds)]).toEqual(kinds);
    const present = new Set([...files, ...filesBelow('experiments')]);
    const expected = kinds.flatMap((kind) => [`src/faults/${kind}.ts`, `experiments/${kind}.yaml`]);
    expect(expected.filter((file) => !present.has(file))).toEqual([]);
  });
});

describe('what ships', () => {
  const shipped = filesBelow('.').filter((file) =>
    /(^|\/)(Dockerfile|\.[a-z]+rc|\.env[^/]*)$|\.(tsx?|[cm]?js|json|ya?ml|md|html|css|sql|txt|sh)$/.test(
      file,
    ),
  );

  test('names no folder of the place it was written in', () => {
    expect(WORKPLACE.test(`read ${'/wo' + 'rk/'}file`)).toBe(true);
    expect(WORKPLACE.test('src/model/workload/network/working')).toBe(false);
    expect(shipped.length).toBeGreaterThan(files.length);
    // the CI program is told where the real inputs lie; everything else takes them from the environment
    const checked = shipped.filter((file) => file !== '.ci/run');
    expect(checked.flatMap((file) => linesMatching(file, WORKPLACE))).toEqual([]);
  });

  test('installs from the public registry only', () => {
    const { packages } = JSON.parse(readSource('package-lock.json')) as {
      packages: Record<string, { resolved?: string; integrity?: string; link?: boolean }>;
    };
    const installed = Object.entries(packages).filter(([path]) => path !== '');
    const foreign = installed.filter(
      ([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'),
    );
    expect(foreign.map(([path]) => path)).toEqual([]);
    expect(installed.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual(
      [],
    );
  });

  test('names exact versions', () => {
    const manifest = JSON.parse(readSource('package.json')) as Record<string, Record<string, string>>;
    const ranges = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((group) =>
      Object.entries(manifest[group] ?? {}).filter(
        ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
      ),
    );
    expect(ranges).toEqual([]);
  });

  test('the source folders are the ones that are searched', () => {
    const stray = filesBelow('.').filter(
      (file) =>
        /\.tsx?$/.test(basename(file)) && !SOURCE_FOLDERS.some((folder) => file.startsWith(`${folder}/`)),
    );
    expect(stray.filter((file) => !/^[\w.-]+\.config\.ts$/.test(file))).toEqual([]);
  });
});
