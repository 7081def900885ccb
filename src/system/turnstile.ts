/**
 * Lets so many in at once and the others wait, in the order in which they came.
 */
export class Turnstile {
  private within = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly atOnce: number) {}

  async enter(): Promise<void> {
    if (this.within >= this.atOnce) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.within++;
  }

  /** Hands its place on, so that nobody slips in between. */
  leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.within--;
    else next();
  }
}

/** Goes through all of them, one after another, and leaves them when the work is done or has failed. */
export async function through<T>(gates: readonly Turnstile[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = gates;
  if (first === undefined) return work();
  await first.enter();
  try {
    return await through(others, work);
  } finally {
    first.leave();
  }
}
