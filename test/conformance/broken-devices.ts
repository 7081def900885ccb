/**
 * Devices of a lab that lie, and such as never answer: whatever they say, no drill may believe it.
 *
 * The lab is real, and so is all that these devices are told; only certain orders do not reach the kernel.
 */
import { expect, type it } from '@jest/globals';
import { revertEntry, type UndoEntry } from '../../src/drill/undo.js';
import type { FabricDefinition } from '../../src/fabric-api/definition.js';
import type { Fabric } from '../../src/fabric-api/fabric.js';
import { sameSetting } from '../../src/fabric-api/setting.js';
import type { ImpairmentType } from '../../src/fabric-api/impairment.js';
import { openLab } from '../../src/drivers/linux/open.js';
import { Lab } from '../../src/drivers/linux/lab/lab.js';
import { NamespacePlace, type RunOptions, type RunResult } from '../../src/drivers/linux/transport/place.js';
import { TURN } from '../../src/drivers/linux/undo/programs.js';
import { checkForeignRevert, checkRoundTrip } from './checks.js';
import { SAMPLES } from './samples.js';

type Order = readonly string[];
/** Orders of a fault, and of its undo; questions and undo timers are not among them. */
const isFault = (order: Order): boolean => order.includes(TURN);
const isUndo = (order: Order): boolean => /^(ip link set|tc qdisc|nft -f|sh -c tc )/.test(order.join(' '));

/** A namespace in which some orders are kept from the kernel. */
class BrokenPlace extends NamespacePlace {
  constructor(
    namespace: string,
    private readonly keeps: (order: Order) => boolean,
    private readonly answer: 'ok' | 'none',
  ) {
    super(namespace);
  }

  override run(command: Order, options: RunOptions = {}): Promise<RunResult> {
    if (!this.keeps(command)) return super.run(command, options);
    if (this.answer === 'ok') return Promise.resolve({ stdout: '', stderr: '', code: 0 });
    return super.run(['sleep', '60'], { ...options, timeoutMs: 100 });
  }
}

const TURNED = ['link-admin-down', 'link-cut', 'blackhole', 'link-rate', 'bit-errors'] as const;

/** @param here `it`, or what skips where there can be no lab */
export function brokenDevices(definition: FabricDefinition, here: typeof it.skip): void {
  const withDevices = async (
    keeps: (order: Order) => boolean,
    answer: 'ok' | 'none',
    work: (fabric: Fabric) => Promise<void>,
  ): Promise<void> => {
    const lab = Lab.from(definition);
    for (const node of lab.nodes) node.place = new BrokenPlace(node.namespace, keeps, answer);
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
    const well = ['up', 'forward', { rateGbps: 0.05 }, 'clean'];
    expect(settings.filter((value) => !well.some((one) => sameSetting(one, value)))).toEqual([]);
    await fabric.close();
  };

  /** What the journal holds undoes it all the same, from another process on devices that are whole again. */
  const revertHonestly = async (entry: UndoEntry): Promise<void> => {
    const fabric = await openLab(definition);
    expect(await revertEntry(fabric, entry)).toBeUndefined();
    await fabric.close();
  };

  here.each(TURNED)('%s that was taken and not done is an error, not a fault in place', async (type) => {
    await withDevices(isFault, 'ok', (fabric) =>
      expect(checkRoundTrip(fabric, SAMPLES[type].known)).rejects.toThrow(/took the order .* and did not/),
    );
    await asBefore(type);
  });

  here.each(TURNED)('%s whose undo was taken and not done is found by reading back', async (type) => {
    const { known } = SAMPLES[type];
    let entry = { id: 'one', fault: 'f', impairment: known, saved: {} };
    await withDevices(isUndo, 'ok', async (fabric) => {
      entry = { ...entry, saved: await fabric.readBack(known) };
      await expect(checkForeignRevert(fabric, known)).rejects.toThrow(/toEqual/);
      expect(await revertEntry(fabric, entry)).toMatch(/ is .*, was /);
    });
    await revertHonestly(entry);
    await asBefore(type);
  });

  here('a device that never answers is an error that names the order', async () => {
    const { known } = SAMPLES['link-cut'];
    await withDevices(isFault, 'none', async (fabric) => {
      const entry = { id: 'one', fault: 'f', impairment: known, saved: await fabric.readBack(known) };
      await expect(fabric.apply(entry.id, known)).rejects.toThrow(/no answer within 100 ms/);
      expect(await revertEntry(fabric, entry)).toBeUndefined();
    });
    let entry = { id: 'two', fault: 'f', impairment: known, saved: {} };
    await withDevices(isUndo, 'none', async (fabric) => {
      entry = { ...entry, saved: await fabric.readBack(known) };
      await fabric.apply('two', known);
      expect(await revertEntry(fabric, entry)).toMatch(
        /no answer within 100 ms; by hand: ip netns exec \S+ ip link set dev p\d up/,
      );
    });
    await revertHonestly(entry);
    await asBefore('link-cut');
  });
}
