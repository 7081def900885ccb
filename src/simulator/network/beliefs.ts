/**
 * What each node believes about the fabric: which links are down, and so which routes it goes by.
 *
 * Beliefs are sets of links, interned: all nodes that believe the same share one route table and one next-hop count.
 * A node is a switch or a NIC, numbered as the routing graph does. `epoch` grows with every change of any belief, so
 * that paths are traced again only when some route may differ.
 */
import type { RoutingGraph } from '../../model/topology/routing/graph.js';
import { nextHopCounts, type NextHopCounts } from '../../model/topology/routing/next-hop-counts.js';
import { RouteTable } from '../../model/topology/routing/route-table.js';

interface Belief {
  /** Link indices, ascending. */
  downLinks: readonly number[];
  table?: RouteTable;
  counts?: NextHopCounts;
  /** Beliefs one link away, by `2 * link + down`. */
  readonly neighbours: Map<number, number>;
}

export class Beliefs {
  epoch = 0;
  private readonly beliefs: Belief[] = [{ downLinks: [], neighbours: new Map() }];
  private readonly byKey = new Map<string, number>([['', 0]]);
  private readonly beliefOf: Int32Array;
  /** Route table of a node, in the form that the path tracer takes. */
  readonly tableOf: (node: number) => RouteTable;

  constructor(readonly graph: RoutingGraph) {
    this.beliefOf = new Int32Array(graph.nodeCount);
    this.tableOf = (node) => this.table(this.beliefOf[node]);
  }

  /** The table of a fabric in which everything is up. */
  get healthyTable(): RouteTable {
    return this.table(0);
  }

  /** @returns whether the node did not know it yet */
  learn(node: number, link: number, down: boolean): boolean {
    const before = this.beliefOf[node];
    const after = this.neighbour(before, link, down);
    if (after === before) return false;
    this.beliefOf[node] = after;
    this.epoch++;
    return true;
  }

  /** Something other than a belief moves paths: they are traced again. */
  disturb(): void {
    this.epoch++;
  }

  /** Next hops and prefixes of the whole fabric by the belief of one node. */
  countsOf(node: number): NextHopCounts {
    const belief = this.beliefs[this.beliefOf[node]];
    return (belief.counts ??= nextHopCounts(this.table(this.beliefOf[node])));
  }

  private table(index: number): RouteTable {
    const belief = this.beliefs[index];
    return (belief.table ??= new RouteTable(
      this.graph,
      belief.downLinks.map((link) => 2 * link),
    ));
  }

  private neighbour(index: number, link: number, down: boolean): number {
    const { neighbours, downLinks } = this.beliefs[index];
    const step = 2 * link + Number(down);
    let after = neighbours.get(step);
    if (after === undefined) {
      const others = downLinks.filter((other) => other !== link);
      after = this.intern(down ? [...others, link].sort((a, b) => a - b) : others);
      neighbours.set(step, after);
    }
    return after;
  }

  private intern(downLinks: readonly number[]): number {
    const key = downLinks.join();
    let index = this.byKey.get(key);
    if (index === undefined) {
      index = this.beliefs.push({ downLinks, neighbours: new Map() }) - 1;
      this.byKey.set(key, index);
    }
    return index;
  }
}
