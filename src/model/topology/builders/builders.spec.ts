import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../../../core/problem.js';
import { peerPort, type Topology } from '../model.js';
import { RoutingGraph } from '../routing/graph.js';
import { nodeSeeds } from '../routing/hash.js';
import { MAX_PATH_LINKS, PathTracer } from '../routing/path.js';
import { RouteTable } from '../routing/route-table.js';
import { buildTopology, topologySchema } from '../topology-spec.js';

const build = (source: object): Topology => buildTopology(topologySchema.parse(source));
const size = (most: number) => fc.integer({ min: 1, max: most });

const leafSpine = fc.record({
  builder: fc.constant('leaf-spine'),
  leaves: size(5),
  spines: size(4),
  hostsPerLeaf: size(4),
  linksPerSpine: size(3),
  gpusPerHost: size(4),
});
const railOptimised = fc
  .record({ segments: size(3), hostsPerSegment: size(3), gpusPerHost: size(4), spines: size(3) })
  .map(({ hostsPerSegment, ...rest }) => ({
    builder: 'rail-optimised',
    hosts: rest.segments * hostsPerSegment,
    ...rest,
  }));
const fatTree = fc.oneof(
  fc.constantFrom(
    { builder: 'fat-tree', k: 2 },
    { builder: 'fat-tree', k: 4 },
    { builder: 'fat-tree', k: 6 },
  ),
  fc.record({
    builder: fc.constant('fat-tree'),
    pods: size(3),
    leavesPerPod: size(3),
    spinesPerPod: size(3),
    hostsPerLeaf: size(3),
    uplinksPerSpine: size(3),
  }),
);
const dualPlane = fc
  .record({ segments: size(3), hostsPerSegment: size(3), gpusPerHost: size(3), spinesPerPlane: size(3) })
  .map(({ hostsPerSegment, ...rest }) => ({
    builder: 'dual-tor-dual-plane',
    hosts: rest.segments * hostsPerSegment,
    ...rest,
  }));
const anyFabric: fc.Arbitrary<object> = fc.oneof(leafSpine, railOptimised, fatTree, dualPlane);

/** Links between two NICs by plain breadth-first search over switches, without any notion of tiers. */
function plainDistance(topology: Topology, source: number, destination: number): number {
  const reached = new Map<number, number>();
  const leavesOf = (nic: number): number[] =>
    topology.nics[nic].ports.map((port) => topology.ports[peerPort(topology, port)].device);
  const queue = leavesOf(source);
  for (const leaf of queue) reached.set(leaf, 1);
  const ends = new Set(leavesOf(destination));
  for (const device of queue) {
    const distance = reached.get(device) as number;
    if (ends.has(device)) return distance + 1;
    for (const port of topology.devices[device].ports) {
      const peer = topology.ports[peerPort(topology, port)];
      if (peer.nic >= 0 || reached.has(peer.device)) continue;
      reached.set(peer.device, distance + 1);
      queue.push(peer.device);
    }
  }
  return -1;
}

