/**
 * Bytes sent over a link against bytes received from it: what one end counts out, the other must count in.
 *
 * The two counters are read at different instants, so a single difference proves nothing under bursty load. But
 * counters only rise: at the instant t of a sender's sample the receiver's counter lies between its samples before and
 * after t. That brackets the loss so far, and loss never shrinks, so the gap between an early upper and a later lower
 * bound is loss that really happened, however the polls are skewed and whichever samples are missing. Where that is too
 * coarse for the few packets that a stalled sender loses, readings at quiet moments decide (idle-levels.ts).
 * Not modelled: counters that disagree about what a byte is (preamble, FCS); such a drift would need a ratio.
 */
import type { Link } from '../../../model/topology/model.js';
import type { Series } from '../../../model/telemetry/series.js';
import { IDLE_TOLERANCE_BYTES, idleLevels } from './idle-levels.js';
import { Room } from '../../series/room.js';
import { freshColumn } from '../../series/samples.js';
import type { Column } from '../../series/samples.js';
import type { Interval } from '../../series/context.js';

export interface Conservation {
  /** False when the counters were not read often enough to say anything. */
  known: boolean;
  /** True when bytes were sent and the counters prove that all of them arrived, within the tolerance. */
  intact: boolean;
  /** Bytes that certainly left and never arrived, tolerance not subtracted. */
  lostBytesAtLeast: number;
  /** True when the bounds prove a loss; false when it rests on quiet moments, or there is none. */
  certain: boolean;
  /** Where quiet moments seem to show bytes received that were never sent: the polls beat with the traffic. */
  gained: Interval | null;
  /** Where the loss began: after fromNs, before toNs; null when nothing was lost beyond the tolerance. */
  began: Interval | null;
  /** The last instant at which more loss became visible, ns; null as above. */
  lastSeenNs: number | null;
}

/** Bytes on the wire at line rate count twice (both counters lag), and a few packets may be half counted. */
const PACKETS_IN_FLIGHT_BYTES = 16_384;
/** By how much two honest counters of a link may differ at an instant. */
export const wireBytes = (link: Link): number =>
  PACKETS_IN_FLIGHT_BYTES + 2 * link.delayNs * link.rateGbps * 0.125;

const UNKNOWN: Conservation = {
  known: false,
  intact: false,
  lostBytesAtLeast: 0,
  certain: false,
  gained: null,
  began: null,
  lastSeenNs: null,
};

/** Fewest bounds that tell something: one before, one after. */
const FEWEST_BOUNDS = 2;

/** Bounds of what was lost, at the sender's sample instants; runs end where either counter was reset. Good until the next. */
interface Bounds {
  timesNs: Float64Array;
  lows: Float64Array;
  highs: Float64Array;
  runs: readonly Run[];
}

/** Places from `from` up to `to`. */
interface Run {
  from: number;
  to: number;
}

/**
 * @param sent bytes counted by the sending port
 * @param received bytes counted by the receiving port
 * @param toleranceBytes what may be on the wire between two honest counters
 * @param clockSlackNs by how much the clocks of the two ends may differ; quiet moments are not looked for then
 */
export function conservation(
  sent: Series | undefined,
  received: Series | undefined,
  toleranceBytes: number,
  clockSlackNs = 0,
): Conservation {
  const [out, arrived] = [freshColumn(sent), freshColumn(received)];
  const bounds = boundsOf(out, arrived, clockSlackNs);
  const { runs, lows, highs } = bounds;
  if (runs.length === 0) return UNKNOWN;
  const intact =
    gainsMoreThan(out, toleranceBytes) &&
    runs.every(({ from, to }) => highs[to - 1] - lows[from] <= toleranceBytes);
  const bounded = runs.reduce<Conservation>((total, run) => add(total, lossOf(bounds, run, toleranceBytes)), {
    ...UNKNOWN,
    known: true,
    intact,
  });
  return runs.length > 1 || clockSlackNs > 0 ? bounded : atQuietMoments(bounded, out, arrived);
}

/** Most bytes that seem to have been received before they were sent: 0 where both clocks agree, but for what is on the wire. */
export function receivedEarly(sent: Column, received: Column, clockSlackNs: number): number {
  const bounds = boundsOf(sent, received, clockSlackNs);
  return bounds.runs.reduce((most, run) => Math.max(most, impossibleGain(bounds, run)), 0);
}

/** Whether the counter rose between two samples by more than so much. */
function gainsMoreThan({ count, values }: Column, bytes: number): boolean {
  for (let index = 1; index < count; index++) if (values[index] - values[index - 1] > bytes) return true;
  return false;
}

