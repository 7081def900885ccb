/**
 * A dead leaf, spine, core switch or host: it stops answering and every neighbour's port to it goes down.
 *
 * Told from many dead links by its silence and by Occam: one cause for all of them. Told from a lost management
 * connection by its neighbours, whose ports stay up.
 */
import { deviceId, elementRef } from '../../kernel/elements.js';
import { overlaps } from '../features/context.js';
import type { Context, Interval } from '../features/context.js';
import { answeredWithin } from '../features/device-observation.js';
import type { DeviceObservation } from '../features/device-observation.js';
import type { EndObservation, LinkObservation } from '../features/link-observation.js';
import { median } from '../features/statistics.js';
import { outcome } from './hypothesis.js';
import type { Candidate, Finding, Observations } from './hypothesis.js';
import { linkFindings } from './link-findings.js';

/** Share of a device's links whose neighbours must report down before the device itself is suspected. */
const SUSPECT_SHARE = 0.5;

/** A link of the device, seen from the other end. */
interface Neighbour {
  observation: LinkObservation;
  far: EndObservation;
}

export function hypothesiseNodeDown(context: Context, { devices, links }: Observations): Candidate[] {
  return devices.flatMap((device) => {
    const neighbours = neighboursOf(context, device.device, links);
    const during = darkTime(device, neighbours);
    if (during === null) return [];
    const downs = neighbours.map(({ far }) => far.down.filter((span) => overlaps(span, during)));
    const answer = answeredWithin(context, device, during);
    const starts = downs.flatMap((spans) => spans.slice(0, 1).map((span) => span.fromNs));
    const onsetNs = starts.length === 0 ? during.fromNs : median(starts);
    const candidate: Candidate = {
      hypothesis: 'node-down/device',
      element: elementRef(deviceId(context.deviceName(device.device))),
      direction: 'both',
      links: neighbours.map(({ observation }) => observation.link.index),
      device: device.device,
      findings: [
        { signature: 'device-silent', outcome: outcome(answer === 'unknown' ? null : answer === 'no') },
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
  const link = observation.link.index;
  const heard = far.statusKnown && !far.silent.some((gap) => overlaps(gap, during));
  const down =
    far.down.some((span) => overlaps(span, during)) ||
    (far.downEvents ?? []).some((event) => overlaps(event, during));
  return [
    ...linkFindings(context, observation).map((finding) => ({ ...finding, link })),
    { signature: 'neighbour-stayed-up', outcome: heard && !down ? 'present' : 'unknown', link },
  ];
}