describe('every builder', () => {
  it('gives unique names, ports numbered from 1 without gaps, and links that both ends agree on', () => {
    fc.assert(
      fc.property(anyFabric, (source) => {
        const topology = build(source);
        const names = [...topology.devices, ...topology.nics].map((element) => element.name);
        expect(new Set(names).size).toBe(names.length);
        expect(new Set(topology.ports.map((port) => port.name)).size).toBe(topology.ports.length);
        expect(new Set(topology.links.map((link) => link.id)).size).toBe(topology.links.length);
        for (const device of topology.devices.filter(({ role }) => role === 'switch')) {
          const numbers = device.ports.map((port) => topology.ports[port].name);
          expect(numbers).toEqual(device.ports.map((_, index) => `${device.name}/p${index + 1}`));
        }
        for (const link of topology.links) {
          const [a, b] = [topology.ports[link.portA], topology.ports[link.portB]];
          expect([a.link, b.link]).toEqual([link.index, link.index]);
          expect(a.name < b.name).toBe(true);
          expect(link.id).toBe(`link:${a.name}--${b.name}`);
          expect(peerPort(topology, a.index)).toBe(b.index);
        }
        expect(topology.ports.map((port) => port.index)).toEqual(topology.ports.map((_, index) => index));
      }),
      { numRuns: 60 },
    );
  });

  it('builds the same bytes from the same description', () => {
    fc.assert(
      fc.property(anyFabric, (source) => {
        expect(JSON.stringify(build(source))).toBe(JSON.stringify(build(source)));
      }),
      { numRuns: 20 },
    );
  });

  it('lets every NIC reach every other by a path as short as plain breadth-first search finds', () => {
    fc.assert(
      fc.property(anyFabric, fc.nat(), fc.integer({ min: 1024, max: 65535 }), (source, seed, udpPort) => {
        const topology = build(source);
        const graph = new RoutingGraph(topology);
        const tracer = new PathTracer(graph, nodeSeeds(graph, seed));
        const table = new RouteTable(graph);
        const out = new Int32Array(MAX_PATH_LINKS);
        const wrong: string[] = [];
        for (let from = 0; from < topology.nics.length; from += 3) {
          for (let to = 0; to < topology.nics.length; to += 2) {
            if (from === to) continue;
            const length = tracer.trace(() => table, from, to, udpPort, out);
            const shortest = plainDistance(topology, from, to);
            // A bond hashes over both ports, also when the leaves behind them are not equally far.
            const dual = topology.nics[from].ports.length > 1;
            const arrived = tracer.endNode === graph.nodeOfNic(to);
            if (!arrived || (dual ? length < shortest : length !== shortest)) {
              wrong.push(
                `${topology.nics[from].name} to ${topology.nics[to].name}: ${length}, not ${shortest}`,
              );
            }
          }
        }
        expect(wrong).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('chains the directions of a path from port to port', () => {
    fc.assert(
      fc.property(anyFabric, fc.nat(), (source, seed) => {
        const topology = build(source);
        const graph = new RoutingGraph(topology);
        const tracer = new PathTracer(graph, nodeSeeds(graph, seed));
        const table = new RouteTable(graph);
        const out = new Int32Array(MAX_PATH_LINKS);
        const last = topology.nics.length - 1;
        const length = tracer.trace(() => table, 0, last, 50000, out);
        let node = graph.nodeOfNic(0);
        for (let hop = 0; hop < length; hop++) {
          const link = topology.links[out[hop] >> 1];
          const sender = out[hop] % 2 === 0 ? link.portA : link.portB;
          expect(graph.ownNode[sender]).toBe(node);
          node = graph.peerNode[sender];
        }
        expect(node).toBe(graph.nodeOfNic(last));
      }),
      { numRuns: 60 },
    );
  });
});

describe('leaf-spine', () => {
  it('numbers ports hosts first and gives GPUs their NICs', () => {
    const topology = build({
      builder: 'leaf-spine',
      leaves: 2,
      spines: 2,
      hostsPerLeaf: 2,
      gpusPerHost: 4,
      nicsPerHost: 2,
      hostRate: '100Gbps',
      fabricRate: '200Gbps',
    });
    expect(topology.links[0]).toMatchObject({
      id: 'link:host-1/nic-0--leaf-1/p1',
      rateGbps: 100,
      delayNs: 500,
      tier: 'host-leaf',
    });
    expect(topology.links.at(-1)).toMatchObject({
      id: 'link:leaf-2/p6--spine-2/p2',
      rateGbps: 200,
      tier: 'leaf-spine',
    });
    expect(topology.gpus.slice(0, 4).map(({ nic }) => topology.nics[nic].name)).toEqual([
      'host-1/nic-0',
      'host-1/nic-0',
      'host-1/nic-1',
      'host-1/nic-1',
    ]);
    expect(topology.scaleUpGbps).toBe(2880);
  });

  it('makes a single switch without scale-up network', () => {
    const topology = build({ builder: 'leaf-spine', leaves: 1, spines: 0, hostsPerLeaf: 3 });
    expect(topology.links).toHaveLength(3);
    expect(topology.scaleUpGbps).toBe(0);
  });

  it('names the islands when there is no spine', () => {
    expect(() => build({ builder: 'leaf-spine', leaves: 2, spines: 0, hostsPerLeaf: 3 })).toThrow(
      /2 islands .*host-1\/nic-0 and 2 other NICs at leaf-1; host-4\/nic-0 and 2 other NICs at leaf-2/,
    );
  });

  it('refuses more links than a switch has ports, and GPUs that do not divide among NICs', () => {
    const base = { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 4 };
    expect(() => build({ ...base, portsPerSwitch: 5 })).toThrow(/leaf-1 has 5 ports/);
    expect(() => build({ ...base, portsPerSwitch: 6 })).not.toThrow();
    expect(() => build({ ...base, gpusPerHost: 8, nicsPerHost: 3 })).toThrow(/8 GPUs of host-1 .* 3 NICs/);
    expect(() => build({ ...base, hostRate: '0Gbps' })).toThrow(/rate above 0/);
  });
});

describe('rail-optimised', () => {
  it('puts NIC g of every host of a segment on the leaf of rail g', () => {
    const topology = build({ builder: 'rail-optimised', hosts: 4, segments: 2, gpusPerHost: 4, spines: 2 });
    for (const nic of topology.nics) {
      const leaf = topology.devices[topology.ports[peerPort(topology, nic.ports[0])].device];
      expect(leaf.rail).toBe(nic.position);
      expect(leaf.pod).toBe(topology.devices[nic.host].pod);
      expect(topology.links[topology.ports[nic.ports[0]].link].rail).toBe(nic.position);
    }
    expect(topology.devices.find(({ name }) => name === 'leaf-6')).toMatchObject({
      pod: 1,
      rail: 1,
      labels: { segment: '2' },
    });
  });

  it('refuses hosts that do not divide among the segments', () => {
    expect(() => build({ builder: 'rail-optimised', hosts: 5, segments: 2, spines: 2 })).toThrow(InputError);
  });
});

describe('fat-tree', () => {
  it('has the sizes of the k-ary fat tree', () => {
    const topology = build({ builder: 'fat-tree', k: 8, portsPerSwitch: 8 });
    const tiers = topology.devices.map(({ tier }) => tier);
    expect(
      ['host', 'leaf', 'spine', 'core'].map((tier) => tiers.filter((each) => each === tier).length),
    ).toEqual([128, 32, 32, 16]);
    for (const device of topology.devices) {
      if (device.role === 'switch') expect(device.ports).toHaveLength(8);
    }
  });

  it('joins spine j of every pod at the same cores', () => {
    const topology = build({ builder: 'fat-tree', k: 4 });
    const core = topology.devices.find(({ name }) => name === 'core-3');
    const below = core?.ports.map(
      (port) => topology.devices[topology.ports[peerPort(topology, port)].device].name,
    );
    expect(below).toEqual(['spine-2', 'spine-4', 'spine-6', 'spine-8']);
  });

  it('asks for k or all sizes, and for an even k', () => {
    expect(topologySchema.safeParse({ builder: 'fat-tree', k: 5 }).success).toBe(false);
    const { error } = topologySchema.safeParse({ builder: 'fat-tree', pods: 2, leavesPerPod: 2 });
    expect(error?.issues.map((issue) => issue.path.join())).toEqual([
      'spinesPerPod',
      'hostsPerLeaf',
      'uplinksPerSpine',
    ]);
  });
});

describe('dual-tor-dual-plane', () => {
  const topology = build({
    builder: 'dual-tor-dual-plane',
    hosts: 4,
    segments: 2,
    gpusPerHost: 2,
    spinesPerPlane: 2,
  });

  it('gives each NIC a port in either plane, at leaves of its rail', () => {
    for (const nic of topology.nics) {
      const leaves = nic.ports.map(
        (port) => topology.devices[topology.ports[peerPort(topology, port)].device],
      );
      expect(leaves.map(({ plane }) => plane)).toEqual([0, 1]);
      expect(leaves.map(({ rail }) => rail)).toEqual([nic.position, nic.position]);
    }
    expect(topology.ports[topology.nics[1].ports[1]].name).toBe('host-1/nic-1/p1');
  });

  it('keeps the planes apart: no link joins a leaf and a spine of different planes', () => {
    for (const link of topology.links.filter(({ tier }) => tier === 'leaf-spine')) {
      const planes = [link.portA, link.portB].map(
        (port) => topology.devices[topology.ports[port].device].plane,
      );
      expect(planes[0]).toBe(planes[1]);
      expect(link.plane).toBe(planes[0]);
    }
  });

  it('moves a NIC to its other plane when the destination lost one', () => {
    const graph = new RoutingGraph(topology);
    const lost = topology.links.find(({ id }) => id.startsWith('link:host-4/nic-0/p0--'))?.index as number;
    const destination = topology.nics.findIndex(({ name }) => name === 'host-4/nic-0');
    const table = new RouteTable(graph, [2 * lost]);
    const first = table
      .nextHopPorts(graph.nodeOfNic(0), destination)
      .map((port) => topology.ports[port].name);
    expect(first).toEqual(['host-1/nic-0/p1']);
  });
});
