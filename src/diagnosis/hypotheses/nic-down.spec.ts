import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import { diagnose } from '../index.js';
import { Scenario } from '../testing/scenario.js';
import type { Trouble } from '../testing/scenario.js';

const dualPlane = buildTopology(
  topologySchema.parse({ builder: 'dual-tor-dual-plane', hosts: 3, gpusPerHost: 2, spinesPerPlane: 2 }),
);

const linksOf = (nic: number): number[] =>
  dualPlane.nics[nic].ports.map((port) => dualPlane.ports[port].link);
const cut = (at: number, from: number, to = from + 15): Trouble => ({ type: 'cut', at, from, to });
const named = (troubles: Trouble[]): string[] =>
  diagnose(new Scenario(dualPlane, [], troubles).input())
    .culprits.map((culprit) => culprit.element.id)
    .sort();

describe('a NIC with two ports', () => {
  it('that loses both at once is named as one', () => {
    fc.assert(
      fc.property(fc.nat(dualPlane.nics.length - 1), fc.integer({ min: 15, max: 35 }), (nic, from) => {
        const [one, other] = linksOf(nic);
        const { culprits } = diagnose(
          new Scenario(dualPlane, [], [cut(one, from), cut(other, from)]).input(),
        );
        expect(culprits).toHaveLength(1);
        expect(culprits[0]).toMatchObject({
          kind: 'link-down',
          element: { type: 'nic', id: `nic:${dualPlane.nics[nic].name}` },
          side: 'host',
          direction: 'both',
          onset_s: from,
        });
        expect(culprits[0].probability).toBeGreaterThan(0.9);
      }),
      { numRuns: 6 },
    );
  });

  it('that loses one is a dead link', () => {
    const [one] = linksOf(3);
    expect(named([cut(one, 20)])).toEqual([dualPlane.links[one].id]);
  });

  it('whose links die at different times is two dead links', () => {
    const [one, other] = linksOf(3);
    const both = [one, other].map((link) => dualPlane.links[link].id).sort();
    expect(named([cut(one, 15, 40), cut(other, 25, 45)])).toEqual(both);
  });

  it('whose switch ports were shut down is no dead NIC: that is configuration, twice', () => {
    const links = linksOf(3).map((link) => dualPlane.links[link]);
    const at = links.map(({ portA, portB }) => (dualPlane.ports[portA].nic < 0 ? portA : portB));
    const troubles = at.map((port): Trouble => ({ type: 'shut-down', at: port, from: 20, to: 40 }));
    expect(named(troubles)).toEqual(links.map(({ id }) => id).sort());
  });

  it('in a dead host is not blamed apart from the host', () => {
    const host = dualPlane.devices.find(({ name }) => name === 'host-2')!;
    expect(named([{ type: 'dead', at: host.index, from: 20, to: 40 }])).toEqual(['device:host-2']);
  });
});
