/**
 * Lost bytes read at quiet moments, where two unevenly polled counters must agree to the byte.
 *
 * Pairs a sender's sample with the receiver's nearest one, some ms away. Under load the pair differs by what was sent
 * in between; whenever the link was idle between the two, it shows exactly what is missing. Training traffic pauses
 * in every step, so the quiet value comes back again and again: a plateau of equal readings, and never beyond it, since
 * a later receiver can only have counted more (an earlier one only less). Loss moves the plateau for good.
 * It assumes quiet moments on both sides of the loss. Polls that beat with the steps may miss them for long, and a
 * plateau under load then looks like loss when it ends, or like gain; a gain is impossible, and so tells when that
 * happens. Callers must weigh a shift against simultaneous ones elsewhere.
 */
import type { Column } from './samples.js';
import type { Interval } from './context.js';

export interface LevelShift {
  bytes: number;
  /** Last reading on the old plateau, first one off it; where the receiver is read first, load may make that early. */
  began: Interval;
  /** First reading on the new plateau, ns. */
  settledNs: number;
}

export interface IdleLevels {
  shift: LevelShift | null;
  /** Where the level seems to fall, which no link can do; null where it does not. */
  gain: Interval | null;
  /** True when the same plateau was seen early and late, so that nothing can have been lost in between. */
  constant: boolean;
}

/** Readings that make a plateau, on each side. */
const SUPPORT = 3;
/** Packets that may sit between the two counters of an idle link. */
export const IDLE_TOLERANCE_BYTES = 8192;
/** A pair is usable when it is closer than this share of the poll interval. */
const NEAR = 0.25;

/** Readings of both counters, near enough to each other; sent minus received. */
interface Pairs {
  count: number;
  timesNs: Float64Array;
  gaps: Float64Array;
}

/** @returns null when the samples can't be paired, or lie now before and now after each other */
export function idleLevels(sent: Column, received: Column): IdleLevels | null {
  const { pairs, receiverLater, receiverEarlier } = pair(sent, received);
  if (pairs.count < 2 * SUPPORT || (receiverLater && receiverEarlier)) return null;
  // Seen backwards and upside down, an early receiver's readings obey the law of a late one's.
  const readings = receiverEarlier ? mirrored(pairs) : pairs;
  const levels = twoPlateaus(readings.gaps);
  if (levels === null) {
    const gain = seemingGain(readings, receiverEarlier);
    return { shift: null, gain, constant: gain === null && isConstant(readings.gaps) };
  }
  const [low, high] = receiverEarlier ? [-levels[1], -levels[0]] : levels;
  return { shift: shiftBetween(pairs, low, high), gain: null, constant: false };
}

/** Time of a fall: the last reading on the high plateau and the first of those on the low one. */
function seemingGain({ count, timesNs, gaps }: Pairs, mirror: boolean): Interval | null {
  const levels = twoPlateaus(gaps.slice().reverse());
  if (levels === null) return null;
  const last = gaps.findLastIndex((gap) => near(gap, levels[1]));
  const [one, other] = [timesNs[last], timesNs[Math.min(last + 1, count - 1)]];
  return mirror ? { fromNs: -other, toNs: -one } : { fromNs: one, toNs: other };
}

function pair(sent: Column, received: Column) {
  const [timesNs, gaps] = [new Float64Array(sent.count), new Float64Array(sent.count)];
  const { count: others, timesNs: receivedNs, values } = received;
  let count = 0;
  let receiverLater = false;
  let receiverEarlier = false;
  const limitNs = NEAR * shortestStepNs(sent);
  for (let index = 0, next = 0; index < sent.count && others > 0; index++) {
    const timeNs = sent.timesNs[index];
    let distanceNs = Math.abs(receivedNs[next] - timeNs);
    while (next + 1 < others) {
      const nextNs = Math.abs(receivedNs[next + 1] - timeNs);
      if (nextNs > distanceNs) break;
      distanceNs = nextNs;
      next++;
    }
    if (distanceNs > limitNs) continue;
    timesNs[count] = timeNs;
    gaps[count++] = sent.values[index] - values[next];
    receiverLater ||= receivedNs[next] > timeNs;
    receiverEarlier ||= receivedNs[next] < timeNs;
  }
  const pairs: Pairs = { count, timesNs: timesNs.subarray(0, count), gaps: gaps.subarray(0, count) };
  return { pairs, receiverLater, receiverEarlier };
}

function shortestStepNs({ count, timesNs }: Column): number {
  let shortest = Infinity;
  for (let index = 1; index < count; index++) {
    shortest = Math.min(shortest, timesNs[index] - timesNs[index - 1]);
  }
  return Number.isFinite(shortest) ? shortest : 0;
}

const mirrored = ({ count, timesNs, gaps }: Pairs): Pairs => ({
  count,
  timesNs: timesNs.map((timeNs) => -timeNs).reverse(),
  gaps: gaps.map((gap) => -gap).reverse(),
});

const near = (gap: number, level: number): boolean => Math.abs(gap - level) <= IDLE_TOLERANCE_BYTES;

/** The plateau of the highest readings before a step and of those after it; null without such a step. */
function twoPlateaus(gaps: Float64Array): [number, number] | null {
  let top = -Infinity;
  let support = 0;
  for (let index = 0; index < gaps.length; index++) {
    const gap = gaps[index];
    if (gap <= top + IDLE_TOLERANCE_BYTES) {
      if (near(gap, top)) support++;
      continue;
    }
    if (support >= SUPPORT && countNear(gaps, index, gaps.length, top) === 0) {
      const highest = highestFrom(gaps, index);
      if (countNear(gaps, index, gaps.length, highest) >= SUPPORT) return [top, highest];
    }
    top = gap;
    support = 1;
  }
  return null;
}

function isConstant(gaps: Float64Array): boolean {
  const top = highestFrom(gaps, 0);
  const third = Math.floor(gaps.length / 3);
  return countNear(gaps, 0, third, top) > 0 && countNear(gaps, gaps.length - third, gaps.length, top) > 0;
}

function countNear(gaps: Float64Array, from: number, to: number, level: number): number {
  let count = 0;
  for (let index = from; index < to; index++) if (near(gaps[index], level)) count++;
  return count;
}

function highestFrom(gaps: Float64Array, from: number): number {
  let highest = -Infinity;
  for (let index = from; index < gaps.length; index++) if (gaps[index] > highest) highest = gaps[index];
  return highest;
}

function shiftBetween({ timesNs, gaps }: Pairs, low: number, high: number): LevelShift | null {
  const last = gaps.findLastIndex((gap) => near(gap, low));
  const settled = gaps.findIndex((gap, index) => index > last && near(gap, high));
  if (last < 0 || settled < 0) return null;
  const left = gaps.findIndex(
    (gap, index) => index > last && gap > low + IDLE_TOLERANCE_BYTES && gap <= high + IDLE_TOLERANCE_BYTES,
  );
  return {
    bytes: high - low,
    began: { fromNs: timesNs[last], toNs: timesNs[left < 0 ? settled : left] },
    settledNs: timesNs[settled],
  };
}
