/**
 * The balance in the terms of counters and gauges: by link direction and class, by device, by queue pair.
 *
 * A direction whose far port is full is held by pauses for the share of the time that it would otherwise be sending; a
 * receiver that accepts less than the link carries holds it likewise. Queues are delay × rate. A receiver sends a CNP
 * per QP when a marked packet arrives, at most one an interval: marks at rate m give (1 - e^(-m·τ)) / τ.
 */
import type { Balance } from './balance.js';
import type { Buffers } from './buffers.js';
import type { IdlePorts } from './idle-ports.js';
import type { EquilibriumNetwork, EquilibriumResult } from './model.js';
import { roomFloat64, roomInt32 } from './room.js';
import type { Scene } from './scene.js';
import type { Stuck } from './stuck.js';

const DEFAULT_CNP_INTERVAL_NS = 50e3;

export class Outcome {
  private readonly result: EquilibriumResult;

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly scene: Scene,
    private readonly buffers: Buffers,
    private readonly stuck: Stuck,
    private readonly balance: Balance,
  ) {
    const { directions, classes, isSwitch } = network;
    const byQueue = (): Float64Array => new Float64Array(directions * classes);
    this.result = {
      congested: false,
      rate: new Float64Array(64),
      arrivalRate: byQueue(),
      carriedRate: byQueue(),
      carriedDataRate: byQueue(),
      queueBytes: byQueue(),
      queueMaxBytes: byQueue(),
      markRatio: byQueue(),
      pausedShare: byQueue(),
      pausesPerNs: byQueue(),
      dropRatio: byQueue(),
      discardRate: byQueue(),
      bufferBytes: new Float64Array(isSwitch.length),
      bufferMaxBytes: new Float64Array(isSwitch.length),
      bufferNeededBytes: new Float64Array(isSwitch.length),
      bufferSharedBytes: new Float64Array(isSwitch.length),
      devices: new Int32Array(64),
      deviceCount: 0,
      pathStart: new Int32Array(65),
      pathMarkRatio: new Float64Array(64),
      pathCnpPerNs: new Float64Array(64),
      pathSentRatio: new Float64Array(64),
      pathLossRatio: new Float64Array(64),
      touched: new Int32Array(64),
      touchedCount: 0,
    };
  }

  /** Nothing is contended: flows have their wishes. */
  calm(): EquilibriumResult {
    this.clear();
    const { scene, result } = this;
    result.congested = false;
    result.rate = roomFloat64(result.rate, scene.flowCount);
    for (let flow = 0; flow < scene.flowCount; flow++) result.rate[flow] = scene.wish[flow];
    return result;
  }

  /** Useful bytes/ns by flow. */
  rates(): Float64Array {
    const { scene, balance, result } = this;
    result.rate = roomFloat64(result.rate, scene.flowCount);
    for (let flow = 0; flow < scene.flowCount; flow++) {
      result.rate[flow] = scene.active[flow] === 1 ? balance.rate[flow] : scene.wish[flow];
    }
    return result.rate;
  }

  /** @param ports none of which pauses, where the search left them out */
  read(ports?: IdlePorts): EquilibriumResult {
    const { scene, result } = this;
    this.clear();
    result.congested = true;
    this.rates();
    result.touched = roomInt32(result.touched, scene.queueCount);
    for (let queue = 0; queue < scene.queueCount; queue++) this.readQueue(queue);
    ports?.devices.forEach((device, at) => {
      this.noteDevice(device);
      result.bufferNeededBytes[device] = Math.max(result.bufferNeededBytes[device], ports.needed[at]);
    });
    this.readPaths();
    return result;
  }

  private clear(): void {
    const { result, network } = this;
    for (let at = 0; at < result.touchedCount; at++) {
      const key = result.touched[at];
      const direction = key % network.directions;
      for (const name of BY_QUEUE) result[name][key] = 0;
      for (const device of [network.fromDevice[direction], network.toDevice[direction]]) {
        for (const name of BY_DEVICE) result[name][device] = 0;
      }
    }
    result.touchedCount = 0;
    result.deviceCount = 0;
  }

  private readQueue(queue: number): void {
    const { scene, balance, result, network, stuck } = this;
    const direction = scene.queueDirection[queue];
    const key = scene.queueClass[queue] * network.directions + direction;
    const arrives = balance.load[queue];
    if (arrives === 0 && balance.delay[queue] === 0 && stuck.queues[queue] === 0) return;
    result.touched[result.touchedCount++] = key;
    const carried = balance.carried(queue);
    result.arrivalRate[key] = arrives;
    result.carriedRate[key] = carried;
    result.carriedDataRate[key] = balance.data[queue] * (1 - balance.drop[queue]);
    const restBytes = stuck.queues[queue] === 1 ? this.stuckBytes(queue) : balance.delay[queue] * carried;
    const { queueRatio, peakRatio, markRatio } = balance.swings;
    result.queueBytes[key] = restBytes * queueRatio[queue];
    result.queueMaxBytes[key] = restBytes * Math.max(queueRatio[queue], peakRatio[queue]);
    result.markRatio[key] = Math.min(1, balance.mark[queue] * markRatio[queue]);
    result.dropRatio[key] = arrives > 0 ? 1 - carried / arrives : 0;
    result.discardRate[key] = balance.spill[queue] * result.carriedDataRate[key];
    this.readPause(queue, key);
    const from = network.fromDevice[direction];
    if (scene.fromSwitch[queue] === 1 && result.queueMaxBytes[key] > 0) {
      this.noteDevice(from);
      result.bufferBytes[from] += result.queueBytes[key];
      result.bufferMaxBytes[from] += result.queueMaxBytes[key];
    }
    this.readNeed(queue);
  }

  /** Free buffer that a queue or its far port asks for, in terms of what makes it drop or pause. */
  private readNeed(queue: number): void {
    const { scene, balance, buffers, result, network, stuck } = this;
    const direction = scene.queueDirection[queue];
    const [from, to] = [network.fromDevice[direction], network.toDevice[direction]];
    const { bufferNeededBytes } = result;
    if (scene.fromSwitch[queue] === 1) {
      const bytes = balance.delay[queue] * balance.room[queue];
      bufferNeededBytes[from] = Math.max(bufferNeededBytes[from], buffers.freeForQueue(queue, bytes));
    }
    if (buffers.pauses[queue] === 0) return;
    const held = stuck.queues[queue] === 1 ? Infinity : balance.held[queue];
    if (held > 0) this.noteDevice(to);
    bufferNeededBytes[to] = Math.max(bufferNeededBytes[to], buffers.freeForPort(queue, held));
  }

  private noteDevice(device: number): void {
    const { result } = this;
    if (result.bufferSharedBytes[device] > 0) return;
    result.bufferSharedBytes[device] = Math.max(1, this.buffers.sharedOf(device));
    result.devices = roomInt32(result.devices, result.deviceCount + 1);
    result.devices[result.deviceCount++] = device;
  }

  private readPause(queue: number, key: number): void {
    const { result, balance } = this;
    const { pauses } = balance;
    if (this.stuck.queues[queue] === 1) {
      result.pausedShare[key] = 1;
      return;
    }
    if (!pauses.read(queue, balance)) return;
    const { heldShare, pausesPerNs, overshootBytes } = pauses.rhythm;
    result.pausedShare[key] = heldShare;
    result.pausesPerNs[key] = pausesPerNs;
    const to = this.network.toDevice[this.scene.queueDirection[queue]];
    if (this.buffers.pauses[queue] === 1) result.bufferMaxBytes[to] += overshootBytes;
  }

  /** What the ports in front of a queue that never moves hold for it: each all it may, shared by where it leads. */
  private stuckBytes(queue: number): number {
    const { scene, buffers, stuck } = this;
    let bytes = 0;
    for (let from = 0; from < scene.queueCount; from++) {
      if (stuck.queues[from] === 0 || buffers.pauses[from] === 0) continue;
      let feeds = 0;
      let ways = 0;
      for (let pair = scene.firstPair[from]; pair >= 0; pair = scene.pairNext[pair]) {
        const to = scene.pairTo[pair];
        ways += stuck.queues[to];
        if (to === queue) feeds = 1;
      }
      if (feeds === 1) bytes += buffers.threshold[from] / ways;
    }
    return bytes;
  }

  private readPaths(): void {
    const { scene, result, balance, network } = this;
    const { repeats } = balance;
    const { markRatio, cnpRatio } = balance.swings;
    const cnpNs = network.dcqcn?.cnpIntervalNs ?? DEFAULT_CNP_INTERVAL_NS;
    const { givenStart } = scene;
    const count = givenStart[scene.flowCount];
    result.pathStart = roomInt32(result.pathStart, scene.flowCount + 1);
    result.pathStart.set(givenStart.subarray(0, scene.flowCount + 1));
    for (const name of BY_PATH) result[name] = roomFloat64(result[name], count);
    for (let flow = 0; flow < scene.flowCount; flow++) {
      for (let given = givenStart[flow]; given < givenStart[flow + 1]; given++) {
        const path = scene.pathOf[given];
        let unmarked = 1;
        let even = 1;
        for (
          let hop = path < 0 ? 0 : scene.hopStart[path];
          path >= 0 && hop < scene.hopStart[path + 1];
          hop++
        ) {
          const queue = scene.hopQueue[hop];
          const mark = Math.min(1, balance.mark[queue] * markRatio[queue]);
          unmarked *= 1 - mark;
          if (mark > 0) even = Math.min(even, cnpRatio[queue]);
        }
        const sentRatio = path < 0 ? 1 : repeats.sentRatio[path];
        const lossRatio = path < 0 ? 0 : repeats.lossRatio[path];
        const useful = path < 0 ? 0 : scene.pathWeight[path] * balance.rate[flow];
        const marksPerNs = ((1 - unmarked) * useful * sentRatio * (1 - lossRatio)) / network.packetBytes;
        result.pathMarkRatio[given] = 1 - unmarked;
        result.pathCnpPerNs[given] =
          network.dcqcn === null ? 0 : (even * -Math.expm1(-marksPerNs * cnpNs)) / cnpNs;
        result.pathSentRatio[given] = sentRatio;
        result.pathLossRatio[given] = lossRatio;
      }
    }
  }
}

const BY_QUEUE = [
  'arrivalRate',
  'carriedRate',
  'carriedDataRate',
  'queueBytes',
  'queueMaxBytes',
  'markRatio',
  'pausedShare',
  'pausesPerNs',
  'dropRatio',
  'discardRate',
] as const;
const BY_PATH = ['pathMarkRatio', 'pathCnpPerNs', 'pathSentRatio', 'pathLossRatio'] as const;
const BY_DEVICE = ['bufferBytes', 'bufferMaxBytes', 'bufferNeededBytes', 'bufferSharedBytes'] as const;
