/**
 * When traffic stopped, to better than a poll: an edge that is still stalled tells for how long it has been.
 *
 * `edge_stalled_s` grows with the clock while nothing is acknowledged, so that a sample taken during a stall points
 * back to its beginning. Used to place an onset inside the poll interval that the counters left open.
 */
import type { Context, Interval } from './context.js';
import { increments } from './samples.js';

/** The earliest stall that began inside the bracket, ns; null when no edge stalled there. */
export function stallOnsetNs(context: Context, bracket: Interval): number | null {
  let earliest = Infinity;
  for (const series of context.all('edge_stalled_s')) {
    for (const { fromNs, toNs, gain } of increments(series)) {
      if (gain <= 0 || toNs <= bracket.fromNs || fromNs >= bracket.toNs) continue;
      const began = toNs - gain * 1e9;
      if (began >= bracket.fromNs && began <= bracket.toNs) earliest = Math.min(earliest, began);
    }
  }
  return Number.isFinite(earliest) ? earliest : null;
}
