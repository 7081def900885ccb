/**
 * The diagnosis of congestion is blind: it knows neither what was injected nor what anything is called.
 *
 * Swapped truth leaves the verdict as it is to the byte, other names give the same verdict under these names, and what is
 * observed (which metric of which element) does not depend on what was injected or whether anything was.
 */
import { describe, expect, it } from '@jest/globals';
import { diagnose } from '../../src/diagnosis/index.js';
import type { Verdict } from '../../src/diagnosis/index.js';
import { renameDevices } from '../../src/diagnosis/testing/rename.js';
import { Prng } from '../../src/core/prng.js';
import { drawnSeeds } from '../support/drawn-seeds.js';
import { runCase } from './diagnosis-cases.js';
import type { CaseRequest, DiagnosisCase } from './diagnosis-cases.js';

/** Drawn, so that none was chosen by its result. */
const SEEDS = drawnSeeds('blindness of the diagnosis', 3);
const CASES: readonly CaseRequest['faults'][] = [
  [{ fault: 'incast', tier: 'nic' }],
  [{ fault: 'slow-receiver', tier: 'nic' }],
  [{ fault: 'pause-storm', tier: 'nic' }],
  [{ fault: 'elephants', tier: 'leaf' }],
  [{ fault: 'polarised', tier: 'fabric' }],
  [{ fault: 'ecn-early', tier: 'switch' }],
  [{ fault: 'pfc-off', tier: 'switch' }],
];
const named = CASES.map((faults) => [faults[0].fault, faults] as const);

/** Everything that names an element, in the order of the verdict; sentences aside. */
const elements = ({ culprits, aggressors, chain, ruledOut }: Verdict): string[] => [
  ...culprits.flatMap(({ kind, element, evidence }) => [
    kind,
    element.id,
    ...evidence.map((one) => one.element),
  ]),
  ...aggressors.map(({ id }) => id),
  ...chain.map(({ element }) => element.id),
  ...ruledOut.map(({ element }) => element.id),
];

const figures = ({ culprits }: Verdict) =>
  culprits.map(({ probability, onset_s, lostTimeShare, direction }) => ({
    probability,
    onset_s,
    lostTimeShare,
    both: direction === 'both',
  }));

const series = ({ evidence }: DiagnosisCase): string[] =>
  evidence.series.map(({ metric, element }) => `${metric} ${element}`).sort();

/** Whose truth is handed in instead. */
const another = runCase({ faults: [{ fault: 'cut', tier: 'leaf-spine' }], seed: SEEDS[0] });

/** Diagnoses with another truth and under other names. @returns how many culprits are named */
async function blindVerdict(request: CaseRequest): Promise<number> {
  const drill = await runCase(request);
  const verdict = diagnose(drill);
  const { truth } = await another;
  const swapped: DiagnosisCase = { ...drill, truth };
  expect(JSON.stringify(diagnose(swapped))).toBe(JSON.stringify(verdict));

  const { devices } = drill.topology;
  const others = new Prng(request.seed).shuffle(
    devices.map((device) => `node-${String.fromCharCode(97 + (device.index % 26))}${device.index}`),
  );
  const { input, rename } = renameDevices(drill, others);
  const renamed = diagnose(input);
  expect(figures(renamed)).toEqual(figures(verdict));
  expect(elements(renamed)).toEqual(
    elements(verdict).map((id) => (/^(port|nic|queue|device|link):/.test(id) ? rename(id) : id)),
  );
  return verdict.culprits.length;
}

describe('the diagnosis of congestion', () => {
  it.each(named)(
    'does not read the truth, nor names: %s',
    async (_, faults) => {
      let culprits = 0;
      for (const seed of SEEDS) culprits += await blindVerdict({ faults, seed });
      // blindness to faults that nobody names would be no feat
      expect(culprits).toBeGreaterThan(0);
    },
    300_000,
  );

  it('is given the same series whatever was injected, and whether anything was', async () => {
    const nics: CaseRequest['faults'][] = [
      [{ fault: 'incast', tier: 'nic' }],
      [{ fault: 'slow-receiver', tier: 'nic' }],
      [{ fault: 'pause-storm', tier: 'nic' }],
    ];
    for (const faults of nics) {
      const drill = await runCase({ faults, seed: SEEDS[0] });
      const calm = await runCase({ faults, seed: SEEDS[0], leftOut: [0] });
      expect(series(drill)).toEqual(series(calm));
      expect(diagnose(calm).culprits).toEqual([]);
    }
  }, 300_000);
});
