/**
 * Each perturbation by itself: it changes what it is to change, never what was recorded, and the same seed gives the same.
 */
import { describe, expect, it } from '@jest/globals';
import { diagnose } from '../../../src/diagnosis/index.js';
import type { DiagnosisInput } from '../../../src/diagnosis/index.js';
import { createSimulatedFabric } from '../../../src/drivers/simulated/create-simulated-fabric.js';
import { fabricSpecSchema } from '../../../src/fabric-api/definition.js';
import type { Evidence } from '../../../src/model/telemetry/series.js';
import { BLINKERS, HARMLESS } from './index.js';

/** One host is spare, so that some links carry nothing. */
async function recorded(): Promise<DiagnosisInput> {
  const spec = fabricSpecSchema.parse({
    topology: {
      builder: 'rail-optimised',
      hosts: 4,
      gpusPerHost: 2,
      segments: 2,
      spines: 2,
      linksPerSpine: 1,
    },
    jobs: [
      {
        name: 'llm',
        hosts: ['host-1', 'host-2', 'host-3'],
        parallelism: { tensor: 2 },
        step: {
          compute: '300ms',
          collectives: [{ collective: 'all-reduce' as const, bytes: '2GB', parallelism: 'data' as const }],
        },
      },
    ],
  });
  const fabric = createSimulatedFabric({ name: 'recorded', spec }, 7);
  await fabric.startJobs();
  await fabric.advance(24e9);
  const { topology, jobs } = fabric.describe();
  const evidence = await fabric.observe({ fromNs: 0, toNs: 24e9 });
  await fabric.close();
  return { topology, jobs, evidence };
}

/** A figure that another sample anywhere changes. */
function sumOf({ series }: Evidence): number {
  let sum = series.length;
  for (const { timesNs, values } of series) {
    for (let at = 0; at < timesNs.length; at++) {
      sum = (sum * 31 + timesNs[at] + (Number.isNaN(values[at]) ? 1 : 7 * values[at])) % 1e9;
    }
  }
  return sum;
}

const world = recorded();

describe('perturbations of evidence', () => {
  it.each([...HARMLESS, ...BLINKERS].map((one) => [one.name, one] as const))(
    '%s changes what is seen and not what was recorded; the same seed gives the same, times rise',
    async (_, perturbation) => {
      const input = await world;
      const before = sumOf(input.evidence);
      const [first, again] = [1, 1].map((seed) => perturbation.apply(input, seed));
      expect(first === null).toBe(again === null);
      if (first === null || again === null) return;
      expect(sumOf(input.evidence)).toBe(before);
      expect(sumOf(first.evidence)).toBe(sumOf(again.evidence));
      const seen = [1, 2, 3].map((seed) =>
        sumOf(perturbation.apply(input, seed)?.evidence ?? input.evidence),
      );
      expect(seen.some((one) => one !== before)).toBe(true);
      const falls = first.evidence.series.filter(({ timesNs }) =>
        timesNs.some((timeNs, at) => at > 0 && timeNs <= timesNs[at - 1]),
      );
      expect(falls).toEqual([]);
    },
  );

  it.each(HARMLESS.map((one) => [one.name, one] as const))(
    '%s is nobody to be named on a healthy fabric, but for what is in trouble by it',
    async (_, perturbation) => {
      const input = await world;
      for (const seed of [1, 2]) {
        const perturbed = perturbation.apply(input, seed);
        if (perturbed === null) continue;
        const { culprits } = diagnose({ ...input, evidence: perturbed.evidence });
        const alarms = culprits.filter(({ element }) => !(perturbed.troubled ?? []).includes(element.id));
        expect(alarms).toEqual([]);
      }
    },
  );
});
