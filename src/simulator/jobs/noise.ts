/**
 * Random numbers by place instead of by order: the draw for (stream, index) is the same whatever else was drawn.
 *
 * Sensor noise and lost samples must not shift when a fault adds an event elsewhere, or two runs that differ only in
 * the fault could not be compared sample by sample. Two rounds of the murmur3 finaliser over the three words.
 */
import { mix32 } from '../../core/prng.js';

/** Uniform in [0, 1), 32 bits. */
export function uniformAt(seed: number, stream: number, index: number): number {
  return mix32(mix32(seed ^ Math.imul(stream, 0x9e3779b9)) ^ Math.imul(index, 0x85ebca6b)) / 0x100000000;
}

/** Standard normal (Box-Muller). */
export function normalAt(seed: number, stream: number, index: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniformAt(seed, stream, index)));
  return radius * Math.cos(2 * Math.PI * uniformAt(seed ^ 0x5bd1e995, stream, index));
}
