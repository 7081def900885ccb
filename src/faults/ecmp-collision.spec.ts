import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Impairment } from '../fabric-api/impairment.js';
import { RoutingGraph } from '../model/topology/routing/graph.js';
import { nodeSeeds } from '../model/topology/routing/hash.js';
import { PathTracer } from '../model/topology/routing/path.js';
import { RouteTable } from '../model/topology/routing/route-table.js';
import type { Topology } from '../model/topology/model.js';
import { ecmpCollision } from './ecmp-collision.js';
import { followersOf } from './ecmp-polarisation.js';
import { compileWith, OVERSUBSCRIBED, refusalOf, topologyOf } from './testing/compile.js';

type Traffic = Extract<Impairment, { type: 'traffic' }>;

const FAT_TREE = topologyOf({ builder: 'fat-tree', k: 4, gpusPerHost: 1 });
const switchesOf = (topology: Topology) => topology.devices.filter(({ role }) => role === 'switch');
const everything = (topology: Topology) => topology.devices.map(({ name }) => `device:${name}`);

/** Number of next hops that many flows use at each switch, with equal seeds or seeds of their own. */
function usedNextHops(topology: Topology, equal: boolean): Map<number, Set<number>> {
  const graph = new RoutingGraph(topology);
  const table = new RouteTable(graph);
  const seeds = nodeSeeds(graph, 1);
  if (equal) for (const { index } of switchesOf(topology)) seeds[index] = 0;
  const tracer = new PathTracer(graph, seeds, 16);
  const used = new Map<number, Set<number>>();
  const path = new Int32Array(16);
  for (const source of topology.nics) {
    for (const destination of topology.nics) {
      if (source === destination) continue;
      for (let port = 0; port < 40; port++) {
        const length = tracer.trace(() => table, source.index, destination.index, 0xc000 + 97 * port, path);
        for (const direction of path.subarray(1, Math.max(1, length - 1))) {
          const link = topology.links[direction >> 1];
          const { device } = topology.ports[(direction & 1) === 0 ? link.portA : link.portB];
          used.set(device, (used.get(device) ?? new Set()).add(direction));
        }
      }
    }
  }
  return used;
}

describe('polarised', () => {
  const compile = (targets: string[], topology: Topology) =>
    compileWith(ecmpCollision, { variant: 'polarised', seed: 9 }, targets, { topology });

  it('gives all switches among the targets one seed and passes hosts over', () => {
    const { impairments, truth } = compile(everything(FAT_TREE), FAT_TREE);
    expect(impairments.map(({ impairment }) => impairment)).toEqual(
      switchesOf(FAT_TREE).map(({ name }) => ({ type: 'hash-seed', device: `device:${name}`, seed: 9 })),
    );
    expect(truth).toHaveLength(1);
    expect(truth[0]).toMatchObject({ kind: 'ecmp-collision', side: 'configuration' });
    expect(truth[0].elements.map(({ id }) => id)).toEqual([
      'pattern:ecmp-collision',
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((spine) => `device:spine-${spine}`),
    ]);
  });

  it.each([
    ['a fat tree of 4', { k: 4 }],
    [
      '2 spines a pod with 4 uplinks each',
      { pods: 2, leavesPerPod: 2, spinesPerPod: 2, hostsPerLeaf: 2, uplinksPerSpine: 4 },
    ],
    [
      '2 spines a pod with 3 uplinks each',
      { pods: 2, leavesPerPod: 2, spinesPerPod: 2, hostsPerLeaf: 2, uplinksPerSpine: 3 },
    ],
    [
      '3 spines a pod with 2 uplinks each',
      { pods: 2, leavesPerPod: 2, spinesPerPod: 3, hostsPerLeaf: 2, uplinksPerSpine: 2 },
    ],
  ])('foretells which switches of %s leave next hops idle, as the hash itself shows', (_, sizes) => {
    const topology = topologyOf({ builder: 'fat-tree', gpusPerHost: 1, ...sizes });
    const apart = usedNextHops(topology, false);
    const alike = usedNextHops(topology, true);
    const poorer = switchesOf(topology).filter(
      ({ index }) => (alike.get(index)?.size ?? 0) < (apart.get(index)?.size ?? 0),
    );
    // A core that gets nothing any more is no follower: it has nothing to choose.
    const choosers = poorer.filter(({ tier }) => tier !== 'core').map(({ name }) => name);
    expect(followersOf(switchesOf(topology), topology).map(({ name }) => name)).toEqual(choosers);
  });

  it('is refused on two tiers, with the reason', () => {
    const issue = refusalOf(() => compile(everything(OVERSUBSCRIBED), OVERSUBSCRIBED));
    expect(issue.pointer).toBe('/target');
    expect(issue.message).toContain('two tiers');
    expect(issue.hint).toContain('fat-tree');
  });

  it('is refused where the targets leave out one of two tiers', () => {
    const leaves = everything(FAT_TREE).filter((id) => id.includes('leaf'));
    expect(refusalOf(() => compile(leaves, FAT_TREE)).message).toContain('no switch chooses behind another');
  });
});

