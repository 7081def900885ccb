/**
 * What go-back-N sends in vain where switches drop: more bytes on the links for fewer that count.
 *
 * A path that loses the share L of its packets loses f = L / (1 - L) per useful one. Each loss costs all that is sent
 * until the NACK is back, W packets in a round trip (queueing included), and if the repetition is lost as well, what
 * is sent until the NACK is repeated, R packets: 1 + f·W + f·L·R sent per useful one (losses.ts). What
 * is dropped at one queue loads no later one. Not modelled: timeouts of a lost last packet, lost NACKs.
 */
import type { EquilibriumNetwork } from './model.js';
import { roomFloat64 } from './room.js';
import type { Scene } from './scene.js';

const DEFAULT_NACK_REPEAT_NS = 500e3;
/** Part of the way, in logarithms, that a ratio takes in one sweep. */
const DAMPING = 0.25;
/** A path that loses more carries nothing, whatever is sent. */
const MOST_LOSS = 0.9999;

/** What the balance knows by flow and by queue. */
export interface Traffic {
  rate: Float64Array;
  load: Float64Array;
  data: Float64Array;
  pairRate: Float64Array;
  pairLimited: Float64Array;
  delay: Float64Array;
  drop: Float64Array;
  spill: Float64Array;
  limiter: Int32Array;
  limitedLoad: Float64Array;
}

export class Repeats {
  /** Some queue drops. */
  some = false;
  /** By path: packets sent per useful one, and share of packets lost. */
  sentRatio = new Float64Array(64);
  lossRatio = new Float64Array(64);

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly scene: Scene,
  ) {}

  begin(): void {
    const paths = this.scene.pathStart[this.scene.flowCount];
    this.sentRatio = roomFloat64(this.sentRatio, paths);
    this.lossRatio = roomFloat64(this.lossRatio, paths);
    this.some = false;
    this.sentRatio.fill(1, 0, paths);
    this.lossRatio.fill(0, 0, paths);
  }

  /** Most that one of a flow's paths sends per useful byte. */
  mostSentRatio(flow: number): number {
    let most = 1;
    for (let path = this.scene.pathStart[flow]; path < this.scene.pathStart[flow + 1]; path++) {
      if (this.sentRatio[path] > most) most = this.sentRatio[path];
    }
    return most;
  }

  /** Adds to loads and holdings what flows send beyond their useful bytes, and, if asked, moves the ratios towards the drops. */
  spend(traffic: Traffic, moves: boolean): void {
    const { scene } = this;
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      if (traffic.rate[flow] === 0) continue;
      for (let path = scene.pathStart[flow]; path < scene.pathStart[flow + 1]; path++) {
        this.spendPath(flow, path, traffic, moves);
      }
    }
  }

  private spendPath(flow: number, path: number, traffic: Traffic, moves: boolean): void {
    const { scene, network } = this;
    const { load, pairRate, delay, drop, spill } = traffic;
    const useful = scene.pathWeight[path] * traffic.rate[flow];
    const all = useful * scene.pathCopies[path];
    let arrives = this.sentRatio[path];
    let passes = 1;
    let roundTripNs = 0;
    const end = scene.hopStart[path + 1];
    for (let hop = scene.hopStart[path]; hop < end; hop++) {
      const queue = scene.hopQueue[hop];
      const direction = scene.queueDirection[queue];
      const extra = all * (arrives - 1);
      load[queue] += extra;
      traffic.data[queue] += extra;
      if (queue === traffic.limiter[flow]) traffic.limitedLoad[queue] += extra;
      const stays = (1 - drop[queue]) * (1 - spill[queue]);
      arrives *= stays;
      if (hop + 1 < end) {
        const passed = all * (arrives - 1);
        pairRate[scene.hopPair[hop]] += passed;
        if (queue === traffic.limiter[flow]) traffic.pairLimited[scene.hopPair[hop]] += passed;
      }
      passes *= stays;
      roundTripNs +=
        2 * network.delayNs[direction] + delay[queue] + network.packetBytes / network.capacity[direction];
    }
    const loss = Math.min(MOST_LOSS, 1 - passes);
    this.lossRatio[path] = loss;
    if (!moves) return;
    const packetsPerNs = (useful * this.sentRatio[path]) / network.packetBytes;
    const perUseful = loss / (1 - loss);
    const window = Math.max(1, packetsPerNs * roundTripNs);
    const repeat = packetsPerNs * (network.nackRepeatNs ?? DEFAULT_NACK_REPEAT_NS);
    const wanted = loss === 0 ? 1 : 1 + perUseful * (window + loss * repeat);
    this.sentRatio[path] *= (wanted / this.sentRatio[path]) ** DAMPING;
    if (this.sentRatio[path] < 1 + 1e-12) this.sentRatio[path] = 1;
  }
}
