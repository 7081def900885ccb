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

interface Pair {
  timeNs: number;
  /** Sent minus received. */
  gap: number;
}

/** @returns null when the samples can't be paired, or lie now before and now after each other */
export function idleLevels(sent: Column, received: Column): IdleLevels | null {
  const { pairs, receiverLater, receiverEarlier } = pair(sent, received);
  if (pairs.length < 2 * SUPPORT || (receiverLater && receiverEarlier)) return null;
  // Seen backwards and upside down, an early receiver's readings obey the law of a late one's.
  const readings = receiverEarlier ? mirrored(pairs) : pairs;
  const levels = twoPlateaus(readings);
  if (levels === null) {
    const gain = seemingGain(readings, receiverEarlier);
    return { shift: null, gain, constant: gain === null && isConstant(readings) };
  }
  const [low, high] = receiverEarlier ? [-levels[1], -levels[0]] : levels;
  return { shift: shiftBetween(pairs, low, high), gain: null, constant: false };
}

/** Time of a fall: the last reading on the high plateau and the first of those on the low one. */
function seemingGain(readings: readonly Pair[], mirror: boolean): Interval | null {
  const levels = twoPlateaus([...readings].reverse());
  if (levels === null) return null;
  const last = readings.findLastIndex((reading) => near(reading.gap, levels[1]));
  const next = readings[Math.min(last + 1, readings.length - 1)];
  const [one, other] = [readings[last].timeNs, next.timeNs];
  return mirror ? { fromNs: -other, toNs: -one } : { fromNs: one, toNs: other };
}

function pair(sent: Column, received: Column) {
  const pairs: Pair[] = [];
  let receiverLater = false;
  let receiverEarlier = false;
  const limitNs = NEAR * shortestStepNs(sent);
  let next = 0;
  const distance = (index: number, timeNs: number): number => Math.abs(received.timesNs[index] - timeNs);
  for (let index = 0; index < sent.count; index++) {
    const timeNs = sent.timesNs[index];
    while (next + 1 < received.count && distance(next + 1, timeNs) <= distance(next, timeNs)) next++;
    if (next >= received.count || distance(next, timeNs) > limitNs) continue;
    pairs.push({ timeNs, gap: sent.values[index] - received.values[next] });
    receiverLater ||= received.timesNs[next] > timeNs;
    receiverEarlier ||= received.timesNs[next] < timeNs;
  }
  return { pairs, receiverLater, receiverEarlier };
}

function shortestStepNs({ count, timesNs }: Column): number {
  let shortest = Infinity;
  for (let index = 1; index < count; index++) {
    shortest = Math.min(shortest, timesNs[index] - timesNs[index - 1]);
  }
  return Number.isFinite(shortest) ? shortest : 0;
}

const mirrored = (pairs: readonly Pair[]): Pair[] =>
  pairs.map(({ timeNs, gap }) => ({ timeNs: -timeNs, gap: -gap })).reverse();

const near = (gap: number, level: number): boolean => Math.abs(gap - level) <= IDLE_TOLERANCE_BYTES;

/** The plateau of the highest readings before a step and of those after it; null without such a step. */
function twoPlateaus(pairs: readonly Pair[]): [number, number] | null {
  let top = -Infinity;
  let support = 0;
  for (let index = 0; index < pairs.length; index++) {
    const { gap } = pairs[index];
    if (gap <= top + IDLE_TOLERANCE_BYTES) {
      if (near(gap, top)) support++;
      continue;
    }
    const later = pairs.slice(index);
    if (support >= SUPPORT && !later.some((reading) => near(reading.gap, top))) {
      const highest = Math.max(...later.map((reading) => reading.gap));
      const agreeing = later.filter((reading) => near(reading.gap, highest)).length;
      if (agreeing >= SUPPORT) return [top, highest];
    }
    top = gap;
    support = 1;
  }
  return null;
}

function isConstant(pairs: readonly Pair[]): boolean {
  const top = Math.max(...pairs.map((reading) => reading.gap));
  const third = Math.floor(pairs.length / 3);
  const early = pairs.slice(0, third).some((reading) => near(reading.gap, top));
  return early && pairs.slice(-third).some((reading) => near(reading.gap, top));
}

function shiftBetween(pairs: readonly Pair[], low: number, high: number): LevelShift | null {
  const last = pairs.findLastIndex((reading) => near(reading.gap, low));
  const settled = pairs.findIndex((reading, index) => index > last && near(reading.gap, high));
  if (last < 0 || settled < 0) return null;
  const left = pairs.findIndex(
    ({ gap }, index) =>
      index > last && gap > low + IDLE_TOLERANCE_BYTES && gap <= high + IDLE_TOLERANCE_BYTES,
  );
  return {
    bytes: high - low,
    began: { fromNs: pairs[last].timeNs, toNs: pairs[left < 0 ? settled : left].timeNs },
    settledNs: pairs[settled].timeNs,
  };
}
