/**
 * QPs whose packets vanish: their retransmission timers, and what each try costs and counts.
 *
 * A QP stalls at the instant its path, or that of its ACKs, stops working while it has data out. It resumes at the
 * first try of its own schedule that finds both ways working: never at the moment of the reroute. When its patience
 * ends it errs, and the job dies. What it sends meanwhile goes as far as the hole and is counted there: the window in
 * flight when the path broke (rate × round trip, at least the packet whose loss starts the timer), then one a try.
 * A QP held by a pause without end has a timer, too, but loses nothing and goes on as soon as the pause ends.
 */
import type { Topology } from '../../model/topology/model.js';
import { packetBytes, type FabricSettings } from '../settings.js';
import { ackWay, dataWay, type Connections, type Way } from './connections.js';
import type { Counters } from '../sampling/counters.js';
import { EVENT } from '../event-kind.js';
import type { EventQueue } from '../event-queue.js';
import { grownFloat64, grownInt32 } from '../rates/incidence.js';
import type { PauseStorms } from '../network/pause-storms.js';
import type { PhysicalLayer } from '../network/physical-layer.js';
import { RetransmissionSchedule } from './retransmission.js';

/** Timers compare doubles of whole ns; half of one tells earlier from equal. */
const HALF_NS = 0.5;

export interface QpListener {
  /** The QP's packets are acknowledged again. */
  qpResumed(qp: number): void;
  /** The QP has given up. */
  qpFailed(qp: number): void;
}

export class QpTimers {
  readonly schedule: RetransmissionSchedule;
  private stalledAtNs = new Float64Array(0);
  /** Number of the next retransmission; 0 for a QP that is well. */
  private attempt = new Int32Array(0);
  /** 1: its packets wait behind a pause without end; none is lost. */
  private held = new Uint8Array(0);
  private timer = new Int32Array(0);
  /** By connection: stalled QPs, and since when there was one. */
  private stalledQps = new Int32Array(0);
  private connectionStalledAtNs = new Float64Array(0);

  constructor(
    private readonly topology: Topology,
    private readonly settings: FabricSettings,
    private readonly queue: EventQueue,
    private readonly physical: PhysicalLayer,
    private readonly connections: Connections,
    private readonly counters: Counters,
    private readonly storms: PauseStorms,
    private readonly listener: QpListener,
  ) {
    this.schedule = new RetransmissionSchedule(settings);
    this.reserve();
  }

  /** Makes room for connections opened since; timers that run go on. */
  reserve(): void {
    const { qpCount, all } = this.connections;
    this.counters.reserve(all.length);
    if (this.attempt.length < qpCount) {
      this.stalledAtNs = grownFloat64(this.stalledAtNs, qpCount);
      this.attempt = grownInt32(this.attempt, qpCount);
      this.timer = grownInt32(this.timer, qpCount, -1);
      const held = new Uint8Array(this.attempt.length);
      held.set(this.held);
      this.held = held;
    }
    if (this.stalledQps.length >= all.length) return;
    this.stalledQps = grownInt32(this.stalledQps, all.length);
    this.connectionStalledAtNs = grownFloat64(this.connectionStalledAtNs, all.length);
  }

  stalled(qp: number): boolean {
    return this.attempt[qp] > 0;
  }

  /**
   * Starts the timer of a QP that is well.
   * @param inFlight packets on their way when the path broke
   */
  stall(nowNs: number, qp: number, inFlight: number): void {
    this.sendIntoTheHole(qp, Math.max(1, Math.ceil(inFlight)));
    this.begin(nowNs, qp);
  }

  private begin(nowNs: number, qp: number): void {
    this.stalledAtNs[qp] = nowNs;
    this.attempt[qp] = 1;
    const connection = this.connections.connectionOf[qp];
    if (this.stalledQps[connection]++ === 0) this.connectionStalledAtNs[connection] = nowNs;
    this.arm(nowNs, qp);
  }

  /** The QP's packets wait behind a pause: no ACK comes, so its timer runs. */
  hold(nowNs: number, qp: number): void {
    if (this.attempt[qp] > 0) return;
    this.held[qp] = 1;
    this.begin(nowNs, qp);
  }

  /** The pause is over: what waited arrives at once, unless it is lost elsewhere by now. */
  release(nowNs: number, qp: number): void {
    if (this.held[qp] === 0) return;
    this.held[qp] = 0;
    if (this.connections.alive(qp)) this.forget(nowNs, qp);
  }

  /** What waited is lost by now; the timer that runs is that of a loss. */
  loseHold(qp: number): void {
    this.held[qp] = 0;
  }

