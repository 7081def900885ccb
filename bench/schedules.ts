/**
 * The schedules bench: a month of a thousand schedules on three replicas, processes that are killed and stopped at random, on
 * a real PostgreSQL that is restarted in mid-tick, held against a second implementation that walks through every minute. One
 * month a seed.
 *
 * It takes a database of its own from an embedded server, and some minutes: what is measured is not speed.
 */
import { fileURLToPath } from 'node:url';
import type { BenchOutcome, BenchRow } from '../src/cli/commands/bench-row.js';
import { keepAcknowledged, ownDatabase } from './own-database.js';
import { measured } from './row.js';
import { liveMonth, type MonthResult } from './schedules/month.js';
import { startReplica } from './schedules/processes.js';

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
const CHANCES = { kill: 0.03, freeze: 0.006, restart: 0.001 };
const PROGRAM = fileURLToPath(new URL('./schedules/replica-process.js', import.meta.url));
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
      const onFall = (why: string): void => void failures.push(`seed ${seed}: ${why}`);
      const result = await ownDatabase(async ({ databaseUrl, restart }) => {
        await keepAcknowledged(databaseUrl);
        return liveMonth({
          ...{ databaseUrl, seed, ...CASES[name], replicas: REPLICAS, chances: CHANCES },
          replica: (who) => startReplica({ program: PROGRAM, databaseUrl, name: who, onFall }),
          restartDatabase: restart,
          onDay: (day) => onCase?.(`${name}, seed ${seed}, day ${day} of ${CASES[name].days}`),
        });
      });
      rows.push(...rowsOf(name, result));
      failures.push(...result.differences.map((text) => `seed ${seed}: ${text}`));
      lines.push([
        name,
        ...[seed, result.ticks, result.runs, result.looks, result.kills].map(String),
        `${result.freezes} (${result.frozenInTick})`,
        `${result.restarts} (${result.restartsInTick})`,
        skipped(result),
      ]);
    }
  }
  const columns = ['case', 'seed', 'ticks', 'runs', 'looks', 'kills', 'stops', 'restarts', 'skips'];
  const heading = 'What came to pass (stops of replicas and restarts of the database: in mid-tick)';
  return { rows, failures, sections: [{ heading, columns, lines }] };
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
