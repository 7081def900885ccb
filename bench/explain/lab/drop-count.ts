/**
 * How many frames crossed a damaged port of a lab, and how many of them were dropped, by the counters of the receiving kernel.
 *
 * Both are read in one listing while the fault is held, so that they speak of the same frames: `seen` of the table that
 * damages, and the drops of the rule set that every port has. The second is what an operator sees as errors of the port.
 */
import type { Fabric } from '../../../src/fabric-api/fabric.js';
import type { Impairment } from '../../../src/fabric-api/impairment.js';
import { counterName } from '../../../src/drivers/linux/lab/counter-name.js';
import type { Lab } from '../../../src/drivers/linux/lab/lab.js';
import type { LabPort } from '../../../src/drivers/linux/lab/parts.js';
import { parseCounters } from '../../../src/drivers/linux/telemetry/readings.js';
import { portId } from '../../../src/core/elements.js';

export interface DropCount {
  /** Frames that arrived while the fault was in place. */
  seen: number;
  dropped: number;
  /** Of a frame to be damaged, as the kernel's rule says. */
  probability: number;
}

export class DropCounter {
  private before = 0;

  private constructor(
    private readonly fabric: Fabric,
    private readonly impairment: Impairment & { type: 'bit-errors' },
    /** Where the damaged frames arrive. */
    private readonly receiver: LabPort,
  ) {}

  /** Undefined where nothing is to damage frames. */
  static of(fabric: Fabric, lab: Lab, impairments: readonly Impairment[]): DropCounter | undefined {
    const impairment = impairments.find((one) => one.type === 'bit-errors');
    if (impairment === undefined) return undefined;
    const sender = lab.ports.find(({ name }) => portId(name) === impairment.fromPort)!;
    return new DropCounter(fabric, impairment, lab.peerOf(sender));
  }

  /** To be called before the fault is injected. */
  async begin(): Promise<void> {
    this.before = (await this.read()).dropped;
  }

  /** To be called while it is in place. */
  async count(): Promise<DropCount> {
    const { seen, dropped } = await this.read();
    return { seen, dropped: dropped - this.before, probability: await this.probability() };
  }

  private async read(): Promise<{ seen: number; dropped: number }> {
    const { node, interface: name } = this.receiver;
    const { stdout } = await node.place.run(['nft', '-j', 'list', 'counters']);
    const counters = parseCounters(stdout);
    const packets = (counter: string): number => counters.get(counter)?.packets ?? 0;
    return { seen: packets('seen'), dropped: packets(counterName('damaged', name)) };
  }

  private async probability(): Promise<number> {
    const { fromPort } = this.impairment;
    const signal = (await this.fabric.readBack(this.impairment))[fromPort]?.signal;
    return typeof signal === 'object' ? Number(signal.damagedFrameRatio) : NaN;
  }
}

/** By how many standard deviations of a binomial count the drops are off; null where nothing could be dropped. */
export function deviationsOff({ seen, dropped, probability }: DropCount): number | null {
  const variance = seen * probability * (1 - probability);
  return variance > 0 ? Math.abs(dropped - seen * probability) / Math.sqrt(variance) : null;
}
