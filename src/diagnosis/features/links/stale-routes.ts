/**
 * Switch ports that are up again and still get fewer routes than they had: a next-hop group that was not filled again.
 *
 * Routing daemons and the forwarding plane may disagree after a flap: the session is up, the route shows all its next
 * hops, and the group in use keeps fewer (FRR 8.4, issue 12239). A port is asked only when every port and session of the
 * fabric is up and has been for longer than routing takes, since a link that is down anywhere withdraws routes rightly.
 * Not modelled: groups that were short before the window opened and look like their siblings'.
 */
import type { Context, Interval } from '../../series/context.js';
import { freshColumn, stateSpans } from '../../series/samples.js';

/** Routing takes back what came up within this time. */
const SETTLED_NS = 8e9;

export interface StaleRoutes {
  device: number;
  /** Ports that get fewer routes than before, with the numbers. */
  ports: readonly { port: number; before: number; now: number }[];
  /** Since the last port or session of the fabric came up. */
  during: Interval;
  /** When the first of these ports got fewer: with the failure, before the repair. */
  lostNs: number;
}

export function observeStaleRoutes(context: Context): StaleRoutes[] {
  const { topology, window } = context;
  const settledNs = lastUpNs(context);
  if (settledNs === null || window.toNs - settledNs < SETTLED_NS) return [];
  return topology.devices.flatMap((device) => {
    const ports = device.ports.flatMap((port) => {
      const { count, timesNs, values } = freshColumn(context.readPort('route_port_prefixes', port));
      if (count < 2) return [];
      const [before, now] = [values[0], values[count - 1]];
      if (now >= before) return [];
      return [{ port, before, now, lostNs: timesNs[values.findIndex((value) => value < before)] }];
    });
    if (ports.length === 0) return [];
    const during = { fromNs: settledNs, toNs: window.toNs };
    return [{ device: device.index, ports, during, lostNs: Math.min(...ports.map(({ lostNs }) => lostNs)) }];
  });
}

/** When the last port or session came up; null while any is down, or when none ever was. */
function lastUpNs(context: Context): number | null {
  let last: number | null = null;
  for (const { index } of context.topology.ports) {
    for (const metric of ['port_oper_status', 'bfd_session_status'] as const) {
      const spans = stateSpans(context.readPort(metric, index), context.window.toNs);
      const end = spans.at(-1);
      if (end === undefined) continue;
      if (end.value !== 1) return null;
      if (spans.length > 1) last = Math.max(last ?? 0, end.fromNs);
    }
  }
  return last;
}
