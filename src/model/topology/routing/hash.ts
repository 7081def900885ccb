/**
 * The equal-cost hash: which member of a next-hop group a flow takes.
 *
 * MurmurHash3, 32-bit variant for little-endian words (A. Appleby, public domain), over source address, destination
 * address, UDP ports and protocol of a RoCEv2 packet (destination port 4791), seeded per node, then modulo the size
 * of the group. Every node has a seed of its own, drawn from the fabric's hash seed and the node's name, because equal
 * seeds at two tiers would send each flow to the same member twice (polarisation).
 * Not modelled: resilient hashing (a changed group size may move any flow), weighted members, flowlets.
 */
import { hashText, mix32 } from '../../../core/prng.js';
import type { RoutingGraph } from './graph.js';

/** IANA: RoCE version 2. */
export const ROCE_UDP_PORT = 4791;
const UDP_PROTOCOL = 17;
// A module constant is read faster than a global where tests run in a sandbox.
const { imul } = Math;

/** Feeds one 32-bit word into a running MurmurHash3 state. */
export function murmurWord(state: number, word: number): number {
  let mixed = imul(word, 0xcc9e2d51);
  mixed = (mixed << 15) | (mixed >>> 17);
  const hash = state ^ imul(mixed, 0x1b873593);
  return (imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
}

/** Finishes a MurmurHash3 state over `bytes` bytes; unsigned. */
export const murmurFinish = (state: number, bytes: number): number => mix32(state ^ bytes);

/** Hash of a RoCEv2 flow's five-tuple; unsigned 32 bits. */
export function flowHash(
  seed: number,
  sourceAddress: number,
  destinationAddress: number,
  udpSourcePort: number,
): number {
  let state = murmurWord(seed, sourceAddress);
  state = murmurWord(state, destinationAddress);
  state = murmurWord(state, ((udpSourcePort & 0xffff) << 16) | ROCE_UDP_PORT);
  state = murmurWord(state, UDP_PROTOCOL);
  return murmurFinish(state, 16);
}

/**
 * Seeds of all nodes (index: node) from the fabric's hash seed; an entry may be overwritten to model a setting.
 * @param equal all nodes hash alike, as switches do that were left at one default
 */
export function nodeSeeds(graph: RoutingGraph, hashSeed: number, equal = false): Uint32Array {
  const seeds = new Uint32Array(graph.nodeCount);
  if (equal) return seeds.fill(hashText('all', hashSeed));
  for (let node = 0; node < graph.nodeCount; node++) seeds[node] = hashText(graph.nodeName(node), hashSeed);
  return seeds;
}
