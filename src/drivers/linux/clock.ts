/**
 * The clock of a real fabric: ns of the kernel's monotonic clock since the drill's jobs were started.
 *
 * All namespaces of one host share that clock, and so do all processes on it; a wall clock that is set does not move it.
 * What other machines report is put into it before anybody reads it (`job/clock-offset.ts`).
 */
export class Clock {
  /** `process.hrtime.bigint()` at the start; undefined before it. */
  zeroNs: bigint | undefined;

  /** Counts from now on; a second call changes nothing. */
  start(): void {
    this.zeroNs ??= process.hrtime.bigint();
  }

  /** ns since the start, 0 before it. */
  nowNs(): number {
    return this.zeroNs === undefined ? 0 : Number(process.hrtime.bigint() - this.zeroNs);
  }
}
