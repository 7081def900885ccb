/**
 * ECN marks as hazard: what a packet has behind it is a sum over the queues it left.
 *
 * A packet is marked at dequeue with a probability p of the egress queue it leaves behind (RED without averaging, as
 * DCQCN's congestion point). Over several queues, and over fractions of packets, -ln(1-p) adds up where p does not;
 * one mark or more among packets of hazard h then has probability 1 - exp(-h).
 */
import type { MarkingCurve } from './network.js';

/** Stands for certainty: exp(-50) is no event in any run. */
export const CERTAIN_HAZARD = 50;

/** Probability that a packet is marked which leaves `queueBytes` behind. */
export function markProbability({ kminBytes, kmaxBytes, pmax }: MarkingCurve, queueBytes: number): number {
  if (queueBytes <= kminBytes) return 0;
  if (queueBytes > kmaxBytes) return 1;
  return (pmax * (queueBytes - kminBytes)) / (kmaxBytes - kminBytes);
}

/** Hazard of one packet which leaves `queueBytes` behind. */
export function markHazard(curve: MarkingCurve, queueBytes: number): number {
  const probability = markProbability(curve, queueBytes);
  return probability < 1 ? Math.min(CERTAIN_HAZARD, -Math.log1p(-probability)) : CERTAIN_HAZARD;
}
