/**
 * Links that nobody needs: up for a while before they went down, and nothing but the talk of protocols crossed them.
 *
 * Protocols say some hundred bytes a second over every port that is up, so that idle is not silent: a link is idle where
 * it moves next to nothing beside the busiest port of the fabric. One that was down when the window opened is not
 * judged, since nobody knows what it carried; nor is one that carries anything afterwards.
 */
import type { Context, Interval } from '../../series/context.js';
import { freshColumn, gainsBetween } from '../../series/samples.js';
import type { LinkObservation } from './link-observation.js';

/** Beside the busiest port this is nothing. */
const IDLE_SHARE = 1e-4;
/** Counters of that much time tell that a link was idle before. */
const LEAST_PAST_NS = 3e9;

const METRICS = ['port_tx_bytes', 'port_rx_bytes'] as const;

export function carriesNothing(context: Context, { ends }: LinkObservation, down: Interval): boolean {
  const limit = IDLE_SHARE * context.once(busiestBytesPerNs);
  if (limit === 0) return false;
  return ends.some(({ port }) =>
    METRICS.every((metric) => {
      const { count, fromNs, toNs, gains } = gainsBetween(freshColumn(context.readPort(metric, port)));
      let pastNs = 0;
      for (let at = 0; at < count; at++) {
        if (gains[at] > limit * (toNs[at] - fromNs[at])) return false;
        if (toNs[at] <= down.fromNs) pastNs += toNs[at] - fromNs[at];
      }
      return pastNs >= LEAST_PAST_NS;
    }),
  );
}

function busiestBytesPerNs(context: Context): number {
  const { fromNs, toNs } = context.window;
  return context.topology.ports.reduce((most, { index }) => {
    const { count, gains } = gainsBetween(freshColumn(context.readPort('port_tx_bytes', index)));
    let sum = 0;
    for (let at = 0; at < count; at++) sum += gains[at];
    return Math.max(most, sum / (toNs - fromNs));
  }, 0);
}
