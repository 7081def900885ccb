/**
 * Devices of a lab that lie: whatever they say, no drill may believe it.
 *
 * The lab is real, and so is all that these devices are told; only certain orders do not reach the kernel.
 */
import { expect, type it } from '@jest/globals';
import type { FabricDefinition } from '../../src/fabrics/contract/definition.js';
import type { Fabric } from '../../src/fabrics/contract/fabric.js';
import type { ImpairmentType } from '../../src/fabrics/contract/impairment.js';
import { openLab } from '../../src/fabrics/linux/driver.js';
import { Lab } from '../../src/fabrics/linux/lab/lab.js';
import { NamespacePlace, type RunOptions, type RunResult } from '../../src/fabrics/linux/transport/place.js';
import { TURN } from '../../src/fabrics/linux/undo/programs.js';
import { checkRoundTrip } from './checks.js';
import { SAMPLES } from './samples.js';

type Order = readonly string[];
/** Orders of a fault; questions, undo timers and undo itself are not among them. */
const isFault = (order: Order): boolean => order.includes(TURN);

/** A namespace in which some orders are kept from the kernel. */
class BrokenPlace extends NamespacePlace {
  constructor(
    namespace: string,
    private readonly keeps: (order: Order) => boolean,
  ) {
    super(namespace);
  }

  override run(command: Order, options: RunOptions = {}): Promise<RunResult> {
    if (!this.keeps(command)) return super.run(command, options);
    return Promise.resolve({ stdout: '', stderr: '', code: 0 });
  }
}

const TURNED = ['link-admin-down', 'link-cut', 'blackhole', 'link-rate', 'bit-errors'] as const;

/** @param here `it`, or what skips where there can be no lab */
export function brokenDevices(definition: FabricDefinition, here: typeof it.skip): void {
  const withDevices = async (
    keeps: (order: Order) => boolean,
    work: (fabric: Fabric) => Promise<void>,
  ): Promise<void> => {
    const lab = Lab.from(definition);
    for (const node of lab.nodes) node.place = new BrokenPlace(node.namespace, keeps);
    const fabric = await openLab(definition, lab);
    try {
      await work(fabric);
    } finally {
      await fabric.close();
    }
  };
  /** As `up` has left them: what broken devices left is no part of the next check. */
  const asBefore = async (type: ImpairmentType): Promise<void> => {
    const fabric = await openLab(definition);
    const settings = Object.values(await fabric.readBack(SAMPLES[type].known)).flatMap((one) =>
      Object.values(one),
    );
    expect(settings.filter((value) => !/^(up|forward|0\.05Gbps|clean)$/.test(value))).toEqual([]);
    await fabric.close();
  };

  here.each(TURNED)('%s that was taken and not done is an error, not a fault in place', async (type) => {
    await withDevices(isFault, (fabric) =>
      expect(checkRoundTrip(fabric, SAMPLES[type].known)).rejects.toThrow(/took the order .* and did not/),
    );
    await asBefore(type);
  });
}
