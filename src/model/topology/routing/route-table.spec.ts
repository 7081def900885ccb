import { describe, expect, it } from '@jest/globals';
import { buildLeafSpine, leafSpineSchema } from '../builders/leaf-spine.js';
import type { Topology } from '../model.js';
import { addressOf, RoutingGraph } from './graph.js';
import { nodeSeeds } from './hash.js';
import { nextHopCounts } from './next-hop-counts.js';
import { MAX_PATH_LINKS, PathTracer } from './path.js';
import { RouteTable } from './route-table.js';

const small = (): Topology =>
  buildLeafSpine(
    leafSpineSchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 2, hostsPerLeaf: 2, linksPerSpine: 2 }),
  );
const linkBetween = (topology: Topology, a: string, b: string, which = 0): number =>
  topology.links.filter((link) => {
    const ends = [link.portA, link.portB].map((port) => topology.devices[topology.ports[port].device].name);
    return ends.includes(a) && ends.includes(b);
  })[which].index;
const deviceNamed = (topology: Topology, name: string): number =>
  topology.devices.findIndex((device) => device.name === name);
const portNames = (topology: Topology, ports: readonly number[]): string[] =>
  ports.map((port) => topology.ports[port].name);

describe('route table', () => {
  const topology = small();
  const graph = new RoutingGraph(topology);
  const leaf1 = deviceNamed(topology, 'leaf-1');
  const leaf3 = deviceNamed(topology, 'leaf-3');
  const spine1 = deviceNamed(topology, 'spine-1');
  const farNic = 4;

  it('offers every shortest way and no other', () => {
    const table = new RouteTable(graph);
    expect(portNames(topology, table.nextHopPorts(leaf1, farNic))).toEqual([
      'leaf-1/p3',
      'leaf-1/p4',
      'leaf-1/p5',
      'leaf-1/p6',
    ]);
    expect(portNames(topology, table.nextHopPorts(spine1, farNic))).toEqual(['spine-1/p5', 'spine-1/p6']);
    expect(portNames(topology, table.nextHopPorts(leaf3, farNic))).toEqual(['leaf-3/p1']);
    expect(portNames(topology, table.nextHopPorts(graph.nodeOfNic(0), farNic))).toEqual(['host-1/nic-0']);
    expect([leaf1, spine1, leaf3].map((device) => table.distance(device, farNic))).toEqual([3, 2, 1]);
  });

  it('does not use a link with either direction down', () => {
    const link = linkBetween(topology, 'leaf-1', 'spine-1');
    for (const direction of [2 * link, 2 * link + 1]) {
      const table = new RouteTable(graph, [direction]);
      expect(portNames(topology, table.nextHopPorts(leaf1, farNic))).toEqual([
        'leaf-1/p4',
        'leaf-1/p5',
        'leaf-1/p6',
      ]);
    }
  });

  it('withdraws a spine that lost the destination leaf from all other leaves', () => {
    const down = [0, 1].map((which) => 2 * linkBetween(topology, 'leaf-3', 'spine-1', which));
    const table = new RouteTable(graph, down);
    expect(portNames(topology, table.nextHopPorts(leaf1, farNic))).toEqual(['leaf-1/p5', 'leaf-1/p6']);
    expect(table.nextHopPorts(spine1, farNic)).toEqual([]);
    expect(table.distance(spine1, farNic)).toBe(0);
  });

  it('never makes a valley through a leaf, even when that is the only way', () => {
    const down = [
      ...[0, 1].map((which) => 2 * linkBetween(topology, 'leaf-1', 'spine-1', which)),
      ...[0, 1].map((which) => 2 * linkBetween(topology, 'leaf-3', 'spine-2', which)),
    ];
    const table = new RouteTable(graph, down);
    expect(table.nextHopPorts(leaf1, farNic)).toEqual([]);
    expect(table.nextHopPorts(graph.nodeOfNic(0), farNic)).toEqual([]);
  });

  it('has no route to a NIC whose own link is down', () => {
    const table = new RouteTable(graph, [2 * linkBetween(topology, 'host-5', 'leaf-3')]);
    expect(table.nextHopPorts(leaf1, 4)).toEqual([]);
    expect(table.nextHopPorts(leaf3, 4)).toEqual([]);
    expect(table.nextHopPorts(leaf3, 5)).toHaveLength(1);
  });
});

