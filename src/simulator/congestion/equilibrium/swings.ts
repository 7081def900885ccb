/**
 * What swings about the fixed point make of each queue that binds by its marks: means, peaks, and lost capacity.
 *
 * N is the load that the queue binds over its fastest QP; the loop runs on the link's capacity where that load is most
 * of it, else on the load itself, rounded so that like loops are run once.
 */
import type { BalanceState } from './balance-state.js';
import type { Binding } from './binding.js';
import type { Buffers } from './buffers.js';
import type { EquilibriumNetwork } from './model.js';
import { Oscillation } from './oscillation.js';
import { roomFloat64 } from './room.js';
import type { Scene } from './scene.js';

const { abs, exp, floor, log, max, round } = Math;

/** From this share of the link on a load counts as all of it; below it is rounded to steps of so much. */
const MOST_OF_LINK = 0.75;
const LOAD_STEP = 1.2;
/** Fewer flows than this are one. */
const ALONE = 1.5;
const ALONE_STEP = 1.02;
/** Lost capacity below this is none. */
const LOST = 1e-3;

export class Swings {
  /** By queue, over the fixed point: mean bytes, near-peak bytes, marks; and CNPs over evenly spread ones. */
  queueRatio = new Float64Array(64);
  peakRatio = new Float64Array(64);
  markRatio = new Float64Array(64);
  cnpRatio = new Float64Array(64);
  /** Largest change of a queue's usable capacity that was found last. */
  change = 0;
  private readonly oscillation: Oscillation | null;

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly scene: Scene,
    private readonly buffers: Buffers,
    private readonly binding: Binding,
    private readonly lineRate: number,
  ) {
    const { dcqcn, packetBytes } = network;
    this.oscillation = dcqcn === null ? null : new Oscillation(dcqcn, packetBytes);
  }

  begin(): void {
    const { queueCount } = this.scene;
    this.change = 0;
    for (const name of RATIOS) {
      this[name] = roomFloat64(this[name], queueCount);
      this[name].fill(1, 0, queueCount);
    }
  }

  /** Works out the ratios; true when a queue's usable capacity has changed. */
  find(balance: BalanceState): boolean {
    const { scene, binding, oscillation } = this;
    if (oscillation === null) return false;
    let changed = false;
    this.change = 0;
    for (let queue = 0; queue < scene.queueCount; queue++) {
      const marking = this.buffers.marking[queue];
      if (marking === undefined || binding.markedLoad[queue] === 0 || balance.delay[queue] === 0) continue;
      const swing = oscillation.swing({
        flows: binding.markedLoad[queue] / binding.markedMost[queue],
        capacity: this.loopCapacity(queue),
        lineRate: this.lineRate,
        marking,
        feedbackNs: this.feedbackNs(queue),
        roomBytes: this.network.bufferBytes[this.network.fromDevice[scene.queueDirection[queue]]],
      });
      this.queueRatio[queue] = swing.queueBytes / max(1, swing.restBytes);
      this.peakRatio[queue] = swing.peakBytes / max(1, swing.restBytes);
      this.markRatio[queue] = swing.markRatio / swing.restMarkRatio;
      this.cnpRatio[queue] = swing.cnpRatio;
      const usable = swing.usable > 1 - LOST ? 1 : swing.usable;
      const change = abs(usable - balance.usable[queue]);
      if (change < LOST) continue;
      this.change = max(this.change, change);
      balance.usable[queue] = usable;
      changed = true;
    }
    return changed;
  }

  private loopCapacity(queue: number): number {
    const { scene, binding } = this;
    const all = scene.capacity[queue];
    const share = binding.markedLoad[queue] / all;
    // One flow alone is bound by so much as others leave it, however little they take.
    if (binding.markedLoad[queue] < ALONE * binding.markedMost[queue])
      return all * exp(floor(log(share) / log(ALONE_STEP)) * log(ALONE_STEP));
    return share > MOST_OF_LINK ? all : all * exp(round(log(share) / log(LOAD_STEP)) * log(LOAD_STEP));
  }

  /** From a mark to the rate that answers it: the rest of the way, the way back, and the way to the queue. */
  private feedbackNs(queue: number): number {
    const { scene } = this;
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      for (let path = scene.pathStart[flow]; path < scene.pathStart[flow + 1]; path++) {
        for (let hop = scene.hopStart[path]; hop < scene.hopStart[path + 1]; hop++) {
          if (scene.hopQueue[hop] === queue) return scene.pathRoundTripNs[path];
        }
      }
    }
    return 0;
  }
}

const RATIOS = ['queueRatio', 'peakRatio', 'markRatio', 'cnpRatio'] as const;
