/**
 * Laws of the simulated fabric as a whole: repeatable, conserving, and blind to what is not its business.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EvidenceIndex, type Evidence } from '../model/telemetry/series.js';
import type { Topology } from '../model/topology/model.js';
import {
  bytesOf,
  samplesOf,
  simulatedFabric,
  twoJobs,
  valueAt,
  type Impairment,
  type SimulatedFabric,
} from '../../test/support/simulated-fabric.js';

/** No sampling spread, so that all counters of an instant are read together. */
const still = { pollSpread: '0s', noise: 0 };

async function drill(
  fabric: SimulatedFabric,
  faults: { impairment: Impairment; fromNs: number; toNs: number }[],
  endNs: number,
): Promise<Evidence> {
  await fabric.startJobs();
  const actions = faults
    .flatMap(({ impairment, fromNs, toNs }, index) => [
      { timeNs: fromNs, act: () => fabric.apply(`fault/${index}`, impairment) },
      { timeNs: toNs, act: () => fabric.revert(`fault/${index}`, impairment, {}) },
    ])
    .sort((a, b) => a.timeNs - b.timeNs);
  for (const { timeNs, act } of actions) {
    await fabric.advance(timeNs);
    await act();
  }
  await fabric.advance(endNs);
  return fabric.observe({ fromNs: 0, toNs: endNs });
}

const uplinkCut: Impairment = { type: 'link-cut', link: 'link:leaf-1/p17--spine-1/p1' };
const cutFrom2To4 = [{ impairment: uplinkCut, fromNs: 2e9, toNs: 4e9 }];

describe('same seed, same bytes', () => {
  it('gives byte-identical evidence for the same seed and calls', async () => {
    const [first, second] = await Promise.all(
      [1, 2].map(() => drill(simulatedFabric(twoJobs, 7), cutFrom2To4, 6e9)),
    );
    expect(bytesOf(first).equals(bytesOf(second))).toBe(true);
  });

  it('does not depend on the size of the steps in which time is advanced', async () => {
    const whole = await drill(simulatedFabric(twoJobs, 7), cutFrom2To4, 6e9);
    const fabric = simulatedFabric(twoJobs, 7);
    await fabric.startJobs();
    for (let timeNs = 0; timeNs < 2e9; timeNs += 0.37e9) await fabric.advance(timeNs);
    await fabric.advance(2e9);
    await fabric.apply('x', uplinkCut);
    for (let timeNs = 2e9; timeNs < 4e9; timeNs += 0.11e9) await fabric.advance(timeNs);
    await fabric.advance(4e9);
    await fabric.revert('x', uplinkCut, {});
    await fabric.advance(6e9);
    const pieces = await fabric.observe({ fromNs: 0, toNs: 6e9 });
    expect(bytesOf(pieces).equals(bytesOf(whole))).toBe(true);
  });

  it('draws other paths for another seed', async () => {
    const [first, second] = await Promise.all(
      [7, 8].map((seed) => drill(simulatedFabric(twoJobs, seed), [], 2e9)),
    );
    expect(bytesOf(first).equals(bytesOf(second))).toBe(false);
  });
});

describe('the set of series', () => {
  it('is the same with a fault, with another and with none', async () => {
    const names = (evidence: Evidence): string[] =>
      evidence.series.map(({ metric, element }) => `${metric} ${element}`);
    const none = await drill(simulatedFabric(twoJobs), [], 1e9);
    const spine: Impairment = { type: 'node-down', device: 'device:spine-2' };
    const hole: Impairment = {
      type: 'blackhole',
      link: 'link:host-1/nic-0--leaf-1/p1',
      fromPort: 'port:leaf-1/p1',
    };
    for (const impairment of [uplinkCut, spine, hole]) {
      const faulty = await drill(simulatedFabric(twoJobs), [{ impairment, fromNs: 3e8, toNs: 6e8 }], 1e9);
      expect(names(faulty)).toEqual(names(none));
    }
    expect(new Set(names(none)).size).toBe(none.series.length);
  });
});

