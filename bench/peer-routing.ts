/**
 * The ways the packet-level peer chooses: shortest paths, and among equals a hash at every switch.
 *
 * Needed only where a case does not record a way: after a link went down. The hash is 32-bit MurmurHash3 (Austin
 * Appleby, public domain) over source address, destination address and the two ports, seeded with the switch's id,
 * modulo the equal next hops in descending order of id.
 */
import { mix32 } from '../src/core/prng.js';

interface Wiring {
  hosts: readonly number[];
  links: readonly { a: number; b: number }[];
}

export class PeerRouting {
  private readonly neighbours = new Map<number, number[]>();
  private readonly hosts: Set<number>;

  /** @param without a cable that is not there any more */
  constructor(wiring: Wiring, without?: { a: number; b: number }) {
    this.hosts = new Set(wiring.hosts);
    for (const { a, b } of wiring.links) {
      if (without && Math.min(a, b) === Math.min(without.a, without.b)) {
        if (Math.max(a, b) === Math.max(without.a, without.b)) continue;
      }
      this.neighbours.set(a, [...(this.neighbours.get(a) ?? []), b]);
      this.neighbours.set(b, [...(this.neighbours.get(b) ?? []), a]);
    }
  }

  /** Nodes from one host to another. */
  path(from: number, to: number, sourcePort: number, targetPort: number): number[] {
    const hops = this.hopsTo(to);
    const path = [from];
    let node = from;
    while (node !== to) {
      const here = hops.get(node);
      if (here === undefined) throw new RangeError(`node ${to} can not be reached from node ${from}`);
      const next = this.neighbours
        .get(node)!
        .filter((other) => hops.get(other) === here - 1)
        .sort((a, b) => b - a);
      const words = [address(from), address(to), (sourcePort | (targetPort << 16)) >>> 0];
      node = next[murmur3(words, node) % next.length];
      path.push(node);
    }
    return path;
  }

  /** Links from every node to a host; hosts pass nothing on. */
  private hopsTo(target: number): Map<number, number> {
    const hops = new Map([[target, 0]]);
    const queue = [target];
    for (const node of queue) {
      if (node !== target && this.hosts.has(node)) continue;
      for (const other of this.neighbours.get(node) ?? []) {
        if (hops.has(other)) continue;
        hops.set(other, hops.get(node)! + 1);
        queue.push(other);
      }
    }
    return hops;
  }
}

function address(node: number): number {
  return (0x0b000001 + (Math.floor(node / 256) << 16) + ((node % 256) << 8)) >>> 0;
}

function murmur3(words: readonly number[], seed: number): number {
  let hash = seed >>> 0;
  for (const word of words) {
    let mixed = Math.imul(word, 0xcc9e2d51);
    mixed = (mixed << 15) | (mixed >>> 17);
    hash ^= Math.imul(mixed, 0x1b873593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) >>> 0;
  }
  return mix32((hash ^ (4 * words.length)) >>> 0);
}