function atQuietMoments(bounded: Conservation, sent: Column, received: Column): Conservation {
  const levels = idleLevels(sent, received);
  if (levels === null) return bounded;
  if (levels.shift === null) {
    const busy = gainsMoreThan(sent, IDLE_TOLERANCE_BYTES);
    const intact = bounded.intact || (bounded.began === null && busy && levels.constant);
    return { ...bounded, intact, gained: levels.gain };
  }
  const { bytes, began, settledNs } = levels.shift;
  return {
    ...bounded,
    intact: false,
    certain: bounded.began !== null,
    lostBytesAtLeast: Math.max(bytes, bounded.lostBytesAtLeast),
    began,
    lastSeenNs: Math.max(settledNs, bounded.lastSeenNs ?? settledNs),
  };
}

type Loss = Pick<Conservation, 'lostBytesAtLeast' | 'began' | 'lastSeenNs'>;

function add(total: Conservation, part: Loss): Conservation {
  return {
    ...total,
    lostBytesAtLeast: total.lostBytesAtLeast + part.lostBytesAtLeast,
    certain: total.certain || part.began !== null,
    began: total.began ?? part.began,
    lastSeenNs: part.lastSeenNs ?? total.lastSeenNs,
  };
}

/** How far later bounds fall below earlier ones: a loss can't shrink. */
function impossibleGain({ lows, highs }: Bounds, { from, to }: Run): number {
  let highestLow = -Infinity;
  let most = 0;
  for (let at = from; at < to; at++) {
    most = Math.max(most, highestLow - highs[at]);
    highestLow = Math.max(highestLow, lows[at]);
  }
  return most;
}

/**
 * What is lost stays lost: where a later reading allows less, the clocks of the two ends differ, and only the lesser holds.
 * The lower bounds are left as they then are.
 */
function lossOf({ timesNs, lows, highs }: Bounds, { from, to }: Run, toleranceBytes: number): Loss {
  let leastHigh = Infinity;
  for (let at = to - 1; at >= from; at--) {
    lows[at] = Math.min(lows[at], leastHigh);
    leastHigh = Math.min(leastHigh, highs[at]);
  }
  let lowestHigh = Infinity;
  let intactNs = NaN;
  let most = 0;
  let began: Interval | null = null;
  let lastSeenNs: number | null = null;
  for (let at = from; at < to; at++) {
    const lost = lows[at] - lowestHigh;
    if (lost > toleranceBytes && began === null) began = { fromNs: intactNs, toNs: timesNs[at] };
    if (lost > Math.max(most, toleranceBytes)) lastSeenNs = timesNs[at];
    most = Math.max(most, lost);
    if (highs[at] <= lowestHigh) lowestHigh = highs[at];
    if (highs[at] <= lowestHigh + toleranceBytes) intactNs = timesNs[at];
  }
  return { lostBytesAtLeast: most, began, lastSeenNs };
}

const ROOMS = { times: new Room(), lows: new Room(), highs: new Room() };

/** Bounds of `sent - received`; runs too short to tell anything are left out. */
function boundsOf(sent: Column, received: Column, slackNs: number): Bounds {
  const timesNs = ROOMS.times.take(sent.count);
  const lows = ROOMS.lows.take(sent.count);
  const highs = ROOMS.highs.take(sent.count);
  const resets = resetsBefore(received);
  const runs: Run[] = [];
  const close = (from: number, to: number): void => {
    if (to - from >= FEWEST_BOUNDS) runs.push({ from, to });
  };
  let [start, count, before, next, resetsSeen] = [0, 0, -1, 0, 0];
  let lastSent = -Infinity;
  for (let index = 0; index < sent.count; index++) {
    const timeNs = sent.timesNs[index];
    const value = sent.values[index];
    while (next < received.count && received.timesNs[next] < timeNs + slackNs) next++;
    if (next === received.count) break;
    while (before + 1 < received.count && received.timesNs[before + 1] <= timeNs - slackNs) before++;
    const seen = resets === null ? 0 : resets[next];
    if (value < lastSent || seen !== resetsSeen) {
      close(start, count);
      start = count;
    }
    lastSent = value;
    resetsSeen = seen;
    if (before < 0 || (resets !== null && resets[before] !== seen)) continue;
    timesNs[count] = timeNs;
    lows[count] = value - received.values[next];
    highs[count++] = value - received.values[before];
  }
  close(start, count);
  return { timesNs, lows, highs, runs };
}

/** How often the counter had gone back up to each sample; null where it never did. */
function resetsBefore({ count, values }: Column): Int32Array | null {
  let first = 1;
  while (first < count && values[first] >= values[first - 1]) first++;
  if (first >= count) return null;
  let resets = 0;
  const before = new Int32Array(count);
  for (let index = first; index < count; index++) {
    if (values[index] < values[index - 1]) resets++;
    before[index] = resets;
  }
  return before;
}
