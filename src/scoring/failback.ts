/**
 * Failback: whether things are really as before once the fault is gone, and when.
 *
 * "Link up" and "session established" prove nothing: FRR 8.4 is known to report both while the kernel keeps one next
 * hop of two (FRRouting/frr#12239). So three things must be back: the pace of the exposed jobs, bytes on the repaired
 * links that had some before, and the installed next hops at their ends. Links of a host whose ranks the scheduler has
 * moved away are not expected to carry anything again: the job stays where it is well.
 */
import { deviceId, portId } from '../kernel/elements.js';
import type { EvidenceIndex } from '../telemetry/series.js';
import type { Topology } from '../topology/model.js';
import type { FaultElements } from './fault-elements.js';
import { LinkTraffic } from './link-traffic.js';
import { SHARE_TOLERANCE, firstSteadyNs } from './reroute.js';
import { freshSamples, valueAt } from './samples.js';
import type { JobPace } from './step-pace.js';
import { backAtNs, holdNs } from './step-pace.js';

export interface Failback {
  /** null when the evidence does not tell or was cut short. */
  failedBack: boolean | null;
  /** From the revert, ns; null unless failedBack. */
  afterNs: number | null;
}

interface Windows {
  fromNs: number;
  injectedNs: number;
  revertedNs: number;
  endNs: number;
}

/** Instants at which each criterion was met; null for one that was not; an empty list when none can be told. */
type Instants = (number | null)[];

function bytesBack(
  index: EvidenceIndex,
  topology: Topology,
  elements: FaultElements,
  windows: Windows,
): Instants {
  const instants: Instants = [];
  for (const link of elements.links) {
    if (ranksHaveLeft(index, topology, link, windows)) continue;
    const traffic = new LinkTraffic(index, topology, link);
    const rates = traffic
      .spans(windows.fromNs, windows.injectedNs)
      .map((span) => traffic.rate(span))
      .filter((rate): rate is number => rate !== null);
    const least = Math.min(...rates) * (1 - SHARE_TOLERANCE);
    if (rates.length === 0 || least <= 0) continue;
    const spans = traffic.spans(windows.revertedNs, windows.endNs);
    if (spans.length > 0) instants.push(firstSteadyNs(spans, (span) => (traffic.rate(span) ?? 0) >= least));
  }
  return instants;
}

/** Whether the host at an end of the link has fewer GPUs in use at the end than before the fault. */
function ranksHaveLeft(index: EvidenceIndex, topology: Topology, link: number, windows: Windows): boolean {
  const { portA, portB } = topology.links[link];
  return [portA, portB].some((port) => {
    const { name } = topology.devices[topology.ports[port].device];
    const inUse = freshSamples(index.get('host_allocated_gpus', deviceId(name)));
    const before = valueAt(inUse, windows.injectedNs);
    const after = valueAt(inUse, windows.endNs);
    return before !== undefined && after !== undefined && after < before;
  });
}

function nextHopsBack(
  index: EvidenceIndex,
  topology: Topology,
  elements: FaultElements,
  windows: Windows,
): Instants {
  const series = [
    ...[...elements.ports].map((port) => index.get('route_port_prefixes', portId(topology.ports[port].name))),
    ...[...elements.devices].map((device) =>
      index.get('route_next_hops', deviceId(topology.devices[device].name)),
    ),
  ];
  const instants: Instants = [];
  for (const one of series) {
    const samples = freshSamples(one).filter(({ timeNs }) => timeNs <= windows.endNs);
    const before = valueAt(samples, windows.injectedNs);
    if (before === undefined) continue;
    const away = samples.findLast(({ timeNs, value }) => timeNs > windows.injectedNs && value !== before);
    const back =
      away === undefined ? windows.revertedNs : samples.find(({ timeNs }) => timeNs > away.timeNs)?.timeNs;
    instants.push(back === undefined ? null : Math.max(windows.revertedNs, back));
  }
  return instants;
}

/** Failback of the exposed jobs and the repaired elements. */
export function failback(
  index: EvidenceIndex,
  topology: Topology,
  elements: FaultElements,
  paces: readonly JobPace[],
  windows: Windows,
): Failback {
  const unknown: Failback = { failedBack: null, afterNs: null };
  const observedNs = windows.endNs - windows.revertedNs;
  if (paces.length === 0 || paces.some((pace) => observedNs < holdNs(pace))) return unknown;
  const fabric = [
    ...bytesBack(index, topology, elements, windows),
    ...nextHopsBack(index, topology, elements, windows),
  ];
  // Pace alone proves no repair: traffic may go on round the element for ever.
  if (fabric.length === 0) return unknown;
  const instants = [...paces.map((pace) => backAtNs(pace, windows.revertedNs)), ...fabric];
  if (instants.some((instant) => instant === null)) return { failedBack: false, afterNs: null };
  return { failedBack: true, afterNs: Math.max(...(instants as number[])) - windows.revertedNs };
}
