/**
 * Whether a device answers, and where its own word about its ports must not be trusted.
 *
 * A silent device leaves its last state standing: a dead leaf's ports read "up" for ever. So everything a device says
 * about itself is cut out while it does not answer.
 */
import type { Context, Interval } from '../../series/context.js';
import { overlaps } from '../../series/context.js';
import type { Series } from '../../../model/telemetry/series.js';
import { freshSamples, samplesWithin } from '../../series/samples.js';
import type { Sample } from '../../series/samples.js';
import { median } from '../../series/statistics.js';

export type Answer = 'yes' | 'no' | 'unknown';

export interface DeviceObservation {
  device: number;
  /** Stretches without an answer, from the last poll answered to the next one answered. */
  silent: readonly Interval[];
  /** True when polls of the device itself (not only its counters) were seen. */
  polled: boolean;
}

export function observeDevices(context: Context): DeviceObservation[] {
  return context.topology.devices.map((device) => observeDevice(context, device.index));
}

function observeDevice(context: Context, device: number): DeviceObservation {
  const polls = freshSamples(context.readDevice('device_reachable', device));
  if (polls.length === 0) {
    return { device, silent: counterGaps(context, device), polled: false };
  }
  const silent: Interval[] = [];
  let lastAnswerNs = context.window.fromNs;
  let unanswered = false;
  for (const { timeNs, value } of polls) {
    if (value === 0) unanswered = true;
    else {
      if (unanswered) silent.push({ fromNs: lastAnswerNs, toNs: timeNs });
      unanswered = false;
      lastAnswerNs = timeNs;
    }
  }
  if (unanswered) silent.push({ fromNs: lastAnswerNs, toNs: context.window.toNs });
  return { device, silent, polled: true };
}

/** Longest run of missed polls that plain sample loss may cause, in poll intervals, when every port misses together. */
const MISSED_POLLS = 3;

/** Without polls of the device: stretches in which none of its ports' counters arrived, though they did before. */
function counterGaps(context: Context, device: number): Interval[] {
  const times = new Set<number>();
  for (const port of context.topology.devices[device].ports) {
    for (const sample of freshSamples(context.readPort('port_tx_bytes', port))) times.add(sample.timeNs);
  }
  const sorted = [...times].sort((one, other) => one - other);
  if (sorted.length < MISSED_POLLS) return [];
  const steps = sorted.slice(1).map((timeNs, index) => timeNs - sorted[index]);
  const limitNs = MISSED_POLLS * median(steps);
  const ends = [...sorted.slice(1), context.window.toNs];
  return sorted
    .map((fromNs, index) => ({ fromNs, toNs: ends[index] }))
    .filter(({ fromNs, toNs }) => toNs - fromNs > limitNs);
}

/**
 * Did the device answer within a stretch, its two ends left out? Its own polls decide; without them the counters of its
 * ports do. One poll left unanswered counts for more than those answered: a device that booted in between was dead.
 */
export function answeredWithin(context: Context, observation: DeviceObservation, during: Interval): Answer {
  const inside = (series: Series | undefined): Sample[] =>
    samplesWithin(series, during).filter(({ timeNs }) => timeNs > during.fromNs && timeNs < during.toNs);
  const polls = inside(context.readDevice('device_reachable', observation.device));
  if (polls.some((poll) => poll.value === 0)) return 'no';
  if (polls.length > 0) return 'yes';
  if (observation.polled) return 'unknown';
  const ports = context.topology.devices[observation.device].ports;
  if (ports.some((port) => inside(context.readPort('port_tx_bytes', port)).length > 0)) {
    return 'yes';
  }
  return observation.silent.some((gap) => overlaps(gap, during)) ? 'no' : 'unknown';
}
