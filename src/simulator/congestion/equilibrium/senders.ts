/**
 * Senders in a balance: what every flow sends under the present delays and marks, and what its NICs leave it.
 *
 * A flow's rate is the least of its potential, of what its QPs' reaction points hold for the marks on their ways, and of
 * φ of its NICs, which serve their QPs by turns. φ moves by Newton steps on what the NIC's limited flows load it with and
 * hold at its leaf.
 */
import { MOST_STEP, NEAR, type BalanceState } from './balance-state.js';
import type { Buffers } from './buffers.js';
import type { EquilibriumFlow } from './model.js';
import type { ReactionCurve } from './reaction-curve.js';
import type { Repeats } from './repeats.js';
import type { Scene } from './scene.js';
import type { Stuck } from './stuck.js';

const { abs, max, min } = Math;

export class Senders {
  constructor(
    private readonly state: BalanceState,
    private readonly scene: Scene,
    private readonly buffers: Buffers,
    private readonly stuck: Stuck,
    private readonly repeats: Repeats,
    private readonly curve: ReactionCurve | null,
  ) {}

  chooseRates(flows: readonly EquilibriumFlow[]): void {
    const { scene } = this;
    const { mostRate } = this.state;
    mostRate.fill(0, 0, scene.queueCount);
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      this.state.rate[flow] = this.stuck.flows[flow] === 1 ? 0 : this.chooseRate(flow, flows[flow].potential);
    }
  }

  private chooseRate(flow: number, potential: number): number {
    const { scene } = this;
    const { phi, mostRate } = this.state;
    const sent = this.repeats.some ? this.repeats.mostSentRatio(flow) : 1;
    let limit = min(potential, this.reactionLimit(flow)) / sent;
    this.state.limiter[flow] = -1;
    const end = scene.sourceStart[flow + 1];
    for (let place = scene.sourceStart[flow]; place < end; place++) {
      const nic = scene.sourceQueue[place];
      if (phi[nic] / sent >= limit) continue;
      limit = phi[nic] / sent;
      this.state.limiter[flow] = nic;
    }
    for (let place = scene.sourceStart[flow]; place < end; place++) {
      const nic = scene.sourceQueue[place];
      if (limit * sent > mostRate[nic]) mostRate[nic] = limit * sent;
    }
    return limit;
  }

  /** Most that the reaction points of a flow's QPs allow, bytes/ns of its variable. */
  private reactionLimit(flow: number): number {
    const { scene, curve } = this;
    const { hazard } = this.state;
    if (curve === null) return Infinity;
    const { hopStart, hopQueue } = scene;
    let limit = Infinity;
    for (let path = scene.pathStart[flow]; path < scene.pathStart[flow + 1]; path++) {
      let sum = 0;
      for (let hop = hopStart[path]; hop < hopStart[path + 1]; hop++) sum += hazard[hopQueue[hop]];
      if (sum > 0) limit = min(limit, curve.rateAt(sum) / scene.pathWeight[path]);
    }
    return limit;
  }

  /** What the rates put on links and between queues; repeats follow the drops only while the search moves. */
  spend(moves: boolean): void {
    const { scene } = this;
    const { load, limitedLoad, rate } = this.state;
    const { queueCount, entryQueue, entryCoefficient, entryStart } = scene;
    load.fill(0, 0, queueCount);
    this.state.data.fill(0, 0, queueCount);
    limitedLoad.fill(0, 0, queueCount);
    this.state.pairRate.fill(0, 0, scene.pairCount);
    this.state.pairLimited.fill(0, 0, scene.pairCount);
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      if (rate[flow] === 0) continue;
      const limiter = this.state.limiter[flow];
      for (let entry = entryStart[flow]; entry < entryStart[flow + 1]; entry++) {
        const bytes = entryCoefficient[entry] * rate[flow];
        load[entryQueue[entry]] += bytes;
        if (entryQueue[entry] === limiter) limitedLoad[limiter] += bytes;
      }
      this.pass(flow);
    }
    if (this.repeats.some) this.repeats.spend(this.state, moves);
  }

  /** Rates from queue to queue, of all and of what the first one limits. */
  private pass(flow: number): void {
    const { scene } = this;
    const { data, pairRate, pairLimited } = this.state;
    const { hopPair, hopQueue, hopStart, pathCopies, pathWeight } = scene;
    const limiter = this.state.limiter[flow];
    for (let path = scene.pathStart[flow]; path < scene.pathStart[flow + 1]; path++) {
      const bytes = pathCopies[path] * pathWeight[path] * this.state.rate[flow];
      const first = hopStart[path];
      const end = hopStart[path + 1] - 1;
      if (hopQueue[first] === limiter && first < end) pairLimited[hopPair[first]] += bytes;
      for (let hop = first; hop < end; hop++) pairRate[hopPair[hop]] += bytes;
      for (let hop = first; hop <= end; hop++) data[hopQueue[hop]] += bytes;
    }
  }

  moveNic(nic: number): void {
    const { phi, load, held, limitedLoad, limitedHeld, mostRate } = this.state;
    if (phi[nic] === 0) return;
    const room = this.buffers.threshold[nic];
    const capacity = this.state.room[nic];
    if (limitedLoad[nic] === 0) {
      // Limits nobody: stay within reach of the rates, and step in where the NIC is asked too much.
      const asked = max(load[nic] / capacity, held[nic] / room);
      this.state.worst = max(this.state.worst, asked - 1);
      phi[nic] = asked > 1 + NEAR ? mostRate[nic] * (1 - NEAR) : min(MOST_STEP, 1 / asked) * mostRate[nic];
      return;
    }
    const byLoad = (capacity - load[nic]) / limitedLoad[nic];
    const byRoom = limitedHeld[nic] > 0 ? (room - held[nic]) / limitedHeld[nic] : Infinity;
    const step = min(byLoad, byRoom);
    this.state.worst = max(this.state.worst, abs(step));
    phi[nic] *= max(1 / MOST_STEP, min(MOST_STEP, 1 + step));
  }
}
