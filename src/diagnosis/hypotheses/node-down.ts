/**
 * A dead leaf, spine, core switch or host: it stops answering and every neighbour's port to it goes down.
 *
 * Told from many dead links by its silence and by Occam: one cause for all of them. A device that answers while its links
 * are down lives, however many of them there are. Told from a lost management connection by its neighbours, whose ports
 * stay up. Not modelled: a switch whose forwarding dies under a live management processor; it shows as dead links.
 */
import { deviceId, elementRef } from '../../core/elements.js';
import type { MetricName } from '../../model/telemetry/catalog.js';
import type { Series } from '../../model/telemetry/series.js';
import { peerPort } from '../../model/topology/model.js';
import { overlaps } from '../series/context.js';
import type { Context, Interval } from '../series/context.js';
import { answeredWithin } from '../features/links/device-observation.js';
import type { DeviceObservation } from '../features/links/device-observation.js';
import type { EndObservation, LinkObservation } from '../features/links/link-observation.js';
import { median } from '../series/statistics.js';
import { countPresent, outcomeOf } from '../explanation.js';
import type { Explanation } from '../explanation.js';
import type { RuledOut } from '../verdict.js';
import { since, until } from '../wording.js';
import { outcome } from './hypothesis.js';
import type { Candidate, Finding, Unit } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';
import { portSteps } from './link-account.js';
import { linkFindings } from './link-findings.js';

export const nodeDown: Family = {
  hypotheses: ['node-down/device'],
  hypothesise,
  cause: (context, culprit) => `was dead from ${since(culprit)} ${until(context, culprit)}`,
  reason: (_, culprit) => {
    const silent =
      outcomeOf(culprit, 'device-silent') === 'present' ? 'It left its polls unanswered and ' : '';
    const down = countPresent(culprit, 'status-down');
    return `${silent}${down} of its ${culprit.links.length} neighbouring ports went down.`;
  },
  series: nodeSeries,
  steps: (context, culprit) => portSteps(context, neighbourPorts(context, culprit), culprit.during),
  rivals: againstSingleLinks,
};

const NEIGHBOUR_METRICS: readonly MetricName[] = [
  'port_oper_status',
  'port_link_down_events',
  'optic_rx_power_dbm',
];
/** A dead switch has many neighbours that all say the same; so many of them are cited. */
const MOST_NEIGHBOURS = 8;

const neighbourPorts = (context: Context, { device = 0 }: Explanation): number[] =>
  context.topology.devices[device].ports.map((port) => peerPort(context.topology, port));

function nodeSeries(context: Context, culprit: Explanation): (Series | undefined)[] {
  const neighbours = neighbourPorts(context, culprit).slice(0, MOST_NEIGHBOURS);
  return [
    context.readDevice('device_reachable', culprit.device ?? 0),
    ...NEIGHBOUR_METRICS.flatMap((metric) => neighbours.map((port) => context.readPort(metric, port))),
  ];
}

function againstSingleLinks(context: Context, observations: Observations, culprit: Explanation): RuledOut[] {
  const down = culprit.links.filter((link) =>
    culprit.findings.some(
      ({ signature, outcome: seen, unit }) =>
        signature === 'status-down' && seen === 'present' && unit === `link ${link}`,
    ),
  );
  if (down.length < 2) return [];
  const name = context.deviceName(culprit.device ?? 0);
  return [
    {
      kind: 'link-down',
      element: elementRef(observations.links[down[0]].link.id),
      why: `${down.length} of the ${culprit.links.length} links of ${name} went down together, so it is not this link alone`,
    },
  ];
}

/** Share of a device's links whose neighbours must report down before the device itself is suspected. */
const SUSPECT_SHARE = 0.5;

/** A link of the device, seen from the other end. */
interface Neighbour {
  observation: LinkObservation;
  far: EndObservation;
}

function hypothesise(context: Context, { devices, links }: Observations): Candidate[] {
  return devices.flatMap((device) => {
    const neighbours = neighboursOf(context, device.device, links);
    const during = darkTime(device, neighbours);
    if (during === null) return [];
    const downs = neighbours.map(({ far }) => far.down.filter((span) => overlaps(span, during)));
    const answer = answeredWithin(context, device, during);
    if (answer === 'yes') return [];
    const starts = downs.flatMap((spans) => spans.slice(0, 1).map((span) => span.fromNs));
    const onsetNs = starts.length === 0 ? during.fromNs : median(starts);
    const candidate: Candidate = {
      hypothesis: 'node-down/device',
      element: elementRef(deviceId(context.deviceName(device.device))),
      direction: 'both',
      covers: neighbours.map(({ observation }): Unit => `link ${observation.link.index}`),
      links: neighbours.map(({ observation }) => observation.link.index),
      device: device.device,
      findings: [
        { signature: 'device-silent', outcome: outcome(answer === 'no' ? true : null) },
        ...neighbours.flatMap((neighbour) => neighbourFindings(context, neighbour, during)),
      ],
      during,
      onsetNs: onsetNs <= context.window.fromNs ? null : onsetNs,
    };
    return [candidate];
  });
}

function neighboursOf(context: Context, device: number, links: readonly LinkObservation[]): Neighbour[] {
  return context.topology.devices[device].ports.map((port) => {
    const observation = links[context.topology.ports[port].link];
    const [lower, upper] = observation.ends;
    return { observation, far: lower.port === port ? upper : lower };
  });
}

/** When the device may have been dead: by its silence, else by the time its neighbours agree on. */
function darkTime(device: DeviceObservation, neighbours: readonly Neighbour[]): Interval | null {
  const longest = neighbours.flatMap(({ far }) => {
    const spans = [...far.down].sort((one, other) => other.toNs - other.fromNs - (one.toNs - one.fromNs));
    return spans.slice(0, 1);
  });
  const silent = [...device.silent].sort(
    (one, other) => other.toNs - other.fromNs - (one.toNs - one.fromNs) || one.fromNs - other.fromNs,
  )[0];
  if (silent !== undefined) return silent;
  if (longest.length === 0 || longest.length < SUSPECT_SHARE * neighbours.length) return null;
  const during = {
    fromNs: median(longest.map((span) => span.fromNs)),
    toNs: median(longest.map((span) => span.toNs)),
  };
  return during.toNs > during.fromNs ? during : null;
}

/** What each link shows, as for a dead link; a neighbour that was heard and stayed up speaks for itself. */
function neighbourFindings(context: Context, { observation, far }: Neighbour, during: Interval): Finding[] {
  const unit: Unit = `link ${observation.link.index}`;
  const heard = far.statusKnown && !far.silent.some((gap) => overlaps(gap, during));
  const down =
    far.down.some((span) => overlaps(span, during)) ||
    (far.downEvents ?? []).some((event) => overlaps(event, during));
  return [
    ...linkFindings(context, observation).map((finding) => ({ ...finding, unit })),
    { signature: 'neighbour-stayed-up', outcome: heard && !down ? 'present' : 'unknown', unit },
  ];
}
