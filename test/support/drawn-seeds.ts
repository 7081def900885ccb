/**
 * Seeds that nobody chose: drawn by the hash of what they are for. A seed that was picked for its result proves nothing.
 */
import { createHash } from 'node:crypto';

/** As many seeds, the same ones every time; 31 bits wide. */
export const drawnSeeds = (what: string, count: number): number[] =>
  Array.from(
    { length: count },
    (_, index) => createHash('sha256').update(`${what} ${index}`).digest().readUInt32BE(0) >>> 1,
  );
