/**
 * One after the other: what is read from one device is read before the next device is asked.
 *
 * Bytes that one end of a link has sent are held against those that the other has received. Where both are read at once, the
 * error of their stamps can show a loss that never was. Whoever hangs holds the others up for a moment only.
 */
const MOST_WAIT_MS = 50;

export class Turns {
  private last: Promise<void> = Promise.resolve();

  /** Acts when the one before is done, or has taken its time. */
  async take<T>(act: () => Promise<T>): Promise<T> {
    const before = this.last;
    let done = (): void => undefined;
    this.last = new Promise((resolve) => (done = resolve));
    await settledWithin(before, MOST_WAIT_MS);
    try {
      return await act();
    } finally {
      done();
    }
  }
}

function settledWithin(one: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void one.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
