import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { peerPort, type Topology } from '../model.js';
import { buildTopology, topologySchema } from '../topology-spec.js';
import { RoutingGraph } from './graph.js';
import { nodeSeeds } from './hash.js';
import { MAX_PATH_LINKS, PathTracer } from './path.js';
import { RouteTable } from './route-table.js';

const rate = '100Gbps';
const delay = '1us';
/** Three leaves in a row and a spine over two of them: links between equals, and a leaf without uplink. */
const odd = {
  builder: 'explicit',
  nodes: [
    ...['leaf-1', 'leaf-2', 'leaf-3'].map((name) => ({ role: 'switch', name })),
    { role: 'switch', name: 'spine-1' },
    ...['host-1', 'host-2', 'host-3'].map((name) => ({ role: 'host', name })),
  ],
  links: [
    ...[1, 2, 3].map((number) => ({ a: `host-${number}`, b: `leaf-${number}`, rate, delay })),
    { a: 'leaf-1', b: 'leaf-2', rate, delay },
    { a: 'leaf-2', b: 'leaf-3', rate, delay },
    { a: 'leaf-1', b: 'spine-1', rate, delay },
    { a: 'leaf-2', b: 'spine-1', rate, delay },
  ],
};
/** A core with a way down by leaf-2, which itself must go across: the core may only take the way by spine-1. */
const skipping = {
  builder: 'explicit',
  nodes: [
    ...['leaf-1', 'leaf-2', 'leaf-3'].map((name) => ({ role: 'switch', name, tier: 'leaf' })),
    { role: 'switch', name: 'spine-1', tier: 'spine' },
    { role: 'switch', name: 'core-1', tier: 'core' },
    ...['host-1', 'host-2', 'host-3'].map((name) => ({ role: 'host', name })),
  ],
  links: [
    ...[1, 2, 3].map((number) => ({ a: `host-${number}`, b: `leaf-${number}`, rate, delay })),
    { a: 'leaf-1', b: 'leaf-2', rate, delay },
    { a: 'leaf-1', b: 'spine-1', rate, delay },
    { a: 'spine-1', b: 'core-1', rate, delay },
    { a: 'leaf-2', b: 'core-1', rate, delay },
    { a: 'leaf-3', b: 'core-1', rate, delay },
  ],
};
const fabrics = [
  { builder: 'fat-tree', k: 4 },
  { builder: 'leaf-spine', leaves: 3, spines: 2, hostsPerLeaf: 2, linksPerSpine: 2 },
  { builder: 'dual-tor-dual-plane', hosts: 4, segments: 2, gpusPerHost: 2, spinesPerPlane: 2 },
  odd,
  skipping,
].map((source) => buildTopology(topologySchema.parse(source)));

const UP = 0;
const FLAT = 1;
const DOWN = 2;

/** Whether a path up, then across, then down exists over links that are up: a search of its own over node × phase. */
function pathExists(
  topology: Topology,
  isDown: ReadonlySet<number>,
  source: number,
  destination: number,
): boolean {
  const { devices, nics, ports } = topology;
  const usable = (port: number): boolean => !isDown.has(ports[port].link);
  const ends = new Set(
    nics[destination].ports.filter(usable).map((port) => ports[peerPort(topology, port)].device),
  );
  const queue = nics[source].ports
    .filter(usable)
    .map((port) => ({ device: ports[peerPort(topology, port)].device, phase: UP }));
  const seen = new Set(queue.map(({ device, phase }) => 3 * device + phase));
  for (const { device, phase } of queue) {
    if (ends.has(device)) return true;
    for (const port of devices[device].ports.filter(usable)) {
      const peer = ports[peerPort(topology, port)];
      if (peer.nic >= 0) continue;
      const step = devices[peer.device].tierLevel - devices[device].tierLevel;
      const next = step > 0 ? UP : step === 0 ? FLAT : DOWN;
      if (next < phase || seen.has(3 * peer.device + next)) continue;
      seen.add(3 * peer.device + next);
      queue.push({ device: peer.device, phase: next });
    }
  }
  return false;
}

describe('routes under any set of failures', () => {
  it('lead to the destination exactly when an up/down path exists, over links that are up, without a loop', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...fabrics),
        fc.array(fc.nat(), { maxLength: 14 }),
        fc.nat(),
        (topology, draws, seed) => {
          const down = draws.map((draw) => draw % (2 * topology.links.length));
          const isDown = new Set(down.map((direction) => direction >> 1));
          const graph = new RoutingGraph(topology);
          const table = new RouteTable(graph, down);
          const tracer = new PathTracer(graph, nodeSeeds(graph, seed));
          const out = new Int32Array(MAX_PATH_LINKS);
          const wrong: string[] = [];
          for (let source = 0; source < topology.nics.length; source++) {
            for (let destination = 0; destination < topology.nics.length; destination++) {
              if (source === destination) continue;
              const length = tracer.trace(() => table, source, destination, 50000 + seed, out);
              const overDown = out
                .slice(0, Math.max(0, length))
                .some((direction) => isDown.has(direction >> 1));
              const expected = pathExists(topology, isDown, source, destination);
              if (length > 0 !== expected || overDown || tracer.looped) {
                wrong.push(`${source} to ${destination}: ${length} links, expected a path: ${expected}`);
              }
            }
          }
          expect(wrong).toEqual([]);
        },
      ),
      { numRuns: 120 },
    );
  });

  it('bring every next hop one link nearer, and never up again after down', () => {
    fc.assert(
      fc.property(fc.constantFrom(...fabrics), fc.array(fc.nat(), { maxLength: 14 }), (topology, draws) => {
        const graph = new RoutingGraph(topology);
        const table = new RouteTable(
          graph,
          draws.map((draw) => draw % (2 * topology.links.length)),
        );
        const level = (device: number): number => topology.devices[device].tierLevel;
        const wrong: string[] = [];
        for (const nic of topology.nics) {
          for (const device of topology.devices) {
            if (device.role === 'host' || table.distance(device.index, nic.index) <= 1) continue;
            for (const port of table.nextHopPorts(device.index, nic.index)) {
              const peer = graph.peerNode[port];
              const step = level(peer) - device.tierLevel;
              const nearer = table.distance(peer, nic.index) === table.distance(device.index, nic.index) - 1;
              const turns = table
                .nextHopPorts(peer, nic.index)
                .filter((next) => graph.peerNode[next] < topology.devices.length)
                .map((next) => level(graph.peerNode[next]) - level(peer));
              const valley = turns.some((turn) => (step < 0 && turn >= 0) || (step === 0 && turn > 0));
              if (!nearer || valley) wrong.push(`${device.name} to ${nic.name}`);
            }
          }
        }
        expect(wrong).toEqual([]);
      }),
      { numRuns: 120 },
    );
  });
});
