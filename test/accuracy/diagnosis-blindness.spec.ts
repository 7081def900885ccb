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
import { runCase } from './diagnosis-cases.js';
import type { CaseRequest, DiagnosisCase } from './diagnosis-cases.js';

const SEED = 761;
const CASES: readonly CaseRequest['faults'][] = [
  [{ fault: 'incast', tier: 'nic' }],
  [{ fault: 'slow-receiver', tier: 'nic' }],
  [{ fault: 'pause-storm', tier: 'nic' }],
  [{ fault: 'elephants', tier: 'leaf' }],
  [{ fault: 'polarised', tier: 'fabric' }],
  [{ fault: 'ecn-early', tier: 'switch' }],
  [{ fault: 'pfc-off', tier: 'switch' }],
];
/** A slow receiver that limits its job; at the other seed it does not. */
const seedOf = (fault: string): number => (fault === 'slow-receiver' ? 1 : SEED);
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

describe('the diagnosis of congestion', () => {
  it.each(named)(
    'does not read the truth, nor names: %s',
    async (fault, faults) => {
      const drill = await runCase({ faults, seed: seedOf(fault) });
      const verdict = diagnose(drill);
      expect(verdict.culprits.length).toBeGreaterThan(0);
      const swapped: DiagnosisCase = { ...drill, truth: [] };
      expect(JSON.stringify(diagnose(swapped))).toBe(JSON.stringify(verdict));

      const { devices } = drill.topology;
      const others = new Prng(SEED).shuffle(
        devices.map((device) => `node-${String.fromCharCode(97 + (device.index % 26))}${device.index}`),
      );
      const { input, rename } = renameDevices(drill, others);
      const renamed = diagnose(input);
      expect(figures(renamed)).toEqual(figures(verdict));
      expect(elements(renamed)).toEqual(
        elements(verdict).map((id) => (/^(port|nic|queue|device|link):/.test(id) ? rename(id) : id)),
      );
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
      const drill = await runCase({ faults, seed: SEED });
      const calm = await runCase({ faults, seed: SEED, leftOut: [0] });
      expect(series(drill)).toEqual(series(calm));
      expect(diagnose(calm).culprits).toEqual([]);
    }
  }, 300_000);
});
