import { describe, expect, it } from '@jest/globals';
import { Prng } from '../core/prng.js';
import { Comparison, type GateDesign } from './comparison.js';
import { planLooks } from './looks.js';
import type { SeedRuns, SideRun } from './pairs.js';
import { INDEPENDENT, PAIRED } from './samples.js';
import { worstVerdict, type CellResult } from './result.js';
import { parseSuiteObjectives, type SuiteObjectiveSpec } from './suite-objective.js';

function design(
  objectives: SuiteObjectiveSpec[],
  experiments: string[],
  seeds = 16,
  samples = PAIRED,
): GateDesign {
  return {
    objectives: parseSuiteObjectives(objectives, experiments),
    experiments,
    looks: planLooks(seeds, 0.05, undefined, samples),
    alpha: 0.05,
    samples,
    seed: 1,
  };
}

const SCORE = 'recovery.score';
const run = (value: number | null): SideRun => ({ figures: { [SCORE]: value } });

type Figure = (experiment: string, seed: number) => readonly [before: number | null, after: number | null];

/** Runs a gate whose figures come from a function of experiment, seed and side. */
function conduct(
  of: GateDesign,
  figure: Figure,
  refused?: ReadonlyMap<string, string>,
): { cells: CellResult[]; runs: number } {
  const { comparison, runs } = conducted(of, figure, refused);
  return { cells: comparison.results().flatMap(({ cells }) => cells), runs };
}

function conducted(
  of: GateDesign,
  figure: Figure,
  refused?: ReadonlyMap<string, string>,
): { comparison: Comparison; runs: number } {
  const comparison = new Comparison(of, refused);
  const done = new Map<string, number>();
  let runs = 0;
  for (let due = comparison.due(); due.length > 0; due = comparison.due()) {
    for (const { experiment, seeds } of due) {
      const from = done.get(experiment) ?? 0;
      const more = Array.from({ length: seeds - from }, (_, at): SeedRuns => {
        const [before, after] = figure(experiment, from + at + 1);
        return { seed: from + at + 1, baseline: run(before), candidate: run(after) };
      });
      comparison.record(experiment, more);
      runs += 2 * more.length;
      done.set(experiment, seeds);
    }
    comparison.look();
  }
  return { comparison, runs };
}

const MARGIN: SuiteObjectiveSpec = { metric: SCORE, margin: 5 };

