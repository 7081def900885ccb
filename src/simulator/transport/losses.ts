/**
 * What lost frames cost a queue pair: go-back-N waste, timeouts, and the counters that show both.
 *
 * A lost frame is noticed when the next one arrives out of order; by then a round trip's worth of packets is under way
 * in vain, and all of it is sent again. A receiver asks once per gap (InfiniBand: one NAK until the gap is closed), so
 * a retransmission that is lost as well, or the last packet of a message, costs a timeout. Per useful packet that is
 * 1 + f·W packets on the wire and f·p timeouts, with loss ratio p, f = p / (1 - p) and W packets in a round trip at the
 * pace the collective would have alone. All are expected values: rare long stalls are spread over time.
 * Not modelled: lost ACKs (they are cumulative), congestion control that takes loss as a signal, retries that run out.
 */
import type { FabricSettings } from '../settings.js';
import { packetBytes } from '../settings.js';
import { dataWay, type Connections } from './connections.js';
import type { Counters } from '../sampling/counters.js';
import type { RetransmissionSchedule } from './retransmission.js';

/** From here on a link is not lossy but dead, and falls by other means. */
const MOST_LOSS = 0.999;

export interface LossyQp {
  qp: number;
  connection: number;
  /** Of its edge in the group. */
  weight: number;
  lossRatio: number;
  /** Losses per useful packet. */
  lossesEach: number;
  /** Packets sent again for each of them. */
  windowPackets: number;
}

/** Probability that a packet of the QP is lost on its way. */
export function pathLoss(qp: number, connections: Connections, frameLoss: Float64Array): number {
  const way = dataWay(qp);
  let arrives = 1;
  for (let index = 0; index < connections.length(way); index++) {
    arrives *= 1 - hopLoss(frameLoss, connections.direction(way, index));
  }
  return 1 - arrives;
}

/** Probability that a direction loses a frame, of one whose link is still said to work. */
export const hopLoss = (frameLoss: Float64Array, direction: number): number =>
  Math.min(MOST_LOSS, frameLoss[direction]);

/** @param pace wire bytes/ns that the QP would have without loss */
export function lossyQp(
  qp: number,
  connection: number,
  weight: number,
  lossRatio: number,
  pace: number,
  roundTripNs: number,
  settings: FabricSettings,
): LossyQp {
  const windowPackets = Math.max(1, (pace * roundTripNs) / packetBytes(settings));
  return { qp, connection, weight, lossRatio, lossesEach: lossRatio / (1 - lossRatio), windowPackets };
}

/** How many times longer than without loss a QP takes for a packet, waste and timeouts together. */
export function slowdown(
  lossy: LossyQp,
  pace: number,
  settings: FabricSettings,
  schedule: RetransmissionSchedule,
): number {
  const { lossesEach, windowPackets, lossRatio } = lossy;
  const packetNs = packetBytes(settings) / pace;
  return 1 + lossesEach * windowPackets + (lossesEach * lossRatio * schedule.intervalNs(1)) / packetNs;
}

/** Counts what the sending and the receiving NIC see while a QP gets so many useful packets across. */
export function countLosses(
  lossy: LossyQp,
  usefulPackets: number,
  counters: Counters,
  connections: Connections,
  schedule: RetransmissionSchedule,
): void {
  const { sourceNic, destinationNic } = connections.all[lossy.connection];
  const losses = usefulPackets * lossy.lossesEach;
  counters.sequenceErrors[sourceNic] += losses;
  counters.outOfSequence[destinationNic] += losses * lossy.windowPackets;
  countTimeouts(sourceNic, losses * lossy.lossRatio, counters, schedule);
}

export function countTimeouts(
  nic: number,
  timeouts: number,
  counters: Counters,
  schedule: RetransmissionSchedule,
): void {
  const counter = schedule.isAdaptive(1) ? counters.adaptiveRetransmissions : counters.ackTimeouts;
  counter[nic] += timeouts;
}
