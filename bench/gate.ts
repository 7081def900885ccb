/**
 * The gate bench: how often a gate finds what became worse, how often it cries over what did not, and how long it takes.
 *
 * Harmless pairs are drawn by seed: fabrics and changes of which none makes anything worse (a name, other hash seeds, longer
 * cables, faster optics, one more spine, other random draws), no more than one in ten bit-identical. Harmful ones are the
 * upgrades that ship with the suite `pre-upgrade`. Time is that of a gate of twelve experiments and sixteen seeds on
 * 256 GPUs; and how much faster two threads, and two workers of a server, are than one.
 */
import type { BenchOutcome, BenchRow } from '../src/cli/commands/bench-row.js';
import { RunPool } from '../src/drill/gate/pool.js';
import { drawPair, PAIR_CHANGES } from './gate/harmless-pairs.js';
import { gateOfPair, type PairOutcome } from './gate/measure-pair.js';
import { shippedUpgrades } from './gate/shipped.js';
import { timeGate } from './gate/gate-time.js';
import { measured, unmeasured } from './row.js';

export interface GateBenchOptions {
  /** `harmless`, `upgrades`, `time`, or names of upgrades; all when empty. */
  only?: readonly string[];
  /** One harmless pair a seed. */
  seeds: readonly number[];
  onCase?: (name: string) => void;
}

const WANTED = 'none: what a gate is for';
/** Fewer pairs say nothing about one alarm in fifty. */
const PAIRS_MIN = 200;
const IDENTICAL_MOST = 0.1;

export async function runGateBench(options: GateBenchOptions): Promise<BenchOutcome> {
  const pool = new RunPool();
  try {
    return await benchWith(pool, options);
  } finally {
    await pool.close();
  }
}

async function benchWith(
  pool: RunPool,
  { only = [], seeds, onCase }: GateBenchOptions,
): Promise<BenchOutcome> {
  const asked = (name: string): boolean => only.length === 0 || only.includes(name);
  const rows: BenchRow[] = [];
  const failures: string[] = [];
  const upgrades = shippedUpgrades().filter(({ name }) => asked('upgrades') || only.includes(name));
  const sections: { heading: string; columns: string[]; lines: string[][] }[] = [];
  if (upgrades.length > 0) {
    const outcomes: PairOutcome[] = [];
    for (const upgrade of upgrades) {
      onCase?.(upgrade.name);
      outcomes.push(await gateOfPair(upgrade, pool));
    }
    rows.push(...upgradeRows(outcomes));
    sections.push({
      heading: 'Shipped upgrades',
      columns: ['upgrade', 'wanted', 'verdict', 'runs'],
      lines: outcomes.map(({ name, wanted, verdict, runs }) => [name, wanted, verdict, String(runs)]),
    });
  }
  if (asked('harmless')) {
    const outcomes: PairOutcome[] = [];
    for (const [at, seed] of seeds.entries()) {
      if (at % 10 === 0) onCase?.(`harmless pair ${at + 1} of ${seeds.length}`);
      outcomes.push(await gateOfPair(drawPair(seed), pool));
    }
    rows.push(...harmlessRows(outcomes));
    const identical = outcomes.filter(({ identical: same }) => same).length;
    if (outcomes.length >= PAIRS_MIN && identical > IDENTICAL_MOST * outcomes.length) {
      failures.push(
        `${identical} of ${outcomes.length} pairs are bit-identical; more than one in ten prove nothing`,
      );
    }
    sections.push({
      heading: 'Harmless changes',
      columns: ['change', 'pairs', 'none', 'inconclusive', 'regression'],
      lines: byChange(outcomes),
    });
  }
  if (asked('time')) rows.push(...(await timeGate(onCase)));
  for (const name of only) {
    if (['harmless', 'upgrades', 'time'].includes(name) || upgrades.some((one) => one.name === name))
      continue;
    rows.push(
      unmeasured(
        name,
        'verdict',
        '',
        'there is no such case; there are harmless, upgrades, time and the shipped upgrades',
      ),
    );
  }
  return { rows, sections, failures };
}

const share = (outcomes: readonly PairOutcome[], verdict: PairOutcome['verdict']): number =>
  outcomes.filter((one) => one.verdict === verdict).length / outcomes.length;

function harmlessRows(outcomes: readonly PairOutcome[]): BenchRow[] {
  const name = 'harmless';
  return [
    measured(name, 'pairs', outcomes.length, { unit: '' }),
    measured(name, 'identical_share', outcomes.filter((one) => one.identical).length / outcomes.length, {
      unit: 'share',
    }),
    measured(name, 'regression_share', share(outcomes, 'regression'), {
      unit: 'share',
      reference: WANTED,
      floor: 0.02,
      aim: 0,
    }),
    measured(name, 'inconclusive_share', share(outcomes, 'inconclusive'), {
      unit: 'share',
      reference: WANTED,
    }),
  ];
}

function upgradeRows(outcomes: readonly PairOutcome[]): BenchRow[] {
  const [bad, good] = (['regression', 'none'] as const).map((wanted) =>
    outcomes.filter((one) => one.wanted === wanted),
  );
  return [
    ...(bad.length === 0
      ? []
      : [
          measured('bad-upgrades', 'caught_share', share(bad, 'regression'), {
            unit: 'share',
            floor: 1,
            aim: 1,
            better: 'higher',
          }),
        ]),
    ...(good.length === 0
      ? []
      : [
          measured('harmless-upgrades', 'passed_share', share(good, 'none'), {
            unit: 'share',
            floor: 1,
            aim: 1,
            better: 'higher',
          }),
        ]),
  ];
}

function byChange(outcomes: readonly PairOutcome[]): string[][] {
  return PAIR_CHANGES.flatMap((change) => {
    const own = outcomes.filter((one) => one.name.startsWith(`${change}-`));
    if (own.length === 0) return [];
    const count = (verdict: PairOutcome['verdict']): string =>
      String(own.filter((one) => one.verdict === verdict).length);
    return [[change, String(own.length), count('none'), count('inconclusive'), count('regression')]];
  });
}
