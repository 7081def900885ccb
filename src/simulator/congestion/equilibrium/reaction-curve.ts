/**
 * DCQCN's fixed point: which rate a reaction point holds for which share of marked packets.
 *
 * Zhu et al. (SIGCOMM 2015; CoNEXT 2016) write the reaction point as drifts of α, target and rate. With marks at rate
 * λ = pR (packets/ns), cuts come at a0/τ with a0 = 1 - (1-p)^(τR), α settles at 1 - (1-p)^(τ'R), increase events at
 * D = d + b and those that raise the target at E. Target at rest: (RT - RC)·a0/τ = R_AI·E; rate at rest:
 * RC·α·a0/τ = (RT - RC)·D. So a0²·α / (D·E) = τ²·R_AI / RC, the exact form (the cube root for small p is 19-30 % high).
 * Extended by the hyper increase of timer-driven NICs: event F+1 raises the target by R_AI, later ones by R_HAI.
 * At a queue shared by N such flows RC = C/N gives p*, and the marking curve the queue.
 * Not modelled: draws of single marks, synchronised cuts (see oscillation.ts).
 */
import type { EquilibriumDcqcn, MarkingCurve } from './model.js';

const { exp, expm1, log, log1p, max, min } = Math;

const POINTS = 192;
/** No share of marks below this ever matters: one packet in 1e12. */
const LEAST_HAZARD = 1e-12;
const MOST_HAZARD = 50;
const HALVINGS = 80;

/**
 * How far the drift of the rate is from rest when a QP sends at `rate` (bytes/ns) and packets have the hazard
 * -ln(1-p): the left side of the fixed point over the right one, so 1 at rest, more when marks are too many.
 */
function drift(hazard: number, rate: number, settings: EquilibriumDcqcn, packetBytes: number): number {
  const { alphaIntervalNs, decreaseIntervalNs, increaseIntervalNs, fastRecoveryTimes } = settings;
  const marksPerNs = (hazard * rate) / packetBytes;
  const cut = -expm1(-marksPerNs * decreaseIntervalNs);
  const alpha = -expm1(-marksPerNs * alphaIntervalNs);
  let moves = eventsPerNs(marksPerNs, increaseIntervalNs);
  const survive = exp(-marksPerNs * increaseIntervalNs);
  const raises = moves * survive ** fastRecoveryTimes;
  let raised = raises * (settings.additiveIncrease * (1 - survive) + settings.hyperIncrease * survive);
  if (settings.byteCounterBytes !== undefined && settings.byteCounterBytes < Infinity) {
    const counterNs = settings.byteCounterBytes / rate;
    const counted = eventsPerNs(marksPerNs, counterNs);
    moves += counted;
    raised += counted * exp(-marksPerNs * counterNs * fastRecoveryTimes) * settings.additiveIncrease;
  }
  // The published form counts marked packets, p, where the exponents have -ln(1-p).
  const packets = -expm1(-hazard) / hazard;
  return (cut * cut * alpha * rate) / (decreaseIntervalNs ** 2 * raised * moves * packets ** 2);
}

/** Increase events of a clock that marks restart: λ / (e^(λT) - 1). */
function eventsPerNs(marksPerNs: number, periodNs: number): number {
  return marksPerNs === 0 ? 1 / periodNs : marksPerNs / expm1(marksPerNs * periodNs);
}

/** Hazard per packet at which a QP rests at `rate`, bytes/ns. */
function restingHazard(rate: number, settings: EquilibriumDcqcn, packetBytes: number): number {
  let low = log(LEAST_HAZARD);
  let high = log(MOST_HAZARD);
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2;
    const value = drift(exp(middle), rate, settings, packetBytes);
    // With more marks than any increase can answer the drift overflows, which is far too many.
    if (value < 1) low = middle;
    else high = middle;
  }
  return exp((low + high) / 2);
}

/** Probability that a packet is marked where a QP rests at `rate`. */
export function restingMarkRatio(rate: number, settings: EquilibriumDcqcn, packetBytes: number): number {
  return -expm1(-restingHazard(rate, settings, packetBytes));
}

/** Queue whose packets are marked with a probability: on the slope, or at Kmax for all beyond Pmax. */
export function queueOfMarkRatio({ kminBytes, kmaxBytes, pmax }: MarkingCurve, ratio: number): number {
  return ratio >= pmax ? kmaxBytes : kminBytes + (ratio / pmax) * (kmaxBytes - kminBytes);
}

/** The fixed point as a table: rate of a QP by the hazard its packets meet, log-linear between points. */
export class ReactionCurve {
  /** By point, from the least rate to the highest. */
  private readonly logRates = new Float64Array(POINTS);
  private readonly logHazards = new Float64Array(POINTS);

  /** @param lineRate highest rate a QP can have, bytes/ns; below the resting hazard of that rate nothing holds it */
  constructor(
    private readonly settings: EquilibriumDcqcn,
    private readonly lineRate: number,
    packetBytes: number,
  ) {
    const least = log(min(settings.minRate, lineRate / 2));
    const span = log(lineRate) - least;
    for (let point = 0; point < POINTS; point++) {
      const logRate = least + (span * point) / (POINTS - 1);
      this.logRates[point] = logRate;
      this.logHazards[point] = log(restingHazard(exp(logRate), settings, packetBytes));
    }
  }

  /** Hazard that holds a QP at the line rate. */
  get leastHazard(): number {
    return exp(this.logHazards[POINTS - 1]);
  }

  /** bytes/ns that a QP holds whose packets meet this hazard; Infinity where marks are too few to hold anyone. */
  rateAt(hazard: number): number {
    if (hazard <= 0) return Infinity;
    const wanted = log(hazard);
    const { logHazards, logRates } = this;
    if (wanted <= logHazards[POINTS - 1]) return Infinity;
    if (wanted >= logHazards[0]) return this.settings.minRate;
    let low = 0;
    let high = POINTS - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (logHazards[middle] > wanted) low = middle;
      else high = middle;
    }
    const share = (logHazards[low] - wanted) / max(1e-300, logHazards[low] - logHazards[high]);
    return exp(logRates[low] + share * (logRates[high] - logRates[low]));
  }

  /** Hazard at which a QP holds this rate. */
  hazardAt(rate: number): number {
    const { logHazards, logRates } = this;
    const place = ((log(rate) - logRates[0]) / (log(this.lineRate) - logRates[0])) * (POINTS - 1);
    if (place <= 0) return exp(logHazards[0]);
    if (place >= POINTS - 1) return exp(logHazards[POINTS - 1]);
    const low = Math.floor(place);
    return exp(logHazards[low] + (place - low) * (logHazards[low + 1] - logHazards[low]));
  }
}

/** Hazard of a mark probability; finite for certainty. */
export const hazardOf = (ratio: number): number =>
  ratio < 1 ? min(MOST_HAZARD, -log1p(-ratio)) : MOST_HAZARD;
