/**
 * What switches let a queue's bytes take: pause thresholds of ingress ports, limits of lossy egress queues.
 *
 * Dynamic thresholds (Choudhury and Hahne 1998): a share of the buffer that is still free, so that many busy ports
 * leave each other less. A lossless ingress port pauses its sender there; a lossy egress queue drops there. Reserves
 * and the headrooms of lossless classes are no part of the shared buffer. A NIC that is slow to take a class which is
 * not paused drops, with next to no buffer of its own, and no queue stands in front of it.
 * Not modelled: pools of their own for classes, egress limits of lossless queues.
 */
import type { EquilibriumNetwork, MarkingCurve } from './model.js';
import { roomBytes, roomFloat64 } from './room.js';
import type { Scene } from './scene.js';

/** Part of the way to the value that holds that thresholds take in one sweep. */
const DAMPING = 0.5;
/** A port counts as full from this share of its threshold on. */
const FULL = 0.995;
const DEFAULT_RESUME_BYTES = 3072;

export class Buffers {
  /** False: as if no port ever paused its sender. */
  pausing = true;
  /** By queue, of the port at its far end: 1 where it pauses; bytes it may hold before it does. */
  pauses = new Uint8Array(64);
  threshold = new Float64Array(64);
  headroom = new Float64Array(64);
  resumeOffset = new Float64Array(64);
  /** By queue, of the switch that sends: bytes it may hold before what comes is dropped, Infinity where it never is. */
  limit = new Float64Array(64);
  /** By queue, of the switch that sends: its marking curve, and bytes that one of its ports may hold while it is empty. */
  readonly marking: (MarkingCurve | undefined)[] = [];
  typical = new Float64Array(64);
  /** By device: shared bytes, in use. */
  readonly use: Float64Array;
  private readonly shared: Float64Array;
  private readonly ports: Int32Array;
  private readonly rest: Float64Array;
  private readonly fullShare: Float64Array;
  private reserve = new Float64Array(64);
  private share = new Float64Array(64);
  private limitShare = new Float64Array(64);
  /** By queue: 1 where a slow NIC drops what it can't take, since the switch would not wait for it. */
  private dropsAtNic = new Uint8Array(64);

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly scene: Scene,
  ) {
    const { directions, isSwitch, toDevice } = network;
    this.use = new Float64Array(isSwitch.length);
    this.rest = new Float64Array(isSwitch.length);
    this.fullShare = new Float64Array(isSwitch.length);
    this.shared = new Float64Array(isSwitch.length);
    this.ports = new Int32Array(isSwitch.length);
    for (let direction = 0; direction < directions; direction++) this.ports[toDevice[direction]]++;
  }

  /**
   * Reads the settings of all queues' switches, whose buffers are empty.
   * @param pausing false: as if no port ever paused its sender
   */
  begin(pausing: boolean): void {
    const { network, scene } = this;
    this.pausing = pausing;
    const { isSwitch, fromDevice, toDevice, freeShareFactor } = network;
    this.grow(scene.queueCount);
    for (let queue = 0; queue < scene.queueCount; queue++) {
      const direction = scene.queueDirection[queue];
      const classIndex = scene.queueClass[queue];
      const from = fromDevice[direction];
      const to = toDevice[direction];
      this.limitShare[queue] = 0;
      this.dropsAtNic[queue] = 0;
      this.pauses[queue] = 0;
      this.marking[queue] = undefined;
      if (isSwitch[from] === 1) {
        this.empty(from);
        const { pfc, freeShare, marking } = network.switchClass(from, classIndex);
        if (!pfc) {
          this.limitShare[queue] = freeShare;
          const slow = scene.link[queue] < network.capacity[direction];
          this.dropsAtNic[queue] = Number(slow && isSwitch[to] === 0);
        }
        if (marking !== undefined && marking.pmax > 0) this.marking[queue] = marking;
        this.typical[queue] = freeShare * this.shared[from];
      }
      if (isSwitch[to] === 1) {
        this.empty(to);
        const settings = network.switchClass(to, classIndex);
        this.pauses[queue] = Number(settings.pfc && pausing);
        this.reserve[queue] = settings.reserveBytes;
        this.share[queue] = settings.freeShare * (freeShareFactor?.[direction] ?? 1);
        this.headroom[queue] = settings.pfc && pausing ? settings.headroomBytes : 0;
        this.resumeOffset[queue] = settings.resumeOffsetBytes ?? DEFAULT_RESUME_BYTES;
      }
      this.apply(queue);
    }
  }

  /**
   * Moves use and thresholds towards what the ports hold, bytes by queue. Of a full port it is the threshold that
   * counts, not what a search has it hold: with F bytes free, full ports use share · F each, so F is what the others
   * leave, divided by 1 + the sum of those shares.
   */
  follow(held: Float64Array): void {
    if (!this.pausing) return;
    const { scene, network, rest, fullShare } = this;
    const { isSwitch, toDevice } = network;
    for (let queue = 0; queue < scene.queueCount; queue++) {
      const to = toDevice[scene.queueDirection[queue]];
      if (isSwitch[to] === 0) continue;
      if (held[queue] >= this.threshold[queue] * FULL) fullShare[to] += this.share[queue];
      else rest[to] += Math.max(0, held[queue] - this.reserve[queue]);
    }
    for (let queue = 0; queue < scene.queueCount; queue++) {
      const to = toDevice[scene.queueDirection[queue]];
      // A device is met once for each queue that ends there, and settled the first time.
      if (isSwitch[to] === 1 && rest[to] >= 0) {
        const free = Math.max(0, this.shared[to] - rest[to]) / (1 + fullShare[to]);
        this.use[to] += DAMPING * (this.shared[to] - free - this.use[to]);
        rest[to] = -1;
      }
    }
    for (let queue = 0; queue < scene.queueCount; queue++) {
      const to = toDevice[scene.queueDirection[queue]];
      rest[to] = 0;
      fullShare[to] = 0;
    }
    for (let queue = 0; queue < scene.queueCount; queue++) this.apply(queue);
  }

  /** Bytes of a device's buffer that all share. */
  sharedOf(device: number): number {
    return this.shared[device];
  }

  /** Free buffer at which so many bytes of the port at a queue's far end are its threshold; Infinity if they are now. */
  freeForPort(queue: number, bytes: number): number {
    return bytes >= FULL * this.threshold[queue]
      ? Infinity
      : Math.max(0, bytes - this.reserve[queue]) / this.share[queue];
  }

  /** Free buffer at which so many bytes in a queue are its limit, Infinity if they are now; 0 for one that never drops. */
  freeForQueue(queue: number, bytes: number): number {
    if (this.limitShare[queue] === 0) return 0;
    return bytes >= FULL * this.limit[queue] ? Infinity : bytes / this.limitShare[queue];
  }

  private apply(queue: number): void {
    const { network, scene } = this;
    const direction = scene.queueDirection[queue];
    const to = network.toDevice[direction];
    const from = network.fromDevice[direction];
    this.threshold[queue] =
      this.pauses[queue] === 1
        ? Math.max(1, this.reserve[queue] + this.share[queue] * (this.shared[to] - this.use[to]))
        : Infinity;
    this.limit[queue] =
      this.dropsAtNic[queue] === 1
        ? network.packetBytes
        : this.limitShare[queue] > 0
          ? Math.max(1, this.limitShare[queue] * (this.shared[from] - this.use[from]))
          : Infinity;
  }

  private empty(device: number): void {
    const { network } = this;
    this.use[device] = 0;
    let perPort = 0;
    for (let classIndex = 0; classIndex < network.classes; classIndex++) {
      const { pfc, headroomBytes, reserveBytes } = network.switchClass(device, classIndex);
      perPort += reserveBytes + (pfc ? headroomBytes : 0);
    }
    this.shared[device] = Math.max(0, network.bufferBytes[device] - this.ports[device] * perPort);
  }

  private grow(count: number): void {
    this.pauses = roomBytes(this.pauses, count);
    this.threshold = roomFloat64(this.threshold, count);
    this.headroom = roomFloat64(this.headroom, count);
    this.resumeOffset = roomFloat64(this.resumeOffset, count);
    this.limit = roomFloat64(this.limit, count);
    this.reserve = roomFloat64(this.reserve, count);
    this.share = roomFloat64(this.share, count);
    this.limitShare = roomFloat64(this.limitShare, count);
    this.dropsAtNic = roomBytes(this.dropsAtNic, count);
    this.typical = roomFloat64(this.typical, count);
  }
}