describe('a comparison of two fabrics', () => {
  it('finds no regression in equal figures and stops at the first look', () => {
    const { cells, runs } = conduct(design([MARGIN], ['a', 'b']), () => [80, 80]);
    expect(cells.map(({ verdict, seeds }) => [verdict, seeds])).toEqual([
      ['none', 8],
      ['none', 8],
    ]);
    expect(runs).toBe(32);
    expect(cells[0].reason).toBe(
      'no difference; 5 is allowed, and 8 pairs of seeds show that it stays within',
    );
  });

  it('finds a regression beyond the margin, names its worst seed, and none where there is none', () => {
    const { cells } = conduct(design([MARGIN], ['a', 'b']), (experiment, seed) => [
      80,
      experiment === 'a' ? 70 - seed : 81,
    ]);
    expect(cells[0]).toMatchObject({ verdict: 'regression', seeds: 8, worstSeed: 8, meanBaseline: 80 });
    expect(cells[0].worseBy!.mean).toBe(14.5);
    expect(cells[1]).toMatchObject({ verdict: 'none' });
    expect(worstVerdict(cells.map(({ verdict }) => verdict))).toBe('regression');
  });

  it('does not know where seeds contradict each other, after the last look', () => {
    const { cells } = conduct(design([MARGIN], ['a']), (_, seed) => [80, seed % 2 === 0 ? 60 : 90]);
    expect(cells[0]).toMatchObject({ verdict: 'inconclusive', seeds: 16, known: 16 });
    expect(cells[0].reason).toMatch(/show neither/);
  });

  it('looks at a lower value as worse or better as the metric says', () => {
    const metric = 'recovery.time_to_recover_s';
    const comparison = new Comparison(design([{ metric, margin: 1 }], ['a'], 5));
    const seconds = (value: number): SideRun => ({ figures: { [metric]: value } });
    comparison.record(
      'a',
      Array.from({ length: 5 }, (_, at) => ({ seed: at, baseline: seconds(3), candidate: seconds(9) })),
    );
    comparison.look();
    expect(comparison.results()[0].cells[0]).toMatchObject({ verdict: 'regression', worseBy: { mean: 6 } });
  });

  it('never claims that there is none where only the candidate is unknown', () => {
    const { cells } = conduct(design([MARGIN], ['a']), (_, seed) => [80, seed === 3 ? null : 80]);
    expect(cells[0]).toMatchObject({ verdict: 'inconclusive', known: 15, worstSeed: 3 });
    expect(cells[0].reason).toMatch(/could not be known at 1 of 16 seeds \(3\)/);
  });

  it('needs enough pairs, however clear they are', () => {
    const { cells } = conduct(design([MARGIN], ['a']), (_, seed) => [seed <= 4 ? 80 : null, 10]);
    expect(cells[0]).toMatchObject({ verdict: 'inconclusive', known: 4 });
    expect(cells[0].reason).toMatch(
      /only 4 pairs of seeds tell, and at least 5 are needed; .* at 12 of 16 seeds on the baseline$/,
    );
  });

  it('keeps an objective to its experiments, and what can not be run makes it inconclusive', () => {
    const { cells, runs } = conduct(
      design(
        ['b', 'a'].map((name) => ({ ...(MARGIN as object), on: [name] })),
        ['a', 'b'],
      ),
      () => [80, 80],
      new Map([['b', 'the candidate has no such link']]),
    );
    expect(cells).toMatchObject([
      { experiment: 'b', verdict: 'inconclusive', reason: 'the candidate has no such link' },
      { experiment: 'a', verdict: 'none' },
    ]);
    expect(runs).toBe(16);
  });

  it('counts an absolute objective: a miss too many decides at once, a pass needs every seed', () => {
    const good = conduct(design(['recovery.score >= 80'], ['a']), () => [0, 80]);
    expect(good.cells[0]).toMatchObject({ verdict: 'none', seeds: 16, known: 16 });
    const bad = conduct(design(['recovery.score >= 80'], ['a']), (_, seed) => [99, seed === 2 ? 79 : 80]);
    expect(bad.cells[0]).toMatchObject({ verdict: 'regression', seeds: 8, worstSeed: 2 });
    const most = design([{ expression: 'recovery.score >= 80', share: 0.9 }], ['a']);
    expect(conduct(most, (_, seed) => [99, seed === 2 ? 79 : 80]).cells[0].verdict).toBe('none');
    const unknown = conduct(design(['recovery.score >= 80'], ['a']), (_, seed) => [
      99,
      seed === 2 ? null : 80,
    ]);
    expect(unknown.cells[0].verdict).toBe('inconclusive');
  });

  it('gives the same for the same figures', () => {
    const noisy = (experiment: string, seed: number) =>
      [80, 80 + 3 * new Prng(seed).stream(experiment).normal()] as const;
    const of = design([MARGIN], ['a', 'b', 'c'], 24);
    expect(conduct(of, noisy)).toEqual(conduct(of, noisy));
  });
});

describe('laws of a gate', () => {
  const experiments = ['a', 'b', 'c'];
  const objectives: SuiteObjectiveSpec[] = [
    MARGIN,
    { metric: 'recovery.resilience_loss', margin: 0.1, on: ['a', 'c'] },
    { expression: 'recovery.score >= 60', share: 0.75 },
  ];
  const badness = (verdict: string): number => ['none', 'inconclusive', 'regression'].indexOf(verdict);
  const noisy =
    (gate: number, worse: (experiment: string, seed: number) => number): Figure =>
    (experiment, seed) => [
      80,
      80 - 6 * new Prng(gate).stream(`${experiment}/${seed}`).normal() - worse(experiment, seed),
    ];

  it('a candidate that gets worse step by step never gets a better verdict, be it at all seeds or at one', () => {
    const of = design([MARGIN], experiments, 12);
    for (let gate = 0; gate < 12; gate++) {
      for (const where of [() => true, (seed: number) => seed === 1 + gate]) {
        const ladder = [0, 3, 9, 27, 81, 1000].map((by) => {
          const start = gate % 10;
          const { cells } = conduct(
            of,
            noisy(gate, (experiment, seed) => (experiment === 'b' ? start + (where(seed) ? by : 0) : 0)),
          );
          return badness(cells[1].verdict);
        });
        expect([gate, ...ladder]).toEqual([gate, ...[...ladder].sort()]);
      }
    }
  });

  it('verdicts depend on no order, neither of objectives nor of experiments', () => {
    const verdicts = (gate: number, change: <T>(list: readonly T[]) => T[]): unknown => {
      const { comparison } = conducted(
        design(change(objectives), change(experiments), 12),
        noisy(gate, () => gate % 12),
      );
      const told = comparison
        .results()
        .flatMap(({ objective, cells }) =>
          cells.map(({ experiment, verdict, seeds, pNone }) =>
            [objective.name, experiment, verdict, seeds, pNone].join(),
          ),
        );
      return told.sort();
    };
    for (let gate = 0; gate < 12; gate += 2) {
      expect(verdicts(gate, (list) => [...list].reverse())).toEqual(verdicts(gate, (list) => [...list]));
    }
  });

  it('what is decided at an early look is not taken back at a later one, whatever follows', () => {
    const { comparison } = conducted(design([MARGIN], ['a', 'b']), (experiment, seed) => {
      const turned = seed > 8;
      if (experiment === 'a') return [80, turned ? 10 : 80];
      return [80, turned === (seed % 2 === 0) ? 40 : 95];
    });
    const [{ cells }] = comparison.results();
    expect(cells.map(({ verdict, seeds }) => [verdict, seeds])).toEqual([
      ['none', 8],
      ['inconclusive', 16],
    ]);
  });
});

