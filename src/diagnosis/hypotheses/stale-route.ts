/**
 * A switch that does not take a repaired way back: its ports are up, its sessions too, its next-hop group is not whole.
 *
 * Traffic then crowds on the ways that are left, after the repair just as during the outage, and nothing looks down (FRR
 * issue 12239: two of six members after a flap). The failure before it is a culprit of its own; this one begins where
 * that one ends. Not modelled: which process of the switch lost the route.
 */
import { deviceId, elementRef, portId } from '../../core/elements.js';
import { number, seconds } from '../series/change.js';
import type { Context } from '../series/context.js';
import { movedNothing } from '../features/queues/queues.js';
import { freshColumn } from '../series/samples.js';
import { observeStaleRoutes } from '../features/links/stale-routes.js';
import type { StaleRoutes } from '../features/links/stale-routes.js';
import { median } from '../series/statistics.js';
import type { Explanation } from '../explanation.js';
import { listed, since } from '../wording.js';
import { outcome } from './hypothesis.js';
import type { Family } from './hypothesis.js';

export const staleRoute: Family = {
  hypotheses: ['stale-route/switch'],
  hypothesise: (context) =>
    context.once(observeStaleRoutes).map((stale) => ({
      hypothesis: 'stale-route/switch',
      element: elementRef(deviceId(context.deviceName(stale.device))),
      direction: 'both',
      covers: [`routes ${stale.device}`],
      links: stale.ports.map(({ port }) => context.topology.ports[port].link),
      device: stale.device,
      findings: [
        { signature: 'routes-missing-after-repair', outcome: 'present' },
        { signature: 'repaired-port-idle', outcome: outcome(isIdle(context, stale)) },
      ],
      during: stale.during,
      onsetNs: stale.during.fromNs,
      changedNs: stale.lostNs,
    })),
  cause: (context, culprit) => {
    const ports = listed(portsOf(context, culprit).map(({ port }) => context.portName(port)));
    return `did not take ${ports} back into its next-hop groups after ${since(culprit)}, though every port and session was up`;
  },
  reason: (context, culprit) =>
    `The repair is complete and the routes are not${besidePeers(context, culprit)}: clear the routes of the switch, or restart its routing.`,
  series: (context, culprit) => [
    context.readDevice('route_next_hops', culprit.device ?? 0),
    ...portsOf(context, culprit).flatMap(({ port }) => [
      context.readPort('route_port_prefixes', port),
      context.readPort('port_tx_bytes', port),
    ]),
  ],
  steps: (context, culprit) =>
    portsOf(context, culprit).map(({ port, before, now }) => ({
      element: elementRef(portId(context.portName(port))),
      claim: `was a next hop for ${before} prefixes before, and for ${now} after it came up`,
      onset_s: seconds(culprit.during.fromNs),
    })),
  rivals: (context, _, culprit) =>
    culprit.links.slice(0, 1).map((link) => ({
      kind: 'link-down',
      element: elementRef(context.topology.links[link].id),
      why: 'it was up again at both ends, with its session',
    })),
};

/** Next hops in use by the switch and by others of its tier, which are its control; '' where nobody tells them. */
function besidePeers(context: Context, culprit: Explanation): string {
  const { devices } = context.topology;
  const own = devices[culprit.device ?? 0];
  const hops = (device: number): number | undefined => {
    const { count, values } = freshColumn(context.readDevice('route_next_hops', device));
    return count === 0 ? undefined : values[count - 1];
  };
  const peers = devices
    .filter(
      ({ index, role, tierLevel }) => index !== own.index && role === own.role && tierLevel === own.tierLevel,
    )
    .flatMap(({ index }) => hops(index) ?? []);
  const now = hops(own.index);
  if (now === undefined || peers.length === 0) return '';
  return ` (${number(now)} next hops in use, where its peers have ${number(median(peers))})`;
}

const portsOf = (context: Context, culprit: Explanation): StaleRoutes['ports'] =>
  context.once(observeStaleRoutes).find(({ device }) => device === culprit.device)?.ports ?? [];

/** Whether a port sends nothing where it is no next hop any more; null where it still is one for some, or was not read. */
function isIdle(context: Context, { ports, during }: StaleRoutes): boolean | null {
  const out = ports.filter(({ now }) => now === 0).map(({ port }) => movedNothing(context, port, during));
  const known = out.filter((one) => one !== null);
  return known.length === 0 ? null : known.some((one) => one);
}
