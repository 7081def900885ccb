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
import type { Link } from '../../topology/model.js';
import type { Series } from '../../telemetry/series.js';
import { IDLE_TOLERANCE_BYTES, idleLevels } from './idle-levels.js';
import { freshColumn, rises } from './samples.js';
import type { Column } from './samples.js';
import type { Interval } from './context.js';

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

interface Bound {
  timeNs: number;
  low: number;
  high: number;
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
  const runs = runsOf(freshColumn(sent), freshColumn(received), clockSlackNs);
  if (runs.length === 0) return UNKNOWN;
  const intact =
    rises(sent).some(({ gain }) => gain > toleranceBytes) &&
    runs.every((run) => run[run.length - 1].high - run[0].low <= toleranceBytes);
  const bounded = runs.reduce<Conservation>((total, run) => add(total, lossOf(run, toleranceBytes)), {
    ...UNKNOWN,
    known: true,
    intact,
  });
  return runs.length > 1 || clockSlackNs > 0 ? bounded : atQuietMoments(bounded, sent, received);
}

/** Most bytes that seem to have been received before they were sent: 0 where both clocks agree, but for what is on the wire. */
export const receivedEarly = (sent: Column, received: Column, clockSlackNs: number): number =>
  Math.max(0, ...runsOf(sent, received, clockSlackNs).map(impossibleGain));

const runsOf = (sent: Column, received: Column, clockSlackNs: number): Bound[][] =>
  bounds(sent, received, clockSlackNs).filter((run) => run.length >= FEWEST_BOUNDS);

function atQuietMoments(
  bounded: Conservation,
  sent: Series | undefined,
  received: Series | undefined,
): Conservation {
  const levels = idleLevels(freshColumn(sent), freshColumn(received));
  if (levels === null) return bounded;
  if (levels.shift === null) {
    const busy = rises(sent).some(({ gain }) => gain > IDLE_TOLERANCE_BYTES);
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
function impossibleGain(run: readonly Bound[]): number {
  let highestLow = -Infinity;
  let most = 0;
  for (const { low, high } of run) {
    most = Math.max(most, highestLow - high);
    highestLow = Math.max(highestLow, low);
  }
  return most;
}

/**
 * What is lost stays lost: where a later reading allows less, the clocks of the two ends differ, and only the lesser holds.
 */
function lossOf(run: readonly Bound[], toleranceBytes: number): Loss {
  const lows = run.map(({ low }) => low);
  let leastHigh = Infinity;
  for (let index = run.length - 1; index >= 0; index--) {
    lows[index] = Math.min(lows[index], leastHigh);
    leastHigh = Math.min(leastHigh, run[index].high);
  }
  let lowestHigh = Infinity;
  let intactNs = NaN;
  let most = 0;
  let began: Interval | null = null;
  let lastSeenNs: number | null = null;
  for (const [index, bound] of run.entries()) {
    const lost = lows[index] - lowestHigh;
    if (lost > toleranceBytes && began === null) began = { fromNs: intactNs, toNs: bound.timeNs };
    if (lost > Math.max(most, toleranceBytes)) lastSeenNs = bound.timeNs;
    most = Math.max(most, lost);
    if (bound.high <= lowestHigh) lowestHigh = bound.high;
    if (bound.high <= lowestHigh + toleranceBytes) intactNs = bound.timeNs;
  }
  return { lostBytesAtLeast: most, began, lastSeenNs };
}

/** Bounds of `sent - received` at the sender's sample instants, split where either counter was reset. */
function bounds(sent: Column, received: Column, slackNs: number): Bound[][] {
  const runs: Bound[][] = [[]];
  let before = -1;
  let next = 0;
  let resetsSeen = 0;
  let lastSent = -Infinity;
  const resets = resetsBefore(received);
  for (let index = 0; index < sent.count; index++) {
    const timeNs = sent.timesNs[index];
    const value = sent.values[index];
    while (next < received.count && received.timesNs[next] < timeNs + slackNs) next++;
    if (next === received.count) break;
    while (before + 1 < received.count && received.timesNs[before + 1] <= timeNs - slackNs) before++;
    const wasReset = value < lastSent || resets[next] !== resetsSeen;
    lastSent = value;
    resetsSeen = resets[next];
    if (wasReset) runs.push([]);
    if (before < 0 || resets[before] !== resets[next]) continue;
    runs.at(-1)?.push({
      timeNs,
      low: value - received.values[next],
      high: value - received.values[before],
    });
  }
  return runs;
}

/** How often the counter had gone back up to each sample. */
function resetsBefore({ count, values }: Column): Int32Array {
  let resets = 0;
  const before = new Int32Array(count);
  for (let index = 1; index < count; index++) {
    if (values[index] < values[index - 1]) resets++;
    before[index] = resets;
  }
  return before;
}
