/** Which end of a link is read, which links stand in for one another, and what counts as a job's traffic. */
import { describe, expect, it } from '@jest/globals';
import { portId } from '../../core/elements.js';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import type { Topology } from '../../model/topology/model.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import {
  EvidenceWriter,
  LEAF_PORT,
  LINK,
  SIBLING_LINK,
  topology,
  truth,
} from '../testing/synthetic-drill.js';
import { carriedJobBytes, LinkTraffic, lowerPort, memberLinks, totalRate } from './link-traffic.js';

const linkOf = (id: string): number => topology.links.findIndex((link) => link.id === id);
const linkNames = (of: Topology, links: readonly number[]): string[] =>
  links.map((link) => of.links[link].id);

describe('a link', () => {
  it('is read at the end that is nearer to the hosts', () => {
    for (const { index, tier } of topology.links) {
      const { device } = topology.ports[lowerPort(topology, index)];
      expect(topology.devices[device].tier).toBe(tier === 'host-leaf' ? 'host' : 'leaf');
    }
  });

  it('of a switch stands in for the other uplinks, one of a host for the other ports of its NIC', () => {
    const uplinks = topology.links.filter(({ id }) => /leaf-1\/p\d+--spine/.test(id)).map(({ id }) => id);
    expect(uplinks).toContain(LINK);
    expect(linkNames(topology, memberLinks(topology, linkOf(LINK))).sort()).toEqual(uplinks.sort());
    const single = topology.links.find(({ tier }) => tier === 'host-leaf')!;
    expect(memberLinks(topology, single.index)).toEqual([single.index]);
    const dual = buildTopology(
      topologySchema.parse({
        builder: 'dual-tor-dual-plane',
        hosts: 2,
        gpusPerHost: 2,
        segments: 1,
        spinesPerPlane: 1,
      }),
    );
    for (const nic of dual.nics) {
      const links = nic.ports.map((port) => dual.ports[port].link);
      expect(links).toHaveLength(2);
      expect(memberLinks(dual, links[0]).sort()).toEqual([...links].sort());
    }
  });
});

/** Bytes a second, sent and received, at a port. */
function counted(port: string, sent: number, received: number | null): EvidenceWriter {
  const writer = new EvidenceWriter();
  for (let timeS = 0; timeS <= 10; timeS++) {
    writer.add('port_tx_bytes', portId(port), timeS, sent * timeS);
    if (received !== null) writer.add('port_rx_bytes', portId(port), timeS, received * timeS);
  }
  return writer;
}
const span = { fromNs: 2e9, toNs: 4e9 };

describe('traffic of a link', () => {
  const traffic = (writer: EvidenceWriter, id = LINK) =>
    new LinkTraffic(new EvidenceIndex(writer.build()), topology, linkOf(id));

  it('is what goes both ways, and unknown as soon as one counter is', () => {
    expect(traffic(counted(LEAF_PORT, 3e9, 4e9)).rate(span)).toBeCloseTo(7, 9);
    expect(traffic(counted(LEAF_PORT, 3e9, null)).rate(span)).toBeNull();
    const known = traffic(counted(LEAF_PORT, 3e9, 4e9));
    expect(totalRate([known, known], span)).toBeCloseTo(14, 9);
    expect(totalRate([known, traffic(counted(LEAF_PORT, 3e9, 4e9), SIBLING_LINK)], span)).toBeNull();
  });

  it('is a job’s from a ten-thousandth of the link on', () => {
    const carried = (sent: number, received: number | null, injectedS = 5) =>
      carriedJobBytes(
        new EvidenceIndex(counted(LEAF_PORT, sent, received).build()),
        topology,
        [truth],
        injectedS * 1e9,
      );
    // 100 Gbps are 12.5 GB/s
    expect([carried(1.2e6, 0), carried(1.26e6, 0), carried(0, 1.26e6)]).toEqual([false, true, true]);
    expect(carried(1e9, null)).toBeNull();
    // no interval was over before the injection
    expect(carried(1e9, 1e9, 0.5)).toBeNull();
  });
});
