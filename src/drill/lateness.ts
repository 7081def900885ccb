/**
 * How late faults really began and ended, on a fabric that nobody drives: telling the devices takes time there.
 *
 * Truth is what was done, not what was planned. A fault counts as begun when its first impairment was in place, and as
 * ended when the undo of its last one was told; what the proof of an undo takes is no part of the fault. On a driven
 * clock nothing is late.
 */
export interface Lateness {
  /** ns from the planned begin to the real one. */
  beganNs: number;
  /** ns from the planned end to the real one. */
  endedNs: number;
}

export class LatenessBook {
  private readonly faults = new Map<string, Lateness>();

  /** An impairment of the fault is in place. */
  applied(fault: string, plannedNs: number, nowNs: number): void {
    if (!this.faults.has(fault)) this.faults.set(fault, { beganNs: nowNs - plannedNs, endedNs: 0 });
  }

  /** The undo of an impairment of the fault is about to be told. */
  reverting(fault: string, plannedNs: number, nowNs: number): void {
    const lateness = this.faults.get(fault);
    if (lateness !== undefined) lateness.endedNs = nowNs - plannedNs;
  }

  of(fault: string): Lateness {
    return this.faults.get(fault) ?? { beganNs: 0, endedNs: 0 };
  }
}
