/**
 * The path that a flow's packets take, node by node, as each node's own table says.
 *
 * While a route change spreads, nodes disagree, and a packet can meet a node without a next hop or run in a
 * micro-loop until its TTL ends. So every node is asked for its own table. The tracer only follows beliefs: whether
 * a link that is believed up carries anything is for the simulator to know.
 */
import type { RoutingGraph } from './graph.js';
import { flowHash } from './hash.js';
import type { RouteTable } from './route-table.js';

/** TTL: most links a packet crosses; an output array of this length always suffices. */
export const MAX_PATH_LINKS = 64;

export class PathTracer {
  /** Node at which the last trace ended: the destination NIC, or where the packet was dropped. */
  endNode = -1;
  /** Whether the last trace ended because the TTL ran out. */
  looped = false;

  /**
   * @param seeds hash seed of each node (index: node), see `nodeSeeds`
   * @param timeToLive most links to follow
   */
  constructor(
    readonly graph: RoutingGraph,
    readonly seeds: Uint32Array,
    private readonly timeToLive = MAX_PATH_LINKS,
  ) {}

  /**
   * Writes the directions of the path to `out` and returns their number: 0 when source and destination are the same
   * NIC, -1 when a node has no next hop or the TTL ended. The directions up to there are in `out` either way.
   *
   * @param tableOf route table that a node (switch or NIC) goes by
   * @param out at least as long as the TTL
   */
  trace(
    tableOf: (node: number) => RouteTable,
    sourceNic: number,
    destinationNic: number,
    udpSourcePort: number,
    out: Int32Array,
  ): number {
    const { graph, seeds } = this;
    const source = graph.addresses[sourceNic];
    const destination = graph.addresses[destinationNic];
    const end = graph.nodeOfNic(destinationNic);
    let node = graph.nodeOfNic(sourceNic);
    let length = 0;
    this.looped = false;
    while (node !== end) {
      this.endNode = node;
      if (length >= this.timeToLive) {
        this.looped = true;
        return -1;
      }
      const table = tableOf(node);
      const size =
        length === 0 ? table.nicGroupSize(sourceNic, destinationNic) : table.groupSize(node, destinationNic);
      if (size === 0) return -1;
      const member = size === 1 ? 0 : flowHash(seeds[node], source, destination, udpSourcePort) % size;
      const port =
        length === 0
          ? table.nicGroupPort(sourceNic, destinationNic, member)
          : table.groupPort(node, destinationNic, member);
      out[length++] = graph.direction[port];
      node = graph.peerNode[port];
    }
    this.endNode = end;
    return length;
  }
}
