/**
 * The blind diagnosis when telemetry is bad: samples lost, N/A and stale, sensors noisy, a part of the devices mute.
 *
 * Accuracy may fall, by so much and no more; what must not happen at any quality is a culprit where there is none.
 */
import { describe, expect, it } from '@jest/globals';
import { diagnose } from '../../src/diagnosis/index.js';
import { drawnSeeds } from '../support/drawn-seeds.js';
import { runCase } from './diagnosis-cases.js';
import type { CaseRequest } from './diagnosis-cases.js';
import { ACCURACY_FAULTS, FAULT_NAMES } from './diagnosis-faults.js';
import { floor, pooled, print, requests, seedsFrom, tally } from './diagnosis-tally.js';
import type { Tally } from './diagnosis-tally.js';

const SEEDS = seedsFrom([721]);
const CONTROL_SEEDS = seedsFrom([771, 772, ...drawnSeeds('badly watched controls', 2)]);

type Quality = Pick<CaseRequest, 'telemetry' | 'mute'>;
const TENTH: Quality = { telemetry: { loss: 0.1, notAvailable: 0.05, repeated: 0.05, noise: 0.02 } };
const THIRD: Quality = { telemetry: { loss: 0.3 } };
const MUTE: Quality = { mute: 1 / 3 };

/** Every fault, at one of its tiers: now at this, now at that. */
async function all(quality: Quality): Promise<Tally> {
  const results: Tally[] = [];
  // A wrong setting shows in few polls even when all of them arrive.
  const shown = FAULT_NAMES.filter((fault) => ACCURACY_FAULTS[fault].class !== 'setting');
  for (const [index, fault] of shown.entries()) {
    const { tiers } = ACCURACY_FAULTS[fault];
    const tier = tiers[index % tiers.length];
    const cases = requests(fault, SEEDS, quality).filter(({ faults }) => faults[0].tier === tier);
    results.push(await tally(cases));
  }
  return pooled(results);
}

async function alarms(quality: Quality): Promise<string[]> {
  const found: string[] = [];
  for (const seed of CONTROL_SEEDS) {
    const verdict = diagnose(await runCase({ faults: [], seed, ...quality }));
    if (verdict.culprits.length > 0) found.push(`seed ${seed}: ${verdict.answer}`);
  }
  return found;
}

describe('the blind diagnosis of badly watched runs', () => {
  it('keeps 90 % with a fifth of the samples lost, N/A or stale', async () => {
    const result = await all(TENTH);
    print('a fifth is bad', result);
    floor(result, 0.9);
  }, 900_000);

  it('keeps 80 % with 30 % of the samples lost', async () => {
    const result = await all(THIRD);
    print('30 % lost', result);
    floor(result, 0.8, 0.75);
  }, 900_000);

  it('keeps half when a third of the devices says nothing, and accuses none of those that speak', async () => {
    const result = await all(MUTE);
    print('a third is mute', result);
    floor(result, 0.5, 0.4);
  }, 900_000);

  it.each([
    ['a fifth of the samples bad', TENTH],
    ['30 % of the samples lost', THIRD],
    ['a third of the devices mute', MUTE],
  ])(
    'names nothing where nothing failed: %s',
    async (_, quality) => {
      expect(await alarms(quality)).toEqual([]);
    },
    900_000,
  );
});
