/**
 * The first moments of a start: what piles up while senders that all begin at line rate have not been told yet.
 *
 * N senders of a queue bring R in all, the link takes C. Nobody answers for a feedback time (a mark's way to the sender
 * and the new rate's way back), so the queue grows by (R - C)·d in that time; it passes Kmin at once, and then every
 * sender with a mark cuts by α/2 per decrease interval, α being 1 at first (Zhu et al., SIGCOMM 2015): the excess is
 * R·2^-k - C in interval k. Without DCQCN it goes on until the ports pause. A port pauses once its part of the pile
 * exceeds its threshold, and is held for as long as the excess takes to drain. Marks are taken as certain above Kmax
 * and by expected numbers below. Not modelled: starts that are not at one instant, the slow recovery afterwards.
 */
import { markHazard } from '../../fluid/marking.js';
import type { EquilibriumDcqcn, MarkingCurve } from './model.js';
import { pauseRhythm, type PauseRhythm } from './pauses.js';

const { expm1, max, min } = Math;

/** Intervals after which a start is over, whatever it did. */
const MOST_INTERVALS = 400;
const RESUME_BYTES = 3072;

/** The queue that a start meets, and who starts. */
export interface OnsetQueue {
  /** bytes/ns: of the link, and of all senders together when they begin. */
  capacity: number;
  offeredRate: number;
  /** QPs that begin. */
  flows: number;
  /** From a mark to the rate that answers it, arriving, ns. */
  feedbackNs: number;
  /** Ingress ports that the senders come by, and bytes that each may hold before it pauses; Infinity for none. */
  ports: number;
  thresholdBytes: number;
  /** Bytes that already wait. */
  queuedBytes?: number;
  /** How much there is to send in all, bytes: a short burst is over before anyone has answered. */
  burstBytes?: number;
  marking?: MarkingCurve;
}

export interface Onset {
  /** Highest queue, bytes. */
  peakBytes: number;
  /** Pauses that each of the ports begins, and time that each holds its sender, ns. */
  pauses: number;
  pausedNs: number;
  /** Marked packets of all flows until the load fits. */
  markedPackets: number;
  /** Until the load fits the link or the burst is sent, ns. */
  lastsNs: number;
}

/** Transient of a start; all zero where what is offered fits. */
export function onset(queue: OnsetQueue, dcqcn: EquilibriumDcqcn | null, packetBytes: number): Onset {
  const { capacity, feedbackNs, ports, thresholdBytes, marking } = queue;
  const stepNs = max(1, dcqcn === null ? feedbackNs : min(feedbackNs, dcqcn.decreaseIntervalNs));
  const lateSteps = max(1, Math.ceil(feedbackNs / stepNs));
  const roomBytes = ports * thresholdBytes;
  const rhythm: PauseRhythm = { heldShare: 0, pausesPerNs: 0, overshootBytes: 0, lossRatio: 0 };
  const answered = new Float64Array(lateSteps).fill(1);
  const result: Onset = { peakBytes: 0, pauses: 0, pausedNs: 0, markedPackets: 0, lastsNs: 0 };
  let share = 1;
  let clockNs = 0;
  let heard = 0;
  let waiting = queue.queuedBytes ?? 0;
  let left = queue.burstBytes ?? Infinity;
  for (let step = 0; step < MOST_INTERVALS; step++) {
    const offered = min(queue.offeredRate * answered[step % lateSteps], left / stepNs);
    if (offered <= capacity && waiting <= (queue.queuedBytes ?? 0)) break;
    const full = waiting + (offered - capacity) * stepNs > roomBytes;
    // Ports that are full let pass what the link takes, and hold their senders for the rest of the time.
    const taken = full ? min(offered, capacity + max(0, roomBytes - waiting) / stepNs) : offered;
    if (full && taken < offered) {
      pauseRhythm(offered / ports, capacity / ports, feedbackNs / 4, RESUME_BYTES, Infinity, rhythm);
      result.pauses = max(1, result.pauses) + rhythm.pausesPerNs * stepNs;
      result.pausedNs += stepNs * (1 - taken / offered);
    }
    waiting = max(0, waiting + (taken - capacity) * stepNs);
    left -= taken * stepNs;
    result.peakBytes = max(result.peakBytes, waiting);
    result.lastsNs += stepNs;
    const hazard = marking === undefined ? 0 : markHazard(marking, waiting);
    const sentPackets = (min(capacity, offered + waiting / stepNs) * stepNs) / packetBytes;
    result.markedPackets += -expm1(-hazard) * sentPackets;
    heard += (hazard * sentPackets) / queue.flows;
    // A flow's clock runs from its first mark: half of the flows have one once they expect ln 2.
    if (clockNs > 0 || heard >= Math.LN2) clockNs += stepNs;
    if (dcqcn !== null && clockNs >= dcqcn.decreaseIntervalNs) {
      // Flows with a mark in this interval halve their rate, α being still near 1.
      share *= 1 + expm1(-heard) / 2;
      heard = 0;
      clockNs = stepNs / 2;
    }
    if (dcqcn === null && full) break;
    answered[step % lateSteps] = share;
  }
  return result;
}
