/**
 * Failback: whether things are really as before once the fault is gone, and when.
 *
 * "Link up" and "session established" prove nothing: FRR 8.4 is known to report both while the kernel keeps one next
 * hop of two (FRRouting/frr#12239). So three things must be back: the pace of the exposed jobs, bytes on the repaired
 * links that had some before, and the installed next hops at their ends. Links of a host whose ranks the scheduler has
 * moved away are not expected to carry anything again: the job stays where it is well.
 */
import { deviceId, portId } from '../../core/elements.js';
import type { EvidenceIndex } from '../../model/telemetry/series.js';
import type { Topology } from '../../model/topology/model.js';
import type { FaultElements } from '../measures/fault-elements.js';
import { Level, LEVEL_TOLERANCE, type Weighed } from './level.js';
import { LinkTraffic, memberLinks, totalRate } from '../measures/link-traffic.js';
import { freshSamples, valueAt, type Span } from '../measures/samples.js';
import type { JobPace } from '../measures/step-pace.js';
import { backAtNs, holdNs } from '../measures/step-pace.js';

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
  /** How long what is back must stay. */
  holdNs: number;
}

/** Fewer intervals than these are no window, however long each of them is. */
const LEAST_INTERVALS = 2;

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
    const carried = new CarriedShare(index, topology, link);
    const before = Level.of(carried.intervals(windows.fromNs, windows.injectedNs));
    if (before.intervals === 0 || before.mean <= 0) continue;
    const after = carried.intervals(windows.revertedNs, windows.endNs);
    if (after.length > 0) instants.push(backAtLevelNs(before, after, windows.holdNs));
  }
  return instants;
}

interface CarriedInterval extends Weighed, Span {}

/** What a link carries of its group's traffic, so that the pace of jobs does not enter; bytes per ns without siblings. */
class CarriedShare {
  private readonly own: LinkTraffic;
  private readonly group: LinkTraffic[];

  constructor(index: EvidenceIndex, topology: Topology, link: number) {
    this.own = new LinkTraffic(index, topology, link);
    this.group = memberLinks(topology, link)
      .filter((member) => member !== link)
      .map((member) => new LinkTraffic(index, topology, member));
  }

  /** Poll intervals whose counters are known. */
  intervals(fromNs: number, toNs: number): CarriedInterval[] {
    return this.own.spans(fromNs, toNs).flatMap((span): CarriedInterval[] => {
      const rate = this.own.rate(span);
      if (rate === null) return [];
      const lengthNs = span.toNs - span.fromNs;
      if (this.group.length === 0) return [{ ...span, value: rate, weight: lengthNs }];
      const others = totalRate(this.group, span);
      if (others === null) return [];
      const all = rate + others;
      // of no traffic at all there is no share, and it weighs nothing
      return [{ ...span, value: rate / all, weight: all * lengthNs }];
    });
  }
}

/**
 * The start of the first interval that is no lower than any was before, with a window from there that holds the level,
 * and the level still held over all that was watched from there on.
 */
function backAtLevelNs(before: Level, after: readonly CarriedInterval[], holdNs: number): number | null {
  const least = before.lowest * (1 - LEVEL_TOLERANCE);
  const at = after.findIndex(({ value, weight, fromNs }, first) => {
    if (weight <= 0 || value < least) return false;
    const rest = after.slice(first);
    const window = rest.filter((one, place) => place < LEAST_INTERVALS || one.toNs - fromNs <= holdNs);
    return before.isHeldBy(Level.of(window)) && before.isHeldBy(Level.of(rest));
  });
  return at === -1 ? null : after[at].fromNs;
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
  watched: Omit<Windows, 'holdNs'>,
): Failback {
  const unknown: Failback = { failedBack: null, afterNs: null };
  const windows = { ...watched, holdNs: Math.max(...paces.map(holdNs)) };
  if (paces.length === 0 || windows.endNs - windows.revertedNs < windows.holdNs) return unknown;
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
