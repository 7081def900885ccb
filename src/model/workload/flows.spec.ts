import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { expandCollective, isLocalEdge, type CollectiveShape, type FlowGroup } from './flows.js';
import { smallTopology } from './testing/small-topology.js';
import { doubleBinaryTree, treeDepth } from './tree.js';

const shape = (
  collective: CollectiveShape['collective'],
  bytes: number,
  algorithm: 'ring' | 'tree' = 'ring',
) => ({
  collective,
  bytes,
  algorithm,
});

/** A job over whole hosts with k GPUs each (k = gpusPerHost), ranks in GPU order. */
function setting(hosts: number, gpusPerHost: number, scaleUpGbps?: number) {
  const topology = smallTopology({ hosts, gpusPerHost, scaleUpGbps });
  const placement = Int32Array.from(topology.gpus, (_, gpu) => gpu);
  const group = Array.from(placement, (_, rank) => rank);
  const expand = (operation: CollectiveShape, ranks: readonly number[] = group) =>
    expandCollective(operation, ranks, placement, topology);
  const local = (edge: FlowGroup['edges'][number]) => isLocalEdge(edge, placement, topology);
  return { topology, placement, group, expand, local };
}

function totals(
  groups: readonly FlowGroup[],
  key: 'sourceRank' | 'destinationRank',
  keep = (_: FlowGroup['edges'][number]) => true,
) {
  const sums = new Map<number, number>();
  for (const edge of groups.flatMap((group) => group.edges).filter(keep)) {
    sums.set(edge[key], (sums.get(edge[key]) ?? 0) + edge.bytes);
  }
  return sums;
}

const RING_FORMULAS = [
  ['all-reduce', (n: number) => (2 * (n - 1)) / n],
  ['all-gather', (n: number) => (n - 1) / n],
  ['reduce-scatter', (n: number) => (n - 1) / n],
] as const;

const sizes = {
  hosts: fc.integer({ min: 1, max: 7 }),
  perHost: fc.integer({ min: 1, max: 5 }),
  bytes: fc.integer({ min: 1, max: 1e12 }),
};

