import { describe, expect, it } from '@jest/globals';
import { lagMembers, lagOf } from './lag.js';
import { buildTopology, topologySchema } from './topology-spec.js';

const build = (spec: object) => buildTopology(topologySchema.parse(spec));
const ids = (topology: ReturnType<typeof build>, links: Iterable<number>): string[] =>
  [...links].map((index) => topology.links[index].id);

describe('links that can be members of a LAG', () => {
  it('are the parallel ones between two switches, and no host link of a NIC with one port', () => {
    const topology = build({
      builder: 'leaf-spine',
      leaves: 2,
      spines: 2,
      linksPerSpine: 3,
      hostsPerLeaf: 2,
      gpusPerHost: 1,
    });
    const fabric = topology.links.filter(({ tier }) => tier === 'leaf-spine');
    expect([...lagMembers(topology)].sort((a, b) => a - b)).toEqual(fabric.map(({ index }) => index));
    for (const { index, id } of fabric) {
      const group = ids(topology, lagOf(topology, index));
      expect(group).toHaveLength(3);
      expect(group).toContain(id);
      const ends = (link: string): string => link.replaceAll(/\/p\d+/g, '');
      expect(new Set(group.map(ends)).size).toBe(1);
    }
    const [host] = topology.links.filter(({ tier }) => tier === 'host-leaf');
    expect(lagOf(topology, host.index)).toEqual([host.index]);
  });

  it('are the two links of each NIC of a dual-ToR fabric, and there no other', () => {
    const topology = build({ builder: 'dual-tor-dual-plane', hosts: 2, gpusPerHost: 2, spinesPerPlane: 2 });
    const host = topology.links.filter(({ tier }) => tier === 'host-leaf');
    expect([...lagMembers(topology)].sort((a, b) => a - b)).toEqual(host.map(({ index }) => index));
    const first = topology.links.find(({ id }) => id.includes('host-1/nic-1/p0'))!;
    expect(ids(topology, lagOf(topology, first.index)).map((id) => id.split('--')[0])).toEqual([
      'link:host-1/nic-1/p0',
      'link:host-1/nic-1/p1',
    ]);
  });
});
