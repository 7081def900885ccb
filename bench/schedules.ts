/**
 * The schedules bench: a month of a thousand schedules on three replicas that are killed at random, as processes on a real
 * PostgreSQL, held against a second implementation that walks through every minute. One month a seed.
 *
 * It takes a database of its own from an embedded server, and some minutes: what is measured is not speed.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BenchOutcome, BenchRow } from '../src/cli/bench-row.js';
import { ownDatabase } from './own-database.js';
import { measured } from './row.js';
import { liveMonth, type MonthResult, type Replica } from './schedules/month.js';

export interface SchedulesBenchOptions {
  /** `month` (1 000 schedules, 30 days) or `week` (100, 7 days); the month when empty. */
  only?: readonly string[];
  seeds: readonly number[];
  onCase?: (name: string) => void;
}

const CASES: Readonly<Record<string, { schedules: number; days: number }>> = {
  month: { schedules: 1000, days: 30 },
  week: { schedules: 100, days: 7 },
};
const REPLICAS = 3;
const KILL_CHANCE = 0.03;
const WANTED = 'none: every tick is one run or one explained skip';

export async function runSchedulesBench(options: SchedulesBenchOptions): Promise<BenchOutcome> {
  const { only = [], seeds, onCase } = options;
  const rows: BenchRow[] = [];
  const failures: string[] = [];
  const lines: string[][] = [];
  for (const name of only.length === 0 ? ['month'] : only) {
    if (!Object.hasOwn(CASES, name)) {
      failures.push(`there is no case ${name}; there are ${Object.keys(CASES).join(', ')}`);
      continue;
    }
    for (const seed of seeds) {
      const result = await ownDatabase((databaseUrl) =>
        liveMonth({
          ...{ databaseUrl, seed, ...CASES[name], replicas: REPLICAS, killChance: KILL_CHANCE },
          replica: (who) => startProcess(databaseUrl, who),
          onDay: (day) => onCase?.(`${name}, seed ${seed}, day ${day} of ${CASES[name].days}`),
        }),
      );
      rows.push(...rowsOf(name, result));
      failures.push(...result.differences.map((text) => `seed ${seed}: ${text}`));
      lines.push([
        name,
        ...[seed, result.ticks, result.runs, result.looks, result.kills].map(String),
        skipped(result),
      ]);
    }
  }
  const columns = ['case', 'seed', 'ticks', 'runs', 'looks', 'kills', 'skips'];
  return { rows, failures, sections: [{ heading: 'What came to pass', columns, lines }] };
}

const skipped = ({ skips }: MonthResult): string =>
  Object.entries(skips)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');

function rowsOf(name: string, { ticks, duplicates, unexplained }: MonthResult): BenchRow[] {
  const none = { unit: '', reference: WANTED, floor: 0 };
  return [
    measured(name, 'ticks', ticks, { unit: '' }),
    measured(name, 'duplicates', duplicates, none),
    measured(name, 'unexplained_misses', unexplained, none),
  ];
}

async function startProcess(databaseUrl: string, name: string): Promise<Replica> {
  const program = fileURLToPath(new URL('./schedules/replica-process.js', import.meta.url));
  const begin = (): ChildProcess =>
    spawn(process.execPath, [program, databaseUrl, name], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const end = (child: ChildProcess): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  let child = begin();
  return Promise.resolve({
    replace: async () => {
      await end(child);
      child = begin();
    },
    stop: () => end(child),
  });
}
