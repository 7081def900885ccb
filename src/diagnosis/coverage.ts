/**
 * How much of the fabric the evidence really shows. "No fault" may be said only about what was looked at.
 *
 * A link is known when an end told its status or its link-down count over (nearly) the whole window, when the bytes of
 * both directions can be compared, when an end told its speed, and when both its devices were heard. Missing is never healthy.
 */
import type { Context } from './series/context.js';
import { deviceId, jobId } from '../core/elements.js';
import { freshReachNs } from './series/samples.js';
import { speedReachNs } from './features/links/speed.js';
import type { EndObservation, LinkObservation } from './features/links/link-observation.js';

export interface Coverage {
  /** Share of links whose state is known, 0..1. */
  links: number;
  /** Links not known, by index. */
  unknownLinks: number[];
  /** Devices from which no counter or status of any port came. */
  mute: string[];
  /** True when at least one job's steps are known, or there is no job. */
  jobs: boolean;
}

/** Share of the window that a counter's fresh samples must reach over. */
const REACH = 0.8;

export function measureCoverage(context: Context, links: readonly LinkObservation[]): Coverage {
  const unknownLinks = links
    .filter((observation) => !isKnown(context, observation))
    .map((observation) => observation.link.index);
  const mute = context.topology.devices
    .filter(
      (device) =>
        device.ports.length > 0 &&
        device.ports.every(
          (port) =>
            freshReachNs(context.readPort('port_tx_bytes', port)) === 0 &&
            freshReachNs(context.readPort('port_link_down_events', port)) === 0,
        ),
    )
    .map((device) => deviceId(device.name));
  const jobs =
    context.jobs.length === 0 ||
    context.jobs.some((job) => freshReachNs(context.read('job_steps', jobId(job.name))) > 0);
  return {
    links: links.length === 0 ? 0 : 1 - unknownLinks.length / links.length,
    unknownLinks,
    mute,
    jobs,
  };
}

function isKnown(context: Context, { link, ends, sentBy }: LinkObservation): boolean {
  const wholeNs = REACH * (context.window.toNs - context.window.fromNs);
  const told = ends.some((end) => tellsState(context, end, wholeNs));
  const compared = sentBy.every((direction) => direction.known);
  const counted = ends.every(
    (end) =>
      freshReachNs(context.readPort('port_tx_bytes', end.port)) >= wholeNs &&
      freshReachNs(context.readPort('port_rx_bytes', end.port)) >= wholeNs,
  );
  return told && compared && counted && speedReachNs(context, link) >= wholeNs;
}

/** A status message never repeats, so that its silence is worth something only while the counter beside it is read. */
function tellsState(context: Context, end: EndObservation, wholeNs: number): boolean {
  return end.statusKnown && freshReachNs(context.readPort('port_link_down_events', end.port)) >= wholeNs;
}
