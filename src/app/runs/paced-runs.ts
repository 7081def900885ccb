/**
 * The paced runs of one worker: as many at a time as it has places, the others in the order in which they came.
 *
 * They hold no place of the queue. A paced run waits for the clock and lets others compute meanwhile, so a game day's
 * parallel stage is parallel on a worker that executes one run of another kind at a time. The row of the run and its lease
 * say who has it, not the queue: a run that waits here belongs to nobody, and a worker's sweep offers it to all again.
 */
export class PacedRuns {
  private readonly waiting = new Set<string>();
  private readonly underWay = new Map<string, Promise<void>>();
  private closing = false;

  /**
   * @param execute must not reject: nobody would hear it
   * @param places 1 or more
   */
  constructor(
    private readonly execute: (runId: string) => Promise<void>,
    private readonly places: number,
  ) {}

  /** Begins it when there is a place; does nothing for one that waits or is under way. */
  begin(runId: string): void {
    if (this.closing || this.underWay.has(runId)) return;
    this.waiting.add(runId);
    this.fill();
  }

  /** Leaves those that wait to other workers; resolves when those under way have ended. */
  async close(): Promise<void> {
    this.closing = true;
    this.waiting.clear();
    await Promise.all(this.underWay.values());
  }

  private fill(): void {
    for (const runId of this.waiting) {
      if (this.underWay.size >= this.places) return;
      this.waiting.delete(runId);
      const ended = this.execute(runId).finally(() => {
        this.underWay.delete(runId);
        this.fill();
      });
      this.underWay.set(runId, ended);
    }
  }
}
