/**
 * `npm run test:mutants`: how many small changes of the code does the suite notice?
 *
 * Mutants are drawn by the hash of the commit, the same number from each stratum. Each is tried against the test files of
 * `npm test` that reach its line, those beside it and the fastest first, until one fails; test files that together take longer than a bound are
 * left out, and a line that none reaches counts as survived, so that the rate is a lower bound. Nothing in the sources can
 * switch a mutant off. Exit 1 where a stratum is below its floor.
 *
 *   npm run test:mutants -- [--count N] [--only STRATUM] [--specs PATTERN] [--commit HASH] [--list] [--reach FILE]
 *
 * `--reach` keeps which test reaches what in a file, and reads it where it is there: for more runs of the same sources.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ignoredBy } from '../suites.js';
import { mutantsOf } from './operators.js';

const STRATA = {
  scoring: { folder: 'src/scoring', floor: 0.85 },
  comparison: { folder: 'src/comparison', floor: 0.85 },
  drill: { folder: 'src/drill', floor: 0.85 },
  diagnosis: { folder: 'src/diagnosis', floor: 0.75 },
};
/** What runs the code in processes of its own, where no line is seen, or does not run it. */
const NOT_JUDGES = ['test/e2e/', 'test/architecture/', 'test/golden/.*e2e-spec', 'test/conformance/'];
/** Test files of one mutant may take this share of the time of all together. */
const SPECS_SHARE_MAX = 1 / 8;
/** A mutant that takes this much longer than the unchanged code hangs, which is noticed. */
const TIMEOUT_FACTOR = 5;
const TIMEOUT_LEAST_SECONDS = 40;

const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const jest = join(checkout, 'node_modules/jest/bin/jest.js');
const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '400' },
    only: { type: 'string' },
    specs: { type: 'string', default: '' },
    commit: { type: 'string' },
    list: { type: 'boolean', default: false },
    reach: { type: 'string' },
  },
});

const say = (line) => void process.stdout.write(`${line}\n`);
const note = (line) => void process.stderr.write(`${line}\n`);

/** All mutants of a stratum, in the order in which the commit draws them. */
function drawn(commit, { folder }) {
  const files = readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((file) => /[.]ts$/.test(file) && !/[.]spec[.]ts$|\/testing\//.test(file));
  const keyOf = ({ file, start, operator }) =>
    createHash('sha256').update(`${commit} ${file} ${start} ${operator}`).digest('hex');
  return files
    .flatMap((file) =>
      mutantsOf(file, readFileSync(join(checkout, file), 'utf8')).map((one) => ({ file, ...one })),
    )
    .map((mutant) => ({ mutant, key: keyOf(mutant) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ mutant }) => mutant);
}

const environment = {
  ...process.env,
  FABRICDRILL_SUITE: 'minutes',
  NODE_OPTIONS: '--experimental-vm-modules',
};

/**
 * Runs the unchanged code once, in a copy: which test file reaches which line, and how long it takes.
 * A test file that fails there would fail with every mutant, so it may not judge them.
 */
function measure(folder, copy) {
  const file = join(folder, 'coverage.json');
  const coverage = ['--coverage', '--coverageProvider=v8', '--coverageReporters=none'];
  const { status } = spawnSync(
    process.execPath,
    [
      jest,
      ...(options.specs === '' ? [] : [options.specs]),
      ...coverage,
      ...Object.values(STRATA).map((stratum) => `--collectCoverageFrom=${stratum.folder}/**/*.ts`),
      '--testPathIgnorePatterns',
      ...NOT_JUDGES,
      ...ignoredBy('minutes'),
      '--reporters=default',
      '--reporters=./test/mutants/coverage-reporter.js',
    ],
    {
      cwd: copy,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...environment, FABRICDRILL_COVERAGE_FILE: file },
    },
  );
  const specs = Object.entries(JSON.parse(readFileSync(file, 'utf8')));
  for (const [name, { passed }] of specs)
    if (!passed) note(`left out, fails with the unchanged code: ${name}`);
  const judges = specs.filter(([, { passed }]) => passed);
  if (judges.length === 0)
    throw new Error(`no test file passes with the unchanged code (jest: exit ${status})`);
  return Object.fromEntries(judges);
}

