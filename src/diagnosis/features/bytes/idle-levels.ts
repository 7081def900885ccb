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
import { Room } from '../../series/room.js';
import type { Column } from '../../series/samples.js';
import type { Interval } from '../../series/context.js';

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

/** Readings of both counters, near enough to each other; sent minus received. Good until the next are made. */
interface Pairs {
  count: number;
  timesNs: Float64Array;
  gaps: Float64Array;
}

const ROOMS = {
  times: new Room(),
  gaps: new Room(),
  mirroredTimes: new Room(),
  mirroredGaps: new Room(),
  backwards: new Room(),
};

/** @returns null when the samples can't be paired, or lie now before and now after each other */
export function idleLevels(sent: Column, received: Column): IdleLevels | null {
  const { pairs, receiverLater, receiverEarlier } = pair(sent, received);
  if (pairs.count < 2 * SUPPORT || (receiverLater && receiverEarlier)) return null;
  // Seen backwards and upside down, an early receiver's readings obey the law of a late one's.
  const readings = receiverEarlier ? mirrored(pairs) : pairs;
  const levels = twoPlateaus(readings.gaps, readings.count);
  if (levels === null) {
    const gain = seemingGain(readings, receiverEarlier);
    return { shift: null, gain, constant: gain === null && isConstant(readings.gaps, readings.count) };
  }
  const [low, high] = receiverEarlier ? [-levels[1], -levels[0]] : levels;
  return { shift: shiftBetween(pairs, low, high), gain: null, constant: false };
}

/** Time of a fall: the last reading on the high plateau and the first of those on the low one. */
function seemingGain({ count, timesNs, gaps }: Pairs, mirror: boolean): Interval | null {
  const backwards = ROOMS.backwards.take(count);
  for (let at = 0; at < count; at++) backwards[at] = gaps[count - 1 - at];
  const levels = twoPlateaus(backwards, count);
  if (levels === null) return null;
  const last = lastNear(gaps, count, levels[1]);
  const [one, other] = [timesNs[last], timesNs[Math.min(last + 1, count - 1)]];
  return mirror ? { fromNs: -other, toNs: -one } : { fromNs: one, toNs: other };
}

function pair(sent: Column, received: Column) {
  const [timesNs, gaps] = [ROOMS.times.take(sent.count), ROOMS.gaps.take(sent.count)];
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
  const pairs: Pairs = { count, timesNs, gaps };
  return { pairs, receiverLater, receiverEarlier };
}

function shortestStepNs({ count, timesNs }: Column): number {
  let shortest = Infinity;
  for (let index = 1; index < count; index++) {
    shortest = Math.min(shortest, timesNs[index] - timesNs[index - 1]);
  }
  return Number.isFinite(shortest) ? shortest : 0;
}

function mirrored({ count, timesNs, gaps }: Pairs): Pairs {
  const mirror = {
    count,
    timesNs: ROOMS.mirroredTimes.take(count),
    gaps: ROOMS.mirroredGaps.take(count),
  };
  for (let at = 0; at < count; at++) {
    mirror.timesNs[at] = -timesNs[count - 1 - at];
    mirror.gaps[at] = -gaps[count - 1 - at];
  }
  return mirror;
}

const near = (gap: number, level: number): boolean => Math.abs(gap - level) <= IDLE_TOLERANCE_BYTES;

/** The plateau of the highest readings before a step and of those after it; null without such a step. */
function twoPlateaus(gaps: Float64Array, count: number): [number, number] | null {
  let top = -Infinity;
  let support = 0;
  for (let index = 0; index < count; index++) {
    const gap = gaps[index];
    if (gap <= top + IDLE_TOLERANCE_BYTES) {
      if (near(gap, top)) support++;
      continue;
    }
    if (support >= SUPPORT && countNear(gaps, index, count, top) === 0) {
      const highest = highestFrom(gaps, index, count);
      if (countNear(gaps, index, count, highest) >= SUPPORT) return [top, highest];
    }
    top = gap;
    support = 1;
  }
  return null;
}

function isConstant(gaps: Float64Array, count: number): boolean {
  const top = highestFrom(gaps, 0, count);
  const third = Math.floor(count / 3);
  return countNear(gaps, 0, third, top) > 0 && countNear(gaps, count - third, count, top) > 0;
}

function countNear(gaps: Float64Array, from: number, to: number, level: number): number {
  let count = 0;
  for (let index = from; index < to; index++) if (near(gaps[index], level)) count++;
  return count;
}

function highestFrom(gaps: Float64Array, from: number, to: number): number {
  let highest = -Infinity;
  for (let index = from; index < to; index++) if (gaps[index] > highest) highest = gaps[index];
  return highest;
}

/** Place of the last reading at a level; -1 without any. */
function lastNear(gaps: Float64Array, count: number, level: number): number {
  let last = count - 1;
  while (last >= 0 && !near(gaps[last], level)) last--;
  return last;
}

function shiftBetween({ count, timesNs, gaps }: Pairs, low: number, high: number): LevelShift | null {
  const last = lastNear(gaps, count, low);
  let settled = last + 1;
  while (settled < count && !near(gaps[settled], high)) settled++;
  if (last < 0 || settled === count) return null;
  let left = last + 1;
  while (
    left < count &&
    !(gaps[left] > low + IDLE_TOLERANCE_BYTES && gaps[left] <= high + IDLE_TOLERANCE_BYTES)
  )
    left++;
  return {
    bytes: high - low,
    began: { fromNs: timesNs[last], toNs: timesNs[left < count ? left : settled] },
    settledNs: timesNs[settled],
  };
}
