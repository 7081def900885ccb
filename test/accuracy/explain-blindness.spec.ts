/**
 * Blindness over the corpus of the explainability bench: what the answer may not depend on.
 *
 * Not on the truth (test/e2e/blindness.e2e-spec.ts swaps it in the store), not on the names of devices, and there is nothing in the set of series to read a fault from. Cases are
 * taken from the tuning range, small and of every class, so that the figures that are published stay unseen.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { caseOf, type CorpusCase } from '../../bench/explain/corpus/case.js';
import { grade } from '../../bench/explain/grade.js';
import { runCase, runSeed, type CaseRun } from '../../bench/explain/run-case.js';
import { diagnose, type DiagnosisInput, type Verdict } from '../../src/diagnosis/index.js';
import { renameDevices } from '../../src/diagnosis/testing/rename.js';
import { Prng } from '../../src/core/prng.js';

/** The first small cases of each sort; 128 GPUs and more take long to simulate and are no blinder. */
function firstCases(): CorpusCase[] {
  const chosen = new Map<string, CorpusCase>();
  for (let seed = 3000; seed < 4000; seed++) {
    const one = caseOf(seed);
    if (one.scene.gpus > 32 || one.entries.length > 1) continue;
    const sort = one.control ?? one.entries[0].class;
    if (!chosen.has(sort)) chosen.set(sort, one);
  }
  return [...chosen.values()];
}

/** Other names, as long as each other, that sort as the old ones do: the ends of a link are told in this order. */
function inOrder(names: readonly string[]): string[] {
  const sorted = names.map((name) => `${name}/`).sort();
  return names.map((name) => `unit${String(sorted.indexOf(`${name}/`)).padStart(4, '0')}`);
}

const CASES = firstCases();
const inputOf = ({ topology, jobs, evidence }: CaseRun): DiagnosisInput => ({ topology, jobs, evidence });
const seriesOf = ({ raw }: CaseRun): string[] =>
  raw.series.map(({ metric, element }) => `${metric} ${element}`).sort();

describe('the diagnosis over the corpus', () => {
  const runs = new Map<string, CaseRun>();
  const verdicts = new Map<string, Verdict>();
  const runOf = ({ name }: CorpusCase): CaseRun => runs.get(name)!;
  const verdictOf = ({ name }: CorpusCase): Verdict => verdicts.get(name)!;

  beforeAll(async () => {
    for (const one of CASES) {
      const { run } = await runSeed(one.seed);
      runs.set(one.name, run);
      verdicts.set(one.name, diagnose(inputOf(run)));
    }
  }, 600_000);

  it('is asked about every class of fault and every sort of control', () => {
    const sorts = CASES.map((one) => one.control ?? one.entries[0].class);
    expect(sorts.sort()).toEqual([
      'congestion',
      'gray',
      'hard',
      'job',
      'load-change',
      'nothing',
      'straggler',
    ]);
  });

  it.each(CASES.map((one) => [one.name, one] as const))(
    'gives the same bytes whatever the truth is: %s',
    (_, one) => {
      const other = CASES.find(({ name }) => name !== one.name)!;
      // all of the run is handed in, so that a diagnosis which looks for the truth would find this one
      const swapped = { ...runOf(one), truth: runOf(other).truth, impairments: runOf(other).impairments };
      expect(JSON.stringify(diagnose(swapped))).toBe(JSON.stringify(verdictOf(one)));
    },
    120_000,
  );

  it.each(CASES.map((one) => [one.name, one] as const))(
    'gives the renamed answer for renamed devices: %s',
    (_, one) => {
      const { topology } = runOf(one);
      const names = new Prng(one.seed).shuffle(topology.devices.map((_, index) => `unit-${index}`));
      const { input, rename } = renameDevices(inputOf(runOf(one)), names);
      const bare = ({ faultFound, culprits }: Verdict, translate: (id: string) => string) => ({
        faultFound,
        culprits: culprits
          .map(({ kind, element, side, probability }) => ({
            ...{ kind, side, probability },
            id: translate(element.id),
          }))
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
      });
      expect(bare(diagnose(input), (id) => id)).toEqual(bare(verdictOf(one), rename));
    },
    120_000,
  );

  it.each(CASES.map((one) => [one.name, one] as const))(
    'gives the same verdict to the last sentence, names aside, where other names sort alike: %s',
    (_, one) => {
      const { topology } = runOf(one);
      const names = inOrder(topology.devices.map(({ name }) => name));
      const { input } = renameDevices(inputOf(runOf(one)), names);
      const renamed = new Map(topology.devices.map(({ name }, index) => [name, names[index]]));
      const expected = JSON.stringify(verdictOf(one)).replace(
        /\b(?:host|leaf|spine|core)-\d+\b/g,
        (name) => renamed.get(name) ?? name,
      );
      expect(JSON.stringify(diagnose(input))).toBe(expected);
    },
    120_000,
  );

  it.each(CASES.filter(({ control }) => control === null).map((one) => [one.name, one] as const))(
    'finds the same set of series with this fault, with another target, and with none: %s',
    async (_, one) => {
      const without: CorpusCase = { ...one, control: 'nothing', entries: [], attempts: [] };
      // targets are drawn by the seed of the plan
      const elsewhere: CorpusCase = { ...one, seed: one.seed + 1 };
      expect(seriesOf(await runCase(without))).toEqual(seriesOf(runOf(one)));
      expect(seriesOf(await runCase(elsewhere))).toEqual(seriesOf(runOf(one)));
    },
    300_000,
  );

  it.each(CASES.filter(({ control }) => control !== null).map((one) => [one.name, one] as const))(
    'blames no part of the network for a control: %s',
    (_, one) => {
      expect(grade(runOf(one), verdictOf(one))).toMatchObject({ falseAlarm: false });
    },
  );
});
