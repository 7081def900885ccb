/**
 * When traffic stopped, to better than a poll: an edge that is still stalled tells for how long it has been.
 *
 * `edge_stalled_s` grows with the clock while nothing is acknowledged, so that a sample taken during a stall points
 * back to its beginning. Used to place an onset inside the poll interval that the counters left open.
 */
import type { Context, Interval } from './context.js';
import { increments } from './samples.js';

/** The latest stall that began inside the bracket, ns: the one under way when it closes; null without any. */
export function stallOnsetNs(context: Context, bracket: Interval): number | null {
  let latest = -Infinity;
  for (const series of context.all('edge_stalled_s')) {
    let stalled = false;
    for (const { toNs, gain } of increments(series)) {
      const began = toNs - gain * 1e9;
      const starts = gain > 0 && !stalled;
      stalled = gain > 0;
      if (starts && began >= bracket.fromNs && began <= bracket.toNs) latest = Math.max(latest, began);
    }
  }
  return Number.isFinite(latest) ? latest : null;
}