describe('errors of a gate over many noisy pairs', () => {
  const experiments = ['a', 'b', 'c', 'd'];
  const of = design([MARGIN], experiments, 10);
  /** Share of gates in which something has this verdict, the candidate being worse by `worse` on average. */
  const share = (verdict: string, worse: number, deviation: number, gates = 200): number => {
    let count = 0;
    for (let gate = 0; gate < gates; gate++) {
      const random = new Prng(gate).stream(`${worse}/${deviation}`);
      const { comparison } = conducted(of, () => [80, 80 - worse + deviation * random.normal()]);
      if (comparison.verdicts().some((found) => found === verdict)) count++;
    }
    return count / gates;
  };
  const atMost = (level: number, gates = 200): number => level + 4 * Math.sqrt((level * (1 - level)) / gates);

  it('at the very margin a regression is claimed no more often than the level, looks and family included', () => {
    expect(share('regression', 5, 4)).toBeLessThan(atMost(0.05));
  });

  it('without any difference a regression is as good as never claimed', () => {
    expect(share('regression', 0, 4)).toBe(0);
  });

  it('three deviations beyond the margin it is found', () => {
    expect(share('regression', 17, 4)).toBe(1);
    expect(share('none', 17, 4)).toBe(0);
  });
});

describe('a comparison of independent runs', () => {
  const few = (objectives: SuiteObjectiveSpec[] = [MARGIN]): GateDesign =>
    design(objectives, ['a'], 3, INDEPENDENT);

  it('is judged once, finds a regression with three runs a side, and names the worst', () => {
    const { cells, runs } = conduct(few(), (_, seed) => [80 + seed, 60 - seed]);
    expect(runs).toBe(6);
    expect(cells[0]).toMatchObject({ verdict: 'regression', pRegression: 0.05, worstSeed: 3 });
    expect(cells[0].worseBy!.mean).toBe(24);
    expect(cells[0].reason).toMatch(/worse by 24 .* and 3 runs on each rule chance out/);
  });

  it('shows that nothing became worse only where every run of the candidate is within the margin', () => {
    expect(conduct(few(), () => [80, 80]).cells[0]).toMatchObject({ verdict: 'none', pNone: 0.05 });
    const mixed = conduct(few(), (_, seed) => [80, seed === 2 ? 60 : 80]);
    expect(mixed.cells[0]).toMatchObject({ verdict: 'inconclusive', worstSeed: 2 });
  });

  it('counts each run by itself, and passes nothing of which a run of the candidate is not known', () => {
    const { cells } = conduct(few(), (_, seed) => [seed === 1 ? null : 80, seed === 1 ? 60 : null]);
    expect(cells[0]).toMatchObject({ verdict: 'inconclusive', meanBaseline: 80, meanCandidate: 60 });
    expect(cells[0].reason).toMatch(/could not be known at 2 of 3 seeds/);
    const baseline = conduct(few(), (_, seed) => [seed === 1 ? null : 80, 60]);
    expect(baseline.cells[0].reason).toMatch(/only 2 runs on each tell, and at least 3 are needed/);
  });
});
