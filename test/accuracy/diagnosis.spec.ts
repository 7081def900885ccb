/**
 * The blind diagnosis over simulated runs: every fault at every tier, and controls without a fault.
 *
 * Seeds are fixed and apart from those the likelihood table was looked at with. A miss is printed with its seed.
 */
import { describe, expect, it } from '@jest/globals';
import { diagnose } from '../../src/diagnosis/index.js';
import { runCase } from './diagnosis-cases.js';
import type { DiagnosisCase } from './diagnosis-cases.js';
import { ACCURACY_FAULTS, FAULT_NAMES } from './diagnosis-faults.js';
import { floor, print, requests, tally } from './diagnosis-tally.js';

const SEEDS = [701, 702, 703, 704];
const CONTROL_SEEDS = [751, 752, 753, 754, 755, 756, 757, 758];
const FLOORS = { hard: 0.95, gray: 0.9 } as const;

describe('the blind diagnosis of simulated runs', () => {
  it.each(FAULT_NAMES)(
    'names what is hurt first, with kind, side and direction: %s',
    async (fault) => {
      const result = await tally(requests(fault, SEEDS));
      print(fault, result);
      floor(result, FLOORS[ACCURACY_FAULTS[fault].class]);
    },
    300_000,
  );

  it('names nothing where nothing failed', async () => {
    const alarms: string[] = [];
    for (const seed of CONTROL_SEEDS) {
      const verdict = diagnose(await runCase({ faults: [], seed }));
      if (verdict.culprits.length > 0) alarms.push(`seed ${seed}: ${verdict.answer}`);
    }
    expect(alarms).toEqual([]);
  }, 300_000);

  it('does not change when the truth does', async () => {
    const seed = SEEDS[0];
    const drill = await runCase({ faults: [{ fault: 'cut', tier: 'leaf-spine' }], seed });
    const other = await runCase({ faults: [{ fault: 'node', tier: 'spine' }], seed });
    const swapped: DiagnosisCase = { ...drill, truth: other.truth };
    expect(JSON.stringify(diagnose(swapped))).toBe(JSON.stringify(diagnose(drill)));
  }, 60_000);
});
