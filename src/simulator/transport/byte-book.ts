/**
 * From a flow's bytes to the counters: every direction that it crosses, the connections it feeds, the frames it loses.
 */
import { packetBytes, type FabricSettings } from '../settings.js';
import type { Connections } from './connections.js';
import type { Counters } from '../sampling/counters.js';
import type { FlowShape } from '../rates/flow-shape.js';
import { countLosses } from './losses.js';
import type { RetransmissionSchedule } from './retransmission.js';
import type { Flow } from '../jobs/running-flow.js';

export class ByteBook {
  constructor(
    private readonly settings: FabricSettings,
    private readonly connections: Connections,
    private readonly counters: Counters,
    private readonly schedule: RetransmissionSchedule,
  ) {}

  /** Counts what a flow has sent since the last call. */
  flush(flow: Flow): void {
    const bytes = flow.unread;
    if (bytes === 0) return;
    flow.unread = 0;
    const { links, coefficients, linkCount, connectionIds, weights, payloadPerWire } = flow.shape!;
    const carried = this.counters.carried[flow.classIndex];
    for (let at = 0; at < linkCount && links[at] < carried.length; at++) {
      carried[links[at]] += coefficients[at] * bytes;
    }
    const { delivered } = this.counters;
    const payload = bytes * payloadPerWire;
    for (let at = 0; at < connectionIds.length; at++) delivered[connectionIds[at]] += weights[at] * payload;
    if (flow.shape!.damage.size > 0) this.countDamage(flow.shape!, flow.classIndex, bytes);
  }

  /** Frames that links damaged while so many useful bytes got across, and how the NICs noticed. */
  private countDamage(shape: FlowShape, classIndex: number, bytes: number): void {
    const { counters, connections } = this;
    const packets = bytes / packetBytes(this.settings);
    for (const [direction, damage] of shape.damage) {
      counters.carried[classIndex][direction] -= damage.bytes * bytes;
      counters.vanished[classIndex][direction] += damage.bytes * bytes;
      counters.damaged[direction] += damage.packets * packets;
    }
    for (const lossy of shape.lossy) {
      countLosses(lossy, packets * lossy.weight, counters, connections, this.schedule);
    }
  }
}