describe('low-entropy', () => {
  const compile = (params: object = {}, target = 'device:leaf-1', topology = OVERSUBSCRIBED, seed = 1) =>
    compileWith(ecmpCollision, { variant: 'low-entropy', ...params }, [target], { topology, seed });

  it('takes flows that fit when spread evenly, and of which some uplink must get too much', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 4 }), fc.constantFrom(1, 2), fc.nat(), (uplinks, turns, seed) => {
        const flows = turns * uplinks + 1;
        const hostsPerLeaf = 2 * uplinks + 1;
        const topology = topologyOf({
          builder: 'leaf-spine',
          leaves: 2,
          spines: uplinks,
          hostsPerLeaf,
          gpusPerHost: 1,
        });
        const { impairments } = compile({ flows }, 'device:leaf-1', topology, seed);
        const all = impairments.map(({ impairment }) => impairment as Traffic);
        expect(all).toHaveLength(flows);
        const rate = all[0].rateGbps;
        expect(flows * rate).toBeLessThanOrEqual(uplinks * 400);
        expect(Math.ceil(flows / uplinks) * rate).toBeGreaterThan(400);
        expect(new Set(all.map(({ fromNics }) => fromNics[0])).size).toBe(flows);
        expect(new Set(all.map(({ toNic }) => toNic)).size).toBe(flows);
        const leafOf = (nic: string): number =>
          Math.ceil(Number(/^nic:host-(\d+)\//.exec(nic)![1]) / hostsPerLeaf);
        for (const { fromNics, toNic, queuePairs } of all) {
          expect([leafOf(fromNics[0]), leafOf(toNic), queuePairs]).toEqual([1, 2, 1]);
        }
      }),
    );
  });

  it('names the pattern, the leaf and its uplinks, and no link of a host', () => {
    const [{ elements }] = compile().truth;
    expect(elements.map(({ id }) => id)).toEqual([
      'pattern:ecmp-collision',
      'pattern:low-entropy',
      'device:leaf-1',
      'link:leaf-1/p5--spine-1/p1',
      'port:leaf-1/p5',
      'link:leaf-1/p6--spine-2/p1',
      'port:leaf-1/p6',
    ]);
  });

  it.each([
    ['flows that may each find an uplink', { flows: 2 }, 'device:leaf-1', '/params/flows', 'at least 3'],
    ['more flows than NICs', { flows: 5 }, 'device:leaf-1', '/params/flows', 'at most 4'],
    ['a spine', {}, 'device:spine-1', '/target', 'several uplinks'],
    ['a host', {}, 'device:host-1', '/target', 'leaf'],
  ])('refuses %s', (_, params, target, pointer, hint) => {
    const issue = refusalOf(() => compile(params, target));
    expect(issue.pointer).toBe(pointer);
    expect(issue.hint).toContain(hint);
  });

  it('refuses a leaf with as many uplinks as hosts, since no few flows are sure to collide there', () => {
    expect(refusalOf(() => compile({}, 'device:leaf-1', FAT_TREE)).hint).toContain(
      'fewer uplinks than hosts',
    );
  });
});
