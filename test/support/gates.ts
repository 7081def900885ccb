/**
 * Holds a drill in this process at a step until the test lets it go on.
 */
import type { Step } from './outside-fabric.js';

interface Gate {
  step: Step;
  reached: Promise<void>;
  arrive(): void;
  opened: Promise<void>;
  open(): void;
}

export class Gates {
  private readonly gates = new Map<string, Gate>();

  /** Holds drills on this fabric at this step. */
  close(fabric: string, step: Step): void {
    let arrive = (): void => undefined;
    let open = (): void => undefined;
    const reached = new Promise<void>((resolve) => (arrive = resolve));
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.gates.set(fabric, { step, reached, arrive, opened, open });
  }

  /** Resolves when a drill stands at the gate. */
  async reached(fabric: string): Promise<void> {
    await this.gates.get(fabric)?.reached;
  }

  open(fabric: string): void {
    this.gates.get(fabric)?.open();
    this.gates.delete(fabric);
  }

  openAll(): void {
    for (const fabric of [...this.gates.keys()]) this.open(fabric);
  }

  readonly hold = (fabric: string, step: Step): Promise<void> | undefined => {
    const gate = this.gates.get(fabric);
    if (gate?.step !== step) return undefined;
    gate.arrive();
    return gate.opened;
  };
}
