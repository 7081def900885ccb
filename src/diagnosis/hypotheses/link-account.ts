/**
 * How the failures of a link are told, whatever their kind: the series at its two ends, what its ports said, and why
 * neither of its devices is to blame.
 */
import { deviceId, elementRef, portId } from '../../core/elements.js';
import type { MetricName } from '../../model/telemetry/catalog.js';
import type { Series } from '../../model/telemetry/series.js';
import { overlaps } from '../series/context.js';
import type { Context, Interval } from '../series/context.js';
import { answeredWithin } from '../features/links/device-observation.js';
import { stateSpans } from '../series/samples.js';
import { seconds } from '../series/change.js';
import { outcomeOf } from '../explanation.js';
import type { Explanation } from '../explanation.js';
import type { Outcome, Signature } from '../likelihoods.js';
import type { ChainStep, RuledOut } from '../verdict.js';
import type { Observations } from './hypothesis.js';

/** In the order in which an engineer would look. */
const PORT_METRICS: readonly MetricName[] = [
  'port_oper_status',
  'port_admin_status',
  'port_link_down_events',
  'bfd_session_status',
  'optic_rx_power_dbm',
  'port_rx_errors',
  'port_tx_discards',
  'port_tx_bytes',
  'port_rx_bytes',
  'route_port_prefixes',
];

/** Series of the given metrics at both ends of each link, and the routes of the devices there. */
export function linkSeries(
  context: Context,
  culprit: Explanation,
  metrics: readonly MetricName[] = PORT_METRICS,
): (Series | undefined)[] {
  const ends = culprit.links.flatMap((link) => context.endsOf(context.topology.links[link]));
  const devices = new Set(ends.map((port) => context.topology.ports[port].device));
  return [
    ...metrics.flatMap((metric) => ends.map((port) => context.readPort(metric, port))),
    ...[...devices].map((device) => context.readDevice('route_next_hops', device)),
  ];
}

const MOST_STEPS = 4;

/** When ports went down, or lost their session while they stayed up; the latest first. */
export function portSteps(context: Context, ports: readonly number[], during: Interval): ChainStep[] {
  const steps = ports.flatMap((port) => {
    const status = stateSpans(context.readPort('port_oper_status', port), context.window.toNs);
    const session = stateSpans(context.readPort('bfd_session_status', port), context.window.toNs);
    const element = elementRef(portId(context.portName(port)));
    const down = status.find((span) => span.value === 0 && overlaps(span, during));
    if (down !== undefined) return [{ element, claim: 'the port went down', onset_s: seconds(down.fromNs) }];
    const lost = session.find((span) => span.value === 0 && overlaps(span, during));
    if (lost === undefined) return [];
    return [{ element, claim: 'its session with the neighbour failed', onset_s: seconds(lost.fromNs) }];
  });
  return steps.sort((one, other) => other.onset_s - one.onset_s).slice(0, MOST_STEPS);
}

export const linkSteps = (context: Context, culprit: Explanation): ChainStep[] =>
  portSteps(
    context,
    culprit.links.flatMap((link) => context.endsOf(context.topology.links[link])),
    culprit.during,
  );

export interface Alternative {
  kind: RuledOut['kind'];
  signature: Signature;
  speaksAgainst: Outcome;
  why: string;
}

const LINK_ALTERNATIVES: readonly Alternative[] = [
  {
    kind: 'link-flap',
    signature: 'down-repeatedly',
    speaksAgainst: 'absent',
    why: 'it went down once, not again and again',
  },
  {
    kind: 'link-down',
    signature: 'down-repeatedly',
    speaksAgainst: 'present',
    why: 'it came back and went down again several times',
  },
  {
    kind: 'one-way-loss',
    signature: 'both-ends-down',
    speaksAgainst: 'present',
    why: 'both ends reported the port down, so neither direction worked',
  },
  {
    kind: 'link-down',
    signature: 'status-down',
    speaksAgainst: 'absent',
    why: 'both ends kept reporting the port up',
  },
];

/** Other kinds that the culprit's own findings speak against. */
function againstKinds(
  culprit: Explanation,
  alternatives: readonly Alternative[] = LINK_ALTERNATIVES,
): RuledOut[] {
  return alternatives
    .filter(
      ({ kind, signature, speaksAgainst }) =>
        kind !== culprit.kind && outcomeOf(culprit, signature) === speaksAgainst,
    )
    .map(({ kind, why }) => ({ kind, element: culprit.element, why }));
}

/** The devices at the ends of the culprit's first link live on. */
export function againstDevices(
  context: Context,
  observations: Observations,
  culprit: Explanation,
): RuledOut[] {
  return observations.links[culprit.links[0]].ends.flatMap(({ device }) => {
    const answered = answeredWithin(context, observations.devices[device], culprit.during);
    if (answered !== 'yes') return [];
    const others = context.topology.devices[device].ports
      .map((port) => observations.links[context.topology.ports[port].link])
      .filter((other) => !culprit.links.includes(other.link.index))
      .filter((other) => other.ends.some((end) => end.statusKnown));
    const up = others.filter((other) => other.episodes.length === 0).length;
    const rest = others.length === 0 ? '' : ` and ${up} of its ${others.length} other links stayed up`;
    const element = elementRef(deviceId(context.deviceName(device)));
    return [{ kind: 'node-down' as const, element, why: `it answered its polls throughout${rest}` }];
  });
}

export const linkRivals = (
  context: Context,
  observations: Observations,
  culprit: Explanation,
): RuledOut[] => [...againstDevices(context, observations, culprit), ...againstKinds(culprit)];
