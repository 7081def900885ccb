/**
 * The share of lost time that the diagnosis claims for each culprit, against the counterfactual.
 *
 * The same seed runs with both faults, with each of them alone, and without any. The time a job lost is by how much later
 * it ends the last step that both runs ended. Faults interact (a slow NIC costs nothing while a dead link stops the job), so
 * that what one adds depends on the other; its share is the mean over both orders (Shapley), and shares add up to one.
 */
import { describe, expect, it } from '@jest/globals';
import { diagnose } from '../../src/diagnosis/index.js';
import { runCase } from './diagnosis-cases.js';
import type { CaseRequest, DiagnosisCase } from './diagnosis-cases.js';
import { stepEnds } from './diagnosis-tally.js';

/** GPU time lost against the run without faults, s summed over GPUs. */
function lostGpuS(run: DiagnosisCase, calm: DiagnosisCase): number {
  return run.jobs.reduce((sum, job) => {
    const [ends, ideal] = [stepEnds(run, job.name), stepEnds(calm, job.name)];
    const last = Math.min(ends.length, ideal.length) - 1;
    return last < 0 ? sum : sum + (job.placement.length * (ends[last] - ideal[last])) / 1e9;
  }, 0);
}

interface Row {
  fault: string;
  truth: number;
  claimed: number | null;
}

async function compare(request: CaseRequest): Promise<{ lost: number; rows: Row[] }> {
  const every = request.faults.map((_, index) => index);
  const run = await runCase(request);
  const calm = await runCase({ ...request, leftOut: every });
  const lost = lostGpuS(run, calm);
  const alone: number[] = [];
  for (const index of every) {
    const others = every.filter((other) => other !== index);
    alone.push(others.length === 0 ? lost : lostGpuS(await runCase({ ...request, leftOut: others }), calm));
  }
  const { culprits } = diagnose(run);
  const rows = every.map((index): Row => {
    const rest = every.length === 1 ? 0 : alone[1 - index];
    const claimed = culprits.find(({ element }) => element.id === run.truth[index].elements[0].id);
    return {
      fault: request.faults[index].fault,
      truth: (alone[index] + lost - rest) / 2 / lost,
      claimed: claimed?.lostTimeShare ?? null,
    };
  });
  return { lost, rows };
}

/** One fault, or two. */
const CASES: CaseRequest[] = [
  { faults: [{ fault: 'cut', tier: 'host-leaf' }], seed: 731 },
  { faults: [{ fault: 'slow-gpu', tier: 'host' }], seed: 732 },
  {
    faults: [
      { fault: 'slow-gpu', tier: 'host' },
      { fault: 'one-way', tier: 'leaf-spine' },
    ],
    seed: 733,
  },
  {
    faults: [
      { fault: 'pcie', tier: 'nic' },
      { fault: 'cut', tier: 'host-leaf' },
    ],
    seed: 734,
  },
];

describe('the share of lost time', () => {
  it.each(CASES)(
    'is what the runs without the fault show: seed $seed',
    async (request) => {
      const { lost, rows } = await compare(request);
      expect(lost).toBeGreaterThan(0);
      for (const { fault, truth, claimed } of rows) {
        process.stdout.write(
          `  ${fault.padEnd(12)} lost ${lost.toFixed(0)} GPU s in all, share ${truth.toFixed(3)}, claimed ${claimed?.toFixed(3)}\n`,
        );
        expect(claimed).not.toBeNull();
        expect(Math.abs((claimed ?? NaN) - truth)).toBeLessThanOrEqual(0.1);
      }
    },
    300_000,
  );
});