function reach(folder, copy) {
  const kept = options.reach;
  if (kept !== undefined && existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'));
  note('running the unchanged code once, to see which test reaches which line');
  const specs = measure(folder, copy);
  if (kept !== undefined) writeFileSync(kept, JSON.stringify(specs));
  return specs;
}

const isBeside = (spec, file) => dirname(spec) === dirname(file);

/** Test files that reach the mutant, those beside it first, then the fastest, as far as the bound allows. */
function specsOf({ file, line }, specs) {
  const reaching = Object.entries(specs)
    .filter(([, { lines }]) => lines[file]?.includes(line))
    .sort(
      ([name, one], [otherName, other]) =>
        Number(isBeside(otherName, file)) - Number(isBeside(name, file)) || one.seconds - other.seconds,
    );
  const all = Object.values(specs).reduce((sum, spec) => sum + spec.seconds, 0);
  let seconds = 0;
  const taken = reaching.filter(([, spec]) => (seconds += spec.seconds) <= SPECS_SHARE_MAX * all);
  return {
    names: taken.map(([name]) => name),
    seconds: taken.reduce((sum, [, spec]) => sum + spec.seconds, 0),
  };
}

/** A copy of the checkout in which one file at a time is changed. */
function copyOf(folder, index) {
  const copy = join(folder, `copy-${index}`);
  for (const name of readdirSync(checkout)) {
    if (['.git', 'node_modules', 'coverage'].includes(name)) continue;
    cpSync(join(checkout, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** @returns whether a test failed, or none came to its end in time */
async function isKilled(mutant, { names, seconds }, copy) {
  const path = join(copy, mutant.file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, original.slice(0, mutant.start) + mutant.text + original.slice(mutant.end));
  try {
    const child = spawn(
      process.execPath,
      [
        jest,
        '--runInBand',
        '--bail',
        '--silent',
        '--testSequencer=./test/mutants/as-listed.js',
        '--testEnvironment=./test/mutants/first-failure-ends.js',
        '--runTestsByPath',
        ...names,
      ],
      {
        cwd: copy,
        stdio: 'ignore',
        detached: true,
        env: { ...environment, FABRICDRILL_SPECS: JSON.stringify(names) },
      },
    );
    const limitMs = 1000 * Math.max(TIMEOUT_LEAST_SECONDS, seconds * TIMEOUT_FACTOR);
    const timer = setTimeout(() => killGroup(child.pid), limitMs);
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
    clearTimeout(timer);
    // a test file that ends at its first failure leaves behind what it started
    killGroup(child.pid);
    return code !== 0;
  } finally {
    writeFileSync(path, original);
  }
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

async function main() {
  const commit =
    options.commit ?? execFileSync('git', ['rev-parse', 'HEAD'], { cwd: checkout, encoding: 'utf8' }).trim();
  const strata = Object.entries(STRATA).filter(
    ([name]) => options.only === undefined || name === options.only,
  );
  if (strata.length === 0)
    throw new Error(`--only: "${options.only}" is none of ${Object.keys(STRATA).join(', ')}`);
  const share = Math.ceil(Number(options.count) / Object.keys(STRATA).length);
  if (!(share > 0)) throw new Error(`--count: "${options.count}" is no number of mutants`);
  const work = strata.flatMap(([stratum, entry]) =>
    drawn(commit, entry)
      .slice(0, share)
      .map((mutant) => ({ stratum, mutant })),
  );
  const told = ({ mutant: { file, line, operator } }) => `${file}:${line} ${operator}`;
  if (options.list) return say(work.map(told).join('\n'));
  const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-mutants-'));
  try {
    const copies = Array.from({ length: availableParallelism() }, (_, index) => copyOf(folder, index));
    const specs = reach(folder, copies[0]);
    await tryAll(work, specs, copies, told);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  report(work, commit, told);
}

async function tryAll(work, specs, copies, told) {
  const queue = [...work];
  const one = async (copy) => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const reaching = specsOf(next.mutant, specs);
      const begun = Date.now();
      next.reached = reaching.names.length > 0;
      next.killed = next.reached && (await isKilled(next.mutant, reaching, copy));
      next.seconds = (Date.now() - begun) / 1000;
      if (!next.killed) note(`survived${next.reached ? '' : ' (no test reaches it)'}: ${told(next)}`);
    }
  };
  await Promise.all(copies.map(one));
}

function report(work, commit, told) {
  say(`mutants drawn by commit ${commit}`);
  for (const [name, { floor }] of Object.entries(STRATA)) {
    const own = work.filter(({ stratum }) => stratum === name);
    if (own.length === 0) continue;
    const killed = own.filter((one) => one.killed).length;
    const unreached = own.filter((one) => !one.reached).length;
    const rate = killed / own.length;
    const seconds = own.map((one) => one.seconds).sort((a, b) => a - b);
    const line = [
      `${name}: ${killed} of ${own.length} killed, ${(100 * rate).toFixed(1)} % (floor ${100 * floor} %)`,
      `${unreached} reached by no test`,
      `${seconds[Math.floor(own.length / 2)].toFixed(0)} s each at the median`,
    ].join(', ');
    say(rate >= floor ? line : `${line}: MISSED`);
    if (rate < floor) process.exitCode = 1;
  }
  say('survivors:');
  for (const one of work.filter(({ killed }) => !killed)) say(`  ${told(one)}`);
}

await main();
