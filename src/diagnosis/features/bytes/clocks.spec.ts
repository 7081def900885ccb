import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { elementName } from '../../../core/elements.js';
import { Prng } from '../../../core/prng.js';
import { seriesWith } from '../../../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../../../model/topology/topology-spec.js';
import { diagnose } from '../../index.js';
import type { DiagnosisInput } from '../../index.js';
import { Scenario } from '../../testing/scenario.js';
import type { Trouble } from '../../testing/scenario.js';
import { fitClocks } from './clock-fit.js';
import { alignedContext } from './clocks.js';
import type { Column } from '../../series/samples.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 }),
);
const scene = (troubles: readonly Trouble[] = []): DiagnosisInput =>
  new Scenario(topology, [], troubles).input();

/** Every device stamps what it says by a clock of its own, up to half a second off. */
function clocksOff(input: DiagnosisInput, offsetsNs: ReadonlyMap<string, number>): DiagnosisInput {
  const series = input.evidence.series.map((one) => {
    const offsetNs = offsetsNs.get(elementName(one.element).split('/')[0]) ?? 0;
    const kept = [...one.timesNs.keys()].filter((at) => one.timesNs[at] + offsetNs >= 0);
    return seriesWith(one, {
      timesNs: Float64Array.from(kept, (at) => one.timesNs[at] + offsetNs),
      values: Float64Array.from(kept, (at) => one.values[at]),
      quality: Uint8Array.from(kept, (at) => one.quality[at]),
    });
  });
  return { ...input, evidence: { ...input.evidence, series } };
}

function drawOffsets(seed: number): Map<string, number> {
  const random = new Prng(seed);
  return new Map(topology.devices.map(({ name }) => [name, 1e9 * (random.uniform() - 0.5)]));
}

describe('the clocks of devices', () => {
  it('are left alone where they agree', () => {
    const input = scene();
    const context = alignedContext(input);
    expect(context.clockSlackNs).toBe(0);
    expect(context.readPort('port_tx_bytes', 0)).toBe(
      input.evidence.series.find(({ metric }) => metric === 'port_tx_bytes'),
    );
  });

  it('are left alone where few links of a device doubt them', () => {
    const wide = buildTopology(
      topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 1, hostsPerLeaf: 2, gpusPerHost: 8 }),
    );
    const { devices, ports } = wide;
    const host = devices.find(({ role }) => role === 'host')!;
    const doubting = (count: number): DiagnosisInput => {
      const input = new Scenario(wide, [], []).input();
      const late = new Set(
        Array.from({ length: count }, (_, at) => `port:${ports[host.ports[(at * 4) % 7]].name}`),
      );
      const series = input.evidence.series.map((one) =>
        late.has(one.element) && one.metric.endsWith('_bytes')
          ? seriesWith(one, { timesNs: one.timesNs.map((timeNs) => timeNs + 0.4e9) })
          : one,
      );
      return { ...input, evidence: { ...input.evidence, series } };
    };
    expect(alignedContext(doubting(2)).clockSlackNs).toBe(0);
    expect(alignedContext(doubting(7)).clockSlackNs).toBeGreaterThan(0);
  });

  it('are brought to one, to less than a tenth of a second', () => {
    const context = alignedContext(clocksOff(scene(), drawOffsets(7)));
    // all were polled together, at whole seconds
    const errors = topology.devices.map(({ ports: [port] }) => {
      const { timesNs } = context.readPort('port_tx_bytes', port)!;
      const middleNs = timesNs[timesNs.length >> 1];
      return middleNs - Math.round(middleNs / 1e9) * 1e9;
    });
    expect(Math.max(...errors) - Math.min(...errors)).toBeLessThan(0.1e9);
    expect(context.clockSlackNs).toBeGreaterThan(0);
  });

  it('make no fault, and hide none', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(topology.links.length - 1), (seed, link) => {
        expect(diagnose(clocksOff(scene(), drawOffsets(seed))).culprits).toEqual([]);
        const cut = scene([{ type: 'cut', at: link, from: 20, to: 40 }]);
        const { culprits } = diagnose(clocksOff(cut, drawOffsets(seed)));
        expect(culprits.map(({ element }) => element.id)).toEqual([topology.links[link].id]);
      }),
      { numRuns: 4 },
    );
  });
});

describe('the fit of two clocks', () => {
  const column = (offsetS: number, rateAt: (second: number) => number): Column => {
    const values = [0];
    for (let second = 1; second < 30; second++) values.push(values[second - 1] + rateAt(second));
    return {
      count: values.length,
      timesNs: Float64Array.from(values, (_, second) => (second + offsetS) * 1e9),
      values: Float64Array.from(values),
    };
  };
  const bursts = (second: number): number => 1e9 * ((second * 7) % 5);

  it('finds by how much the second is ahead', () => {
    const fit = fitClocks([[column(0, bursts), column(0.4, bursts)]])!;
    expect(fit.aheadNs / 1e9).toBeCloseTo(0.4, 2);
    expect(Math.min(fit.certainty, fit.doubt)).toBeGreaterThan(0.9);
  });

  it('is not sure of anything where every poll shows the same', () => {
    const fit = fitClocks([[column(0, () => 1e9), column(0.4, () => 1e9)]])!;
    expect(fit.certainty).toBeLessThan(0.3);
  });

  it('says nothing of counters that were hardly read', () => {
    const short = { ...column(0, bursts), count: 4 };
    expect(fitClocks([[short, short]])).toBeNull();
  });
});