  isHeld(qp: number): boolean {
    return this.held[qp] === 1;
  }

  /** The QP's timer expires. */
  due(nowNs: number, qp: number): void {
    this.timer[qp] = -1;
    const nic = this.sourceNic(qp);
    const attempt = this.attempt[qp];
    if (this.exhausted(nowNs, qp)) {
      this.countFailure(qp);
      this.forget(nowNs, qp);
      this.listener.qpFailed(qp);
      return;
    }
    if (this.schedule.isAdaptive(attempt)) this.counters.adaptiveRetransmissions[nic]++;
    else this.counters.ackTimeouts[nic]++;
    if (this.held[qp] === 0 && this.connections.alive(qp)) {
      this.forget(nowNs, qp);
      this.listener.qpResumed(qp);
      return;
    }
    // A QP that is held can't send; what it has sent waits in queues.
    if (this.held[qp] === 0) this.sendIntoTheHole(qp, 1);
    this.attempt[qp]++;
    this.arm(nowNs, qp);
  }

  /** The QP's job is gone; one whose own patience ends at this very instant has failed, too. */
  abandon(nowNs: number, qp: number): void {
    if (this.attempt[qp] > 0 && this.exhausted(nowNs, qp)) this.countFailure(qp);
    this.forget(nowNs, qp);
  }

  private exhausted(nowNs: number, qp: number): boolean {
    return nowNs >= this.stalledAtNs[qp] + this.schedule.patienceNs - HALF_NS;
  }

  private countFailure(qp: number): void {
    this.counters.ackTimeouts[this.sourceNic(qp)]++;
    this.counters.retriesExceeded[this.sourceNic(qp)]++;
  }

  private sourceNic(qp: number): number {
    return this.connections.all[this.connections.connectionOf[qp]].sourceNic;
  }

  /** Stops the timer of a QP that works again, or is gone. */
  forget(nowNs: number, qp: number): void {
    if (this.attempt[qp] === 0) return;
    this.attempt[qp] = 0;
    this.held[qp] = 0;
    this.queue.cancel(this.timer[qp]);
    this.timer[qp] = -1;
    const connection = this.connections.connectionOf[qp];
    if (--this.stalledQps[connection] === 0) {
      this.counters.stalledNs[connection] += nowNs - this.connectionStalledAtNs[connection];
    }
  }

  /** Time a connection has waited for ACKs so far, ns. */
  stalledNs(nowNs: number, connection: number): number {
    const open = this.stalledQps[connection] > 0 ? nowNs - this.connectionStalledAtNs[connection] : 0;
    return this.counters.stalledNs[connection] + open;
  }

  private arm(nowNs: number, qp: number): void {
    const tryNs = nowNs + this.schedule.intervalNs(this.attempt[qp]);
    const endNs = this.stalledAtNs[qp] + this.schedule.patienceNs;
    this.timer[qp] = this.queue.schedule(Math.min(tryNs, endNs), EVENT.retransmission, qp);
  }

  /** Counts packets that leave the NIC and die on the way, or whose ACKs do. */
  private sendIntoTheHole(qp: number, packets: number): void {
    if (this.send(dataWay(qp), packets, packetBytes(this.settings)) && this.connections.answered(qp)) {
      this.send(ackWay(qp), packets, this.settings.ackBytes);
    }
  }

  /** @returns whether they arrive */
  private send(way: Way, packets: number, bytesEach: number): boolean {
    const { connections, counters } = this;
    const { priority } = connections.all[connections.connectionOf[way >> 1]];
    const classIndex = counters.classOf(priority);
    const reach = connections.reach(way);
    for (let index = 0; index < reach; index++) {
      counters.carried[classIndex][connections.direction(way, index)] += packets * bytesEach;
    }
    if (reach < connections.length(way)) {
      const direction = connections.direction(way, reach);
      const link = this.topology.links[direction >> 1];
      const port = (direction & 1) === 0 ? link.portA : link.portB;
      if (this.storms.loses(direction, classIndex)) {
        this.storms.countLoss(direction, classIndex, packets, bytesEach);
        return false;
      }
      // A port that says up sends; one that says down drops in its queue.
      if (this.physical.operUp[port] === 1) counters.vanished[classIndex][direction] += packets * bytesEach;
      else counters.discards[classIndex][port] += packets;
      return false;
    }
    if (connections.passes(way)) return true;
    const port = connections.missingPort(way);
    if (port >= 0) counters.discards[classIndex][port] += packets;
    return false;
  }
}
