/**
 * Numbers in passing: a typed array of some dozen numbers takes longer to make than to work on, and a large fabric needs
 * a hundred thousand of them.
 *
 * A room is used again by the next caller and must be done with by then; a store hands out parts of large blocks that are
 * kept.
 */

/** Room for numbers that are done with when it is taken again. */
export class Room {
  private numbers = new Float64Array(1024);

  /** At least so long, with whatever was left in it. */
  take(count: number): Float64Array {
    if (this.numbers.length < count) this.numbers = new Float64Array(2 * count);
    return this.numbers;
  }
}

const BLOCK = 1 << 16;

/** Arrays that live as long as any of their neighbours. */
export class Store {
  private block = new Float64Array(0);
  private used = 0;

  /** So many zeros. */
  take(count: number): Float64Array {
    if (this.used + count > this.block.length) {
      this.block = new Float64Array(Math.max(BLOCK, count));
      this.used = 0;
    }
    this.used += count;
    return this.block.subarray(this.used - count, this.used);
  }
}
