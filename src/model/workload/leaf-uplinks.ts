/**
 * What leaves its leaf at all must share the leaf's uplinks: the part of an oversubscribed fabric that a bound can
 * know without routing.
 *
 * NICs attached to the same switches form a set (one leaf; two for a dual-ToR NIC). Traffic between NICs without a
 * switch in common crosses the links from the one set's switches to other switches, and those of the other.
 * Not modelled: limits further up, and unequal use of the uplinks.
 */
import { peerPort, type Topology } from '../topology/model.js';

export class LeafUplinks {
  private readonly sets: number[][] = [];
  private readonly setOfNic: Int32Array;
  private readonly rates: number[];

  constructor(topology: Topology) {
    const known = new Map<string, number>();
    this.setOfNic = Int32Array.from(topology.nics, (nic) => {
      const leaves = nic.ports.map((port) => topology.ports[peerPort(topology, port)].device);
      const sorted = [...new Set(leaves)].sort((a, b) => a - b);
      const key = sorted.join();
      let set = known.get(key);
      if (set === undefined) known.set(key, (set = this.sets.push(sorted) - 1));
      return set;
    });
    this.rates = this.sets.map((leaves) =>
      leaves
        .flatMap((leaf) => topology.devices[leaf].ports)
        .reduce((sum, port) => {
          const peer = topology.devices[topology.ports[peerPort(topology, port)].device];
          return peer.role === 'switch' ? sum + topology.links[topology.ports[port].link].rateGbps / 8 : sum;
        }, 0),
    );
  }

  get count(): number {
    return this.sets.length;
  }

  setOf(nic: number): number {
    return this.setOfNic[nic];
  }

  /** All uplinks of a set together, one way. */
  bytesPerNs(set: number): number {
    return this.rates[set];
  }

  /** Whether traffic between two NICs has to cross uplinks; never where NICs are cabled to each other. */
  between(nicA: number, nicB: number): boolean {
    const [setA, setB] = [this.setOfNic[nicA], this.setOfNic[nicB]];
    if (setA === setB || this.rates[setA] === 0 || this.rates[setB] === 0) return false;
    return !this.sets[setA].some((leaf) => this.sets[setB].includes(leaf));
  }
}
