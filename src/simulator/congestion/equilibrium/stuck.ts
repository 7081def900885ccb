/**
 * What stands still for good because a receiver accepts nothing: the tree of a pause storm.
 *
 * A queue that may not send fills with the bytes of the paths through it, until the ingress ports they came by pause
 * their senders; those stop altogether, with all they carry, and so on back to the NICs. At a switch without PFC the
 * tree ends: what comes is dropped. Flows with a path through the tree stand still, and so do coupled ones as a whole.
 * Not modelled: a flow too short to fill the buffers on its way.
 */
import type { Buffers } from './buffers.js';
import type { Scene } from './scene.js';
import { roomBytes } from './room.js';

export class Stuck {
  /** By queue: 1 where nothing leaves. By flow: 1 where nothing moves. */
  queues = new Uint8Array(64);
  flows = new Uint8Array(64);

  constructor(
    private readonly scene: Scene,
    private readonly buffers: Buffers,
  ) {}

  /** Finds the tree; true when there is one. */
  find(): boolean {
    const { scene } = this;
    this.queues = roomBytes(this.queues, scene.queueCount);
    this.flows = roomBytes(this.flows, scene.flowCount);
    this.flows.fill(0, 0, scene.flowCount);
    let some = false;
    for (let queue = 0; queue < scene.queueCount; queue++) {
      this.queues[queue] = Number(scene.capacity[queue] === 0);
      some ||= this.queues[queue] === 1;
    }
    if (!some) return false;
    while (this.spreads());
    return true;
  }

  private spreads(): boolean {
    const { scene, queues, flows } = this;
    const { pauses } = this.buffers;
    let grew = false;
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      for (let path = scene.pathStart[flow]; path < scene.pathStart[flow + 1]; path++) {
        for (let hop = scene.hopStart[path + 1] - 1; hop >= scene.hopStart[path]; hop--) {
          const queue = scene.hopQueue[hop];
          if (queues[queue] === 0) continue;
          flows[flow] = 1;
          if (hop === scene.hopStart[path]) continue;
          const before = scene.hopQueue[hop - 1];
          if (queues[before] === 1 || pauses[before] === 0) continue;
          queues[before] = 1;
          grew = true;
        }
      }
    }
    return grew;
  }
}
