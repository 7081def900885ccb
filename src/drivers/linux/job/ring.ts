/**
 * Ring collectives over a worker's connections: reduce-scatter, all-gather, and all-reduce, which is one after the other.
 *
 * The buffer is cut into as many chunks as the ring has ranks; in each of n - 1 rounds a rank sends one to the next and
 * receives another from the one before (Patarasuk and Yuan, 2009; the same order as NCCL's ring). Not modelled: slices
 * within a chunk, several channels, trees.
 */
import type { Inbox } from './inbox.js';

export interface RingConnections {
  send(toRank: number, data: Uint8Array): Promise<void>;
  inbox(fromRank: number): Pick<Inbox, 'receive'>;
}

/** Bytes of a rank's buffer, up to a whole number of elements a chunk. */
export function elementsFor(bytes: number, ranks: number): number {
  return Math.max(1, Math.ceil(bytes / Int32Array.BYTES_PER_ELEMENT / ranks)) * ranks;
}

export class Ring {
  private readonly place: number;
  private readonly chunk: number;
  private readonly arrived: Int32Array;

  /**
   * @param ranks in ring order, this one among them
   * @param data whose length is a multiple of the number of ranks
   */
  constructor(
    private readonly connections: RingConnections,
    private readonly ranks: readonly number[],
    rank: number,
    readonly data: Int32Array,
  ) {
    this.place = ranks.indexOf(rank);
    this.chunk = data.length / ranks.length;
    this.arrived = new Int32Array(this.chunk);
  }

  /** Ends with the sum in the chunk that `ownedSpan` names. */
  async reduceScatter(): Promise<void> {
    for (let round = 0; round < this.ranks.length - 1; round++) {
      await this.exchange(this.place - round, this.arrived);
      const target = this.chunkAt(this.place - round - 1);
      for (let index = 0; index < target.length; index++)
        target[index] = (target[index] + this.arrived[index]) | 0;
    }
  }

  /** @param owned the chunk that this rank begins with, counted from its own place */
  async allGather(owned = 0): Promise<void> {
    for (let round = 0; round < this.ranks.length - 1; round++) {
      await this.exchange(this.place + owned - round, this.chunkAt(this.place + owned - round - 1));
    }
  }

  async allReduce(): Promise<void> {
    await this.reduceScatter();
    await this.allGather(1);
  }

  /** Elements of the chunk at a place of the ring. */
  span(place: number): { from: number; to: number } {
    const at = this.wrapped(place);
    return { from: at * this.chunk, to: (at + 1) * this.chunk };
  }

  /** What this rank holds after a reduce-scatter. */
  ownedSpan(): { from: number; to: number } {
    return this.span(this.place + 1);
  }

  private async exchange(sent: number, into: Int32Array): Promise<void> {
    const next = this.ranks[this.wrapped(this.place + 1)];
    const previous = this.ranks[this.wrapped(this.place - 1)];
    await Promise.all([
      this.connections.send(next, bytesOf(this.chunkAt(sent))),
      this.connections.inbox(previous).receive(bytesOf(into)),
    ]);
  }

  private chunkAt(place: number): Int32Array {
    const { from, to } = this.span(place);
    return this.data.subarray(from, to);
  }

  private wrapped(place: number): number {
    const ranks = this.ranks.length;
    return ((place % ranks) + ranks) % ranks;
  }
}

const bytesOf = (elements: Int32Array): Uint8Array =>
  new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
