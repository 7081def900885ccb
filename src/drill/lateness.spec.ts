import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fabric, KeepsTime } from '../fabric-api/fabric.js';
import type { TruthEntry } from '../faults/ground-truth.js';
import { FakeFabric, LINKS, planOfCuts } from './testing/fake-fabric.js';
import { runDrill } from './walk.js';

/** A fabric whose clock nobody drives, and that takes its time to do what it is told. */
function slowFabric(applyMs: number, revertMs: number): Fabric & KeepsTime {
  const inner = new FakeFabric(() => undefined);
  const startMs = performance.now();
  return {
    describe: () => inner.describe(),
    readBack: (impairment) => inner.readBack(impairment),
    apply: async (id, impairment) => {
      await sleep(applyMs);
      await inner.apply(id, impairment);
    },
    revert: async (id, impairment, saved) => {
      await inner.revert(id, impairment, saved);
      await sleep(revertMs);
    },
    observe: (window) => inner.observe(window),
    close: () => inner.close(),
    clockNs: () => Math.round((performance.now() - startMs) * 1e6),
  };
}

describe('truth on a fabric that keeps its own time', () => {
  it('has the times at which the fault was in place and its undo was told', async () => {
    const plan = planOfCuts([{ link: LINKS[0], fromS: 0.1, toS: 0.6 }]);
    plan.durationNs = 0.7e9;
    plan.faults[0].truth = [
      {
        kind: 'link-down',
        elements: [{ type: 'link', id: LINKS[0] }],
        side: 'cable',
        direction: 'both',
        fromNs: 0,
        toNs: 0.5e9,
      },
    ];
    const told: TruthEntry[] = [];
    let injectedNs: number | null = null;
    let revertedNs: number | null = null;
    await runDrill({
      plan,
      fabric: slowFabric(200, 150),
      objectives: [],
      signal: new AbortController().signal,
      journal: {
        intend: async () => undefined,
        applied: async () => undefined,
        verified: async () => undefined,
        failed: async () => undefined,
      },
      hooks: {
        state: async () => undefined,
        progress: () => undefined,
        evidence: async () => undefined,
        verdict: async () => undefined,
        truth: async (truth, record) => {
          told.push(...truth);
          ({ injectedNs, revertedNs } = record);
        },
      },
    });
    const [{ fromNs, toNs }] = told;
    expect(fromNs).toBeGreaterThanOrEqual(0.299e9);
    expect(toNs).toBeGreaterThanOrEqual(0.6e9);
    expect(injectedNs).toBe(fromNs);
    expect(revertedNs).toBe(toNs);
  });
});