describe('ring collectives', () => {
  it.each(RING_FORMULAS)(
    '%s: with one rank a host every rank sends and receives the formula',
    (collective, factor) => {
      fc.assert(
        fc.property(fc.integer({ min: 2, max: 40 }), sizes.bytes, (hosts, bytes) => {
          const { expand } = setting(hosts, 1);
          const [ring, ...others] = expand(shape(collective, bytes));
          expect(others).toEqual([]);
          expect(ring.coupled).toBe(true);
          expect(ring.edges).toHaveLength(hosts);
          expect(ring.steps).toBe(collective === 'all-reduce' ? 2 * (hosts - 1) : hosts - 1);
          for (const key of ['sourceRank', 'destinationRank'] as const) {
            const sums = totals([ring], key);
            expect(sums.size).toBe(hosts);
            for (const sum of sums.values()) expect(sum / bytes).toBeCloseTo(factor(hosts), 10);
          }
        }),
      );
    },
  );

  it.each(RING_FORMULAS)('%s: channels balance the NICs and cross each host once', (collective, factor) => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 7 }), sizes.perHost, sizes.bytes, (hosts, perHost, bytes) => {
        const { expand, local } = setting(hosts, perHost);
        const groups = expand(shape(collective, bytes));
        const ranks = hosts * perHost;
        expect(groups).toHaveLength(perHost);
        const sent = totals(groups, 'sourceRank', (edge) => !local(edge));
        const received = totals(groups, 'destinationRank', (edge) => !local(edge));
        for (let rank = 0; rank < ranks; rank++) {
          expect(sent.get(rank)! / bytes).toBeCloseTo(factor(ranks) / perHost, 10);
          expect(received.get(rank)! / bytes).toBeCloseTo(factor(ranks) / perHost, 10);
        }
      }),
    );
  });

  it('every rank receives the formula once, plus its channel’s hand-over to the NIC', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 6 }),
        fc.integer({ min: 2, max: 5 }),
        sizes.bytes,
        (hosts, perHost, bytes) => {
          const { expand } = setting(hosts, perHost);
          const ranks = hosts * perHost;
          const formula = (2 * (ranks - 1)) / ranks;
          for (const sum of totals(expand(shape('all-reduce', bytes)), 'destinationRank').values()) {
            expect(sum / bytes).toBeCloseTo(formula * (1 + 1 / perHost), 10);
          }
        },
      ),
    );
  });

  it('each channel is one closed walk through all ranks', () => {
    fc.assert(
      fc.property(sizes.hosts, sizes.perHost, (hosts, perHost) => {
        fc.pre(hosts * perHost > 1);
        const { expand, group } = setting(hosts, perHost);
        for (const { edges } of expand(shape('all-reduce', 1e6))) {
          const sources = edges.map((edge) => edge.sourceRank);
          expect(edges.map((edge) => edge.destinationRank)).toEqual([...sources.slice(1), sources[0]]);
          expect(new Set(sources)).toEqual(new Set(group));
        }
      }),
    );
  });

  it('a group inside one host never touches the fabric', () => {
    const { expand, local } = setting(3, 8);
    const [ring] = expand(shape('all-reduce', 8e6), [8, 9, 10, 11, 12, 13, 14, 15]);
    expect(ring.edges.every(local)).toBe(true);
    expect(ring).toMatchObject({ steps: 0, scaleUpSteps: 14 });
    expect(ring.edges[0].bytes).toBe(14e6);
  });

  it('without a scale-up network every hop is a fabric hop of one ring', () => {
    const { expand, local } = setting(2, 4, 0);
    const [ring, ...others] = expand(shape('all-reduce', 8e6));
    expect(others).toEqual([]);
    expect(ring.edges).toHaveLength(8);
    expect(ring.edges.some(local)).toBe(false);
    expect(ring).toMatchObject({ steps: 14, scaleUpSteps: 0 });
  });

  it('channels keep to the rails that unequal hosts share', () => {
    const { topology, placement, expand, local } = setting(2, 4);
    const groups = expand(shape('all-gather', 6e6), [0, 1, 2, 3, 6, 7]);
    const rail = (rank: number) => topology.nics[topology.gpus[placement[rank]].nic].position;
    const crossing = groups.map((group) => group.edges.filter((edge) => !local(edge)));
    expect(
      crossing.map((edges) => edges.map((edge) => [rail(edge.sourceRank), rail(edge.destinationRank)])),
    ).toEqual([
      [
        [2, 2],
        [2, 2],
      ],
      [
        [3, 3],
        [3, 3],
      ],
    ]);
  });
});

