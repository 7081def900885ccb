/**
 * When traffic stopped, to better than a poll: an edge that is still stalled tells for how long it has been.
 *
 * `edge_stalled_s` grows with the clock while nothing is acknowledged, so that a sample taken during a stall points
 * back to its beginning. Used to place an onset inside the poll interval that the counters left open.
 */
import type { Series } from '../../../model/telemetry/series.js';
import type { Context, Interval } from '../../series/context.js';
import { rises } from '../../series/samples.js';

/** The latest stall that began inside the bracket, ns: the one under way when it closes; null without any. */
export function stallOnsetNs(context: Context, bracket: Interval): number | null {
  let latest = -Infinity;
  for (const { fromNs } of context.once(allStalls)) {
    if (fromNs >= bracket.fromNs && fromNs <= bracket.toNs) latest = Math.max(latest, fromNs);
  }
  return Number.isFinite(latest) ? latest : null;
}

/** Connections wait shorter than this for each other without anything being lost, ns. */
const LEAST_STALL_NS = 1e8;

/** When the earliest of the stalls began that are under way at an instant, ns; null without any. */
export function stallUnderWayNs(context: Context, atNs: number): number | null {
  let earliest = Infinity;
  for (const { fromNs, toNs } of context.once(allStalls)) {
    if (fromNs < atNs && toNs >= atNs && toNs - fromNs >= LEAST_STALL_NS)
      earliest = Math.min(earliest, fromNs);
  }
  return Number.isFinite(earliest) ? earliest : null;
}

const allStalls = (context: Context): Interval[] => context.all('edge_stalled_s').flatMap(stalls);

/** Stretches in which poll after poll shows that the edge stands; the first is as long as its counter says. */
function stalls(series: Series): Interval[] {
  const spans: Interval[] = [];
  for (const { fromNs, toNs, gain } of rises(series)) {
    const last = spans.at(-1);
    const began = Math.max(fromNs, toNs - gain * 1e9);
    if (last?.toNs === fromNs) last.toNs = toNs;
    else spans.push({ fromNs: began, toNs });
  }
  return spans;
}
