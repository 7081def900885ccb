/** Work that nobody waits for but the end of its process; what fails is told in the log. */
import { messageOf } from '../core/problem.js';

export class Unawaited {
  private readonly working = new Set<Promise<void>>();

  constructor(private readonly log: { warn(message: string): void }) {}

  /** @param subject what the log names when it fails */
  begin(subject: string, work: () => Promise<void>): void {
    const begun = work()
      .catch((error: unknown) => {
        this.log.warn(`${subject}: ${messageOf(error)}`);
      })
      .finally(() => this.working.delete(begun));
    this.working.add(begun);
  }

  /** When all that was begun until now has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.working);
  }
}
