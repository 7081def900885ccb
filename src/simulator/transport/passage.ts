/**
 * What becomes of bytes that stand before a link, whoever sent them: they cross it, wait, vanish, or are dropped.
 *
 * A queue that a pause watchdog has taken loses them, one behind a pause without end keeps them. A port that says up
 * sends into a hole without knowing; one that says down drops.
 */
import type { FabricSettings } from '../settings.js';
import { packetBytes } from '../settings.js';
import type { Counters } from '../sampling/counters.js';
import type { PauseStorms } from '../network/pause-storms.js';
import type { PhysicalLayer } from '../network/physical-layer.js';

export type Fate = 'crosses' | 'waits' | 'lost';

export class Passage {
  private readonly packet: number;

  constructor(
    settings: FabricSettings,
    private readonly physical: PhysicalLayer,
    private readonly counters: Counters,
    private readonly storms: PauseStorms,
    /** Port that sends on each direction. */
    private readonly portOf: Int32Array,
  ) {
    this.packet = packetBytes(settings);
  }

  /** Lets bytes of a class try a direction, and counts what becomes of them. */
  attempt(classIndex: number, direction: number, bytes: number): Fate {
    const { counters, physical, storms, packet } = this;
    if (storms.some && storms.loses(direction, classIndex)) {
      storms.countLoss(direction, classIndex, bytes / packet, packet);
      return 'lost';
    }
    if (storms.some && storms.blocks(direction, classIndex)) return 'waits';
    if (physical.usable[direction] === 1) {
      counters.carried[classIndex][direction] += bytes;
      return 'crosses';
    }
    const port = this.portOf[direction];
    if (physical.operUp[port] === 1) counters.vanished[classIndex][direction] += bytes;
    else counters.discards[classIndex][port] += bytes / packet;
    return 'lost';
  }
}
