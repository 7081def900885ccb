import { describe, expect, it } from '@jest/globals';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import { diagnose } from '../index.js';
import { Scenario, withoutSamples } from '../testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 3, hostsPerLeaf: 2, gpusPerHost: 4 }),
);
const host = topology.devices.find(({ name }) => name === 'host-3')!;
const own = topology.nics.filter((nic) => nic.host === host.index).map(({ index }) => index);
const scene = (nics: readonly number[]) =>
  new Scenario(
    topology,
    [],
    nics.map((at) => ({ type: 'slow-host' as const, at, from: 20, to: 40 })),
  ).input();

describe('a NIC that waits for its host', () => {
  it('is named, and not its link, whose speed never changed', () => {
    const { culprits, answer } = diagnose(scene(own.slice(1, 2)));
    expect(culprits).toHaveLength(1);
    expect(culprits[0]).toMatchObject({
      kind: 'speed-downgrade',
      element: { type: 'nic', id: 'nic:host-3/nic-1' },
      side: 'host',
      direction: 'both',
    });
    expect(Math.abs((culprits[0].onset_s ?? NaN) - 20)).toBeLessThanOrEqual(1);
    expect(answer).toMatch(/PCIe slot/);
  });

  it('is told from its own stalls where nobody counted pauses, and not from pauses alone', () => {
    const input = scene(own.slice(1, 2));
    const named = (without: string) =>
      diagnose(withoutSamples(input, ({ metric }) => !metric.includes(without))).culprits.map(
        ({ element }) => element.id,
      );
    expect(named('pause')).toEqual(['nic:host-3/nic-1']);
    expect(named('stalled')).toEqual([]);
  });

  it('together with all others of its host is the host', () => {
    const { culprits } = diagnose(scene(own));
    expect(culprits.map(({ element }) => element.id)).toEqual(['device:host-3']);
    expect(culprits[0].side).toBe('host');
  });

  it('together with one other of its host is two NICs', () => {
    const { culprits } = diagnose(scene(own.slice(0, 2)));
    expect(culprits.map(({ element }) => element.id).sort()).toEqual([
      'nic:host-3/nic-0',
      'nic:host-3/nic-1',
    ]);
  });

  it('no more than all others do is normal', () => {
    expect(diagnose(scene(topology.nics.map(({ index }) => index))).culprits).toEqual([]);
  });
});
