/**
 * How fast a link says it runs, against the speed it was built for.
 *
 * The speed is a gauge that both ends report at every poll. A port that is down has none (N/A), and no answer is no
 * downgrade: only a fresh reading below the rated speed is. The rated speed is what the operator's own topology says,
 * so that a link that was slow before anybody looked is found as well.
 */
import type { Link } from '../../../model/topology/model.js';
import { overlaps } from '../../series/context.js';
import type { Context, Interval } from '../../series/context.js';
import { freshReachNs, freshSamples, isStill, union } from '../../series/samples.js';
import type { Sample } from '../../series/samples.js';

/** Readings this close to the rated speed are the rated speed. */
const SAME = 0.99;

/** Speeds that Ethernet ports agree on (IEEE 802.3), Gbit/s; a module that lost lanes may carry anything in between. */
const ETHERNET_GBPS = [1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400, 800, 1600];

export interface SlowStretch extends Interval {
  lowestGbps: number;
  /** Last reading at full speed, null without any: the change lies between it and the first slow one. */
  lastFullNs: number | null;
  firstSlowNs: number;
}

export interface SpeedObservation {
  link: Link;
  /** False when neither end told its speed. */
  known: boolean;
  /** By end, the one nearer to the hosts first; null where the end told nothing. */
  ends: readonly (readonly SlowStretch[] | null)[];
}

export const observeSpeeds = (context: Context): SpeedObservation[] =>
  context.topology.links.map((link) => observeSpeed(context, link));

function observeSpeed(context: Context, link: Link): SpeedObservation {
  const ends = context.endsOf(link).map((port) => {
    const series = context.readPort('port_rate_gbps', port);
    const limitGbps = SAME * link.rateGbps;
    // nearly all links of a fabric: no need to look at each sample
    if (isStill(series) && series.values[0] >= limitGbps) return [];
    const samples = freshSamples(series);
    return samples.length === 0 ? null : slowStretches(samples, limitGbps, context.window);
  });
  return { link, known: ends.some((end) => end !== null), ends };
}

function slowStretches(samples: readonly Sample[], limitGbps: number, window: Interval): SlowStretch[] {
  const found: SlowStretch[] = [];
  let open: SlowStretch | null = null;
  let lastFullNs: number | null = null;
  let lastSlowNs = NaN;
  for (const { timeNs, value } of samples) {
    if (value < limitGbps) {
      if (open === null) {
        const fromNs = lastFullNs === null ? window.fromNs : (lastFullNs + timeNs) / 2;
        open = { fromNs, toNs: window.toNs, lowestGbps: value, lastFullNs, firstSlowNs: timeNs };
        found.push(open);
      }
      open.lowestGbps = Math.min(open.lowestGbps, value);
      lastSlowNs = timeNs;
      continue;
    }
    if (open !== null) open.toNs = (lastSlowNs + timeNs) / 2;
    open = null;
    lastFullNs = timeNs;
  }
  return found;
}

/** From the first to the last time the link was slow; null when it never was. */
export function slowTime({ ends }: SpeedObservation): Interval | null {
  if (ends.every((end) => end === null || end.length === 0)) return null;
  const all = ends.flatMap((end) => end ?? []);
  return {
    fromNs: Math.min(...all.map(({ fromNs }) => fromNs)),
    toNs: Math.max(...all.map(({ toNs }) => toNs)),
  };
}

/** Every time that it was slow, as its ends tell; polled apart, they agree on a time where they overlap. */
export const slowSpells = ({ ends }: SpeedObservation): Interval[] => union(ends.flatMap((end) => end ?? []));

/** When it turned slow, between the polls of both ends; null when it was slow from the start. */
export function slowSinceNs({ ends }: SpeedObservation): number | null {
  const firsts = ends.flatMap((end) => end?.slice(0, 1) ?? []);
  if (firsts.some(({ lastFullNs }) => lastFullNs === null)) return null;
  const lastFullNs = Math.max(...firsts.map((stretch) => stretch.lastFullNs ?? -Infinity));
  const firstSlowNs = Math.min(...firsts.map((stretch) => stretch.firstSlowNs));
  // With stale answers one end may still read full when the other reads slow already.
  return lastFullNs < firstSlowNs ? (lastFullNs + firstSlowNs) / 2 : firstSlowNs;
}

/** Both ends were slow together, only one of them was, or it can't be told. */
export function bothEndsSlow({ ends: [lower, upper] }: SpeedObservation): boolean | null {
  if (lower === null || upper === null || lower.length + upper.length === 0) return null;
  return lower.some((one) => upper.some((other) => overlaps(one, other)));
}

export const lowestGbps = ({ ends }: SpeedObservation): number =>
  Math.min(...ends.flatMap((end) => (end ?? []).map((stretch) => stretch.lowestGbps)));

/** Whether a speed is none that two ports could have agreed on. */
export const isOddSpeed = (gbps: number): boolean =>
  !ETHERNET_GBPS.some((standard) => Math.abs(gbps / standard - 1) < 1 - SAME);

/** The speed was read over so much of the window, ns: by the end that was read more. */
export const speedReachNs = (context: Context, link: Link): number =>
  Math.max(...[link.portA, link.portB].map((port) => freshReachNs(context.readPort('port_rate_gbps', port))));
