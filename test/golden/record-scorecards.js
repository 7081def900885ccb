/**
 * Records scorecards of the shipped experiments with the command line of a built checkout, at two seeds each.
 *
 *   node test/golden/record-scorecards.js CHECKOUT
 *
 * The ones in this folder are those of commit 5e5372a, the last before drills left the service. The command line ran them
 * through server, queue and database then; the spec beside it drills in memory.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { format } from 'prettier';

const OTHER_SEED = 2026;
/** Ids, the wall clock and the version are no part of a result. */
const ASIDE = ['id', 'version', 'startedAt', 'endedAt'];

const checkout = resolve(process.argv[2] ?? '.');
const only = process.argv.slice(3);
const folder = join(import.meta.dirname, 'recorded/scorecards');
const home = mkdtempSync(join(tmpdir(), 'fabricdrill-record-'));

/** Exit codes say how the run ended, so only a missing scorecard is a mistake. */
function run(file, ...options) {
  const args = [
    join(checkout, 'dist/src/cli.js'),
    'run',
    join('experiments', file),
    '--output',
    'json',
    ...options,
  ];
  const { PATH, HOME } = process.env;
  try {
    const env = { PATH, HOME, FABRICDRILL_HOME: home };
    return execFileSync(process.execPath, args, { cwd: checkout, env, encoding: 'utf8', maxBuffer: 1e9 });
  } catch (error) {
    if (!error.stdout?.startsWith('{')) throw error;
    return error.stdout;
  }
}

try {
  for (const file of readdirSync(join(checkout, 'experiments')).filter((name) => name.endsWith('.yaml'))) {
    const name = file.replace('.yaml', '');
    if (only.length > 0 && !only.includes(name)) continue;
    for (const seed of [undefined, OTHER_SEED]) {
      const scorecard = JSON.parse(run(file, ...(seed === undefined ? [] : ['--seed', String(seed)])));
      for (const key of ASIDE) delete scorecard.run[key];
      const golden = `${name}${seed === undefined ? '' : `.seed-${seed}`}.json`;
      const text = await format(JSON.stringify(scorecard), { parser: 'json', printWidth: 110 });
      writeFileSync(join(folder, golden), text);
      process.stdout.write(`${golden}: ${scorecard.run.state}\n`);
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