describe('tree all-reduce', () => {
  it('both trees span all hosts and swap leaves and interior nodes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 200 }), (count) => {
        const trees = doubleBinaryTree(count);
        for (const parents of trees) {
          expect(parents.filter((parent) => parent < 0)).toHaveLength(1);
          expect(treeDepth(parents)).toBeLessThanOrEqual(Math.ceil(Math.log2(count)));
          const children = parents.map((_, node) => parents.filter((parent) => parent === node).length);
          expect(Math.max(...children)).toBeLessThanOrEqual(2);
        }
        const interior = trees.map((parents) => new Set(parents.filter((parent) => parent >= 0)));
        const both = [...interior[0]].filter((node) => interior[1].has(node));
        expect(both.length).toBeLessThanOrEqual(count % 2 === 0 ? 0 : 1);
      }),
    );
  });

  it('sends up what it sends down, half a buffer per tree and edge, and loads no NIC with more than two buffers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 30 }), fc.integer({ min: 1, max: 4 }), (hosts, perHost) => {
        const bytes = 1e9;
        const { expand, local } = setting(hosts, perHost);
        const groups = expand(shape('all-reduce', bytes, 'tree'));
        expect(groups).toHaveLength(2 * perHost);
        for (const group of groups) {
          expect(group.edges).toHaveLength(2 * (hosts * perHost - 1));
          expect(new Set(group.edges.map((edge) => edge.bytes))).toEqual(new Set([bytes / perHost / 2]));
          const keys = new Set(group.edges.map((edge) => `${edge.sourceRank}>${edge.destinationRank}`));
          expect(
            group.edges.filter((edge) => !keys.has(`${edge.destinationRank}>${edge.sourceRank}`)),
          ).toEqual([]);
        }
        for (const sum of totals(groups, 'sourceRank', (edge) => !local(edge)).values()) {
          expect(sum).toBeLessThanOrEqual((2 * bytes) / perHost + 1);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('direct collectives', () => {
  it('all-to-all: every ordered pair once, S/n each, independent', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 12 }), sizes.bytes, (hosts, bytes) => {
        const [group, ...others] = setting(hosts, 1).expand(shape('all-to-all', bytes));
        expect(others).toEqual([]);
        expect(group.coupled).toBe(false);
        const pairs = new Set(group.edges.map((edge) => `${edge.sourceRank}>${edge.destinationRank}`));
        expect(pairs.size).toBe(hosts * (hosts - 1));
        for (const edge of group.edges) expect(edge.bytes).toBe(bytes / hosts);
      }),
    );
  });

  it('all-to-all: edges inside a host are a group of their own and take no fabric step', () => {
    const { expand, local } = setting(2, 2);
    const groups = expand(shape('all-to-all', 4e6));
    expect(groups.map(({ edges, steps, scaleUpSteps }) => [edges.length, steps, scaleUpSteps])).toEqual([
      [8, 1, 0],
      [4, 0, 1],
    ]);
    expect(groups[0].edges.some(local)).toBe(false);
    expect(groups[1].edges.every(local)).toBe(true);
  });

  it('broadcast: every rank but the root receives the whole buffer once per byte', () => {
    fc.assert(
      fc.property(sizes.hosts, sizes.perHost, fc.nat(30), (hosts, perHost, pick) => {
        fc.pre(hosts * perHost > 1);
        const { expand, group, local, topology, placement } = setting(hosts, perHost);
        const root = pick % group.length;
        const order = [...group.slice(root), ...group.slice(0, root)];
        const groups = expand(shape('broadcast', 6e6), order);
        const firsts = new Set<string>();
        for (const { edges, coupled } of groups) {
          expect(coupled).toBe(true);
          const reached = new Set([root]);
          const tooEarly = edges.filter((edge) => {
            const known = reached.has(edge.sourceRank);
            reached.add(edge.destinationRank);
            return !known;
          });
          expect(tooEarly).toEqual([]);
          expect(reached.size).toBe(group.length);
          firsts.add(edges.map((edge) => edge.sourceRank).join());
        }
        const hostOf = (rank: number) => topology.gpus[placement[rank]].host;
        const perHostBytes = new Map<number, number>();
        for (const edge of groups.flatMap((one) => one.edges).filter((edge) => !local(edge))) {
          const host = hostOf(edge.destinationRank);
          perHostBytes.set(host, (perHostBytes.get(host) ?? 0) + edge.bytes);
        }
        for (const [host, bytes] of perHostBytes)
          if (host !== hostOf(root)) expect(bytes).toBeCloseTo(6e6, 3);
      }),
    );
  });

  it('send-receive: each pipeline stage to the next, the last to nobody', () => {
    const [group] = setting(4, 1).expand(shape('send-receive', 5e6), [3, 1, 0]);
    expect(group.edges).toEqual([
      { sourceRank: 3, destinationRank: 1, bytes: 5e6 },
      { sourceRank: 1, destinationRank: 0, bytes: 5e6 },
    ]);
    expect(group).toMatchObject({ coupled: false, steps: 1 });
  });

  it('one rank or no bytes: nothing to send', () => {
    const { expand } = setting(4, 1);
    expect(expand(shape('all-reduce', 1e6), [2])).toEqual([]);
    expect(expand(shape('all-to-all', 0))).toEqual([]);
  });
});