describe('next-hop counts', () => {
  const topology = small();
  const graph = new RoutingGraph(topology);

  it('equal the sum of the group sizes over all destination NICs', () => {
    const down = [
      2 * linkBetween(topology, 'leaf-2', 'spine-1'),
      2 * linkBetween(topology, 'host-1', 'leaf-1'),
    ];
    for (const table of [new RouteTable(graph), new RouteTable(graph, down)]) {
      const { nextHops, portPrefixes } = nextHopCounts(table);
      const expectedPorts = new Array<number>(topology.ports.length).fill(0);
      for (const device of topology.devices) {
        let expected = 0;
        if (device.role === 'switch') {
          for (const nic of topology.nics) {
            for (const port of table.nextHopPorts(device.index, nic.index)) {
              expected++;
              expectedPorts[port]++;
            }
          }
        }
        expect(nextHops[device.index]).toBe(expected);
      }
      expect([...portPrefixes]).toEqual(expectedPorts);
    }
  });
});

describe('path', () => {
  const topology = small();
  const graph = new RoutingGraph(topology);
  const seeds = nodeSeeds(graph, 7);
  const tracer = new PathTracer(graph, seeds);
  const healthy = new RouteTable(graph);
  const out = new Int32Array(MAX_PATH_LINKS);

  it('is the same for the same five-tuple and covers all members over many', () => {
    const uplinks = new Set<number>();
    for (let port = 50000; port < 50064; port++) {
      expect(tracer.trace(() => healthy, 0, 4, port, out)).toBe(4);
      const first = [...out.slice(0, 4)];
      tracer.trace(() => healthy, 0, 4, port, out);
      expect([...out.slice(0, 4)]).toEqual(first);
      uplinks.add(out[1]);
    }
    expect(uplinks.size).toBe(4);
  });

  it('is empty between a NIC and itself', () => {
    expect(tracer.trace(() => healthy, 3, 3, 50000, out)).toBe(0);
    expect(tracer.endNode).toBe(graph.nodeOfNic(3));
  });

  it('ends at the node that has no next hop, each node going by its own table', () => {
    const broken = new RouteTable(
      graph,
      [0, 1].map((which) => 2 * linkBetween(topology, 'leaf-3', 'spine-1', which)),
    );
    const spine1 = deviceNamed(topology, 'spine-1');
    const ends = new Set<number>();
    for (let port = 50000; port < 50032; port++) {
      const length = tracer.trace((node) => (node === spine1 ? broken : healthy), 0, 4, port, out);
      ends.add(tracer.endNode);
      if (length < 0)
        expect(graph.peerNode[graph.linkOfPort.findIndex((_, p) => graph.direction[p] === out[1])]).toBe(
          spine1,
        );
    }
    expect(ends).toEqual(new Set([spine1, graph.nodeOfNic(4)]));
    expect(tracer.looped).toBe(false);
  });

  it('ends by TTL when two nodes hand the packet to each other', () => {
    const otherLeaf = 2;
    const toSpine = new RouteTable(graph);
    // leaf-3 believes that the NIC hangs on leaf-1: it sends back up what spines send down.
    const moved = new (class extends RouteTable {
      override groupSize(device: number): number {
        return super.groupSize(device, otherLeaf);
      }
      override groupPort(device: number, _destination: number, member: number): number {
        return super.groupPort(device, otherLeaf, member);
      }
    })(graph);
    const leaf3 = deviceNamed(topology, 'leaf-3');
    const length = tracer.trace((node) => (node === leaf3 ? moved : toSpine), 0, 4, 50001, out);
    expect(length).toBe(-1);
    expect(tracer.looped).toBe(true);
  });

  it('uses addresses that show host and NIC', () => {
    expect(addressOf(graph, 0)).toBe('10.0.0.1');
    expect(addressOf(graph, 5)).toBe('10.0.5.1');
  });
});
