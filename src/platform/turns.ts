/** A few at a time: work that waits for its turn, in order. */

export class Turns {
  private readonly waiting: (() => void)[] = [];
  private free: number;

  constructor(most: number) {
    this.free = most;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // the turn is handed on, so that nobody slips in between
      const next = this.waiting.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }
}