describe('conservation of bytes', () => {
  const last = (evidence: Evidence): ((metric: string, element: string) => number) => {
    const index = new EvidenceIndex(evidence);
    return (metric, element) => index.get(metric, element)!.values.at(-1)!;
  };

  it('holds on every link and switch of a healthy fabric', async () => {
    const fabric = simulatedFabric({ ...twoJobs, telemetry: still });
    const { topology } = fabric.describe();
    const value = last(await drill(fabric, [], 3e9));
    const differences = topology.links.flatMap(({ portA, portB }) => {
      const [a, b] = [portA, portB].map((port) => `port:${topology.ports[port].name}`);
      return [
        value('port_tx_bytes', a) - value('port_rx_bytes', b),
        value('port_tx_bytes', b) - value('port_rx_bytes', a),
      ];
    });
    expect(differences.filter((difference) => difference !== 0)).toEqual([]);
    for (const device of topology.devices.filter(({ role }) => role === 'switch')) {
      const ports = device.ports.map((port) => `port:${topology.ports[port].name}`);
      const sum = (metric: string): number => ports.reduce((total, port) => total + value(metric, port), 0);
      const waiting = device.ports.reduce(
        (total, port) => total + value('queue_depth_bytes', `queue:${topology.ports[port].name}/3`),
        0,
      );
      // Each figure is rounded down by less than one byte.
      expect(Math.abs(sum('port_tx_bytes') + waiting - sum('port_rx_bytes'))).toBeLessThan(2 * ports.length);
      expect(sum('port_tx_bytes')).toBeGreaterThan(1e9);
    }
    expect(value('edge_tx_bytes', 'edge:llm-a/0-8')).toBeGreaterThan(1e9);
  });

  it('holds on every link that no fault touches, whatever fails elsewhere', async () => {
    const { topology } = simulatedFabric(twoJobs).describe();
    await fc.assert(
      fc.asyncProperty(fc.array(faultArbitrary(topology), { minLength: 1, maxLength: 4 }), async (faults) => {
        const fabric = simulatedFabric({ ...twoJobs, telemetry: still });
        const value = last(await drill(fabric, faults, 4e9));
        const hurt = new Set(faults.flatMap(({ impairment }) => linksHurt(topology, impairment)));
        const wrong = topology.links
          .filter(({ id }) => !hurt.has(id))
          .flatMap(({ id, portA, portB }) => {
            const [a, b] = [portA, portB].map((port) => `port:${topology.ports[port].name}`);
            const there = value('port_tx_bytes', a) - value('port_rx_bytes', b);
            const back = value('port_tx_bytes', b) - value('port_rx_bytes', a);
            return there === 0 && back === 0 ? [] : [id];
          });
        expect(wrong).toEqual([]);
      }),
      { numRuns: 12 },
    );
  }, 120_000);
});

function linksHurt(topology: Topology, impairment: Impairment): string[] {
  if ('link' in impairment) return [impairment.link];
  if (impairment.type !== 'node-down') return [];
  const device = topology.devices.find(({ name }) => `device:${name}` === impairment.device)!;
  return device.ports.map((port) => topology.links[topology.ports[port].link].id);
}

function faultArbitrary(
  topology: Topology,
): fc.Arbitrary<{ impairment: Impairment; fromNs: number; toNs: number }> {
  const link = fc.constantFrom(...topology.links);
  const impairment = fc.oneof(
    link.map(({ id }): Impairment => ({ type: 'link-cut', link: id })),
    link.map(({ id, portA }): Impairment => ({
      type: 'blackhole',
      link: id,
      fromPort: `port:${topology.ports[portA].name}`,
    })),
    link.map(({ id, portB }): Impairment => ({
      type: 'link-admin-down',
      link: id,
      port: `port:${topology.ports[portB].name}`,
    })),
    fc
      .constantFrom(...topology.devices)
      .map(({ name }): Impairment => ({ type: 'node-down', device: `device:${name}` })),
  );
  return fc
    .record({
      impairment,
      fromNs: fc.integer({ min: 1e8, max: 1.5e9 }),
      lengthNs: fc.integer({ min: 1, max: 1.5e9 }),
    })
    .map(({ impairment: drawn, fromNs, lengthNs }) => ({
      impairment: drawn,
      fromNs,
      toNs: fromNs + lengthNs,
    }));
}

describe('a cut uplink', () => {
  it('moves its bytes to the siblings and back, slows the job that used it and no other', async () => {
    const fabric = simulatedFabric({ ...twoJobs, telemetry: still });
    expect(await fabric.jobsCrossing(uplinkCut.link)).toEqual(['llm-a']);
    const evidence = await drill(fabric, [{ impairment: uplinkCut, fromNs: 3e9, toNs: 9e9 }], 16e9);
    const rate = (port: string, fromS: number, toS: number): number =>
      (valueAt(evidence, 'port_tx_bytes', `port:${port}`, toS * 1e9) -
        valueAt(evidence, 'port_tx_bytes', `port:${port}`, fromS * 1e9)) /
      (toS - fromS);
    const uplinks = ['leaf-1/p17', 'leaf-1/p18', 'leaf-1/p19', 'leaf-1/p20'];
    const before = uplinks.map((port) => rate(port, 0, 3));
    const during = uplinks.map((port) => rate(port, 4, 9));
    const after = uplinks.map((port) => rate(port, 12, 16));
    expect(during[0]).toBe(0);
    expect(after[0]).toBeGreaterThan(0.8 * before[0]);
    const siblings = (rates: number[]): number => rates.slice(1).reduce((sum, one) => sum + one, 0);
    expect(siblings(during)).toBeGreaterThan(siblings(before) * 1.05);
    const stepTimes = (job: string): Set<number> =>
      new Set(
        samplesOf(evidence, 'job_step_time_s', `job:${job}`).map(([, seconds]) => Number(seconds.toFixed(9))),
      );
    expect(stepTimes('llm-b').size).toBe(1);
    expect(stepTimes('llm-a').size).toBeGreaterThan(1);
    // Nothing of the fault is left in the step time once the link is back in use.
    expect(samplesOf(evidence, 'job_step_time_s', 'job:llm-a').at(-1)![1]).toBeCloseTo(
      samplesOf(evidence, 'job_step_time_s', 'job:llm-a')[0][1],
      9,
    );
  });
});
