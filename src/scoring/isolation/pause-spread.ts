/**
 * How far pauses spread from where they began: the chain of links that are kept waiting, and how many there are.
 *
 * A port that is told to pause waits for the device at the other end, which sends the pause because one of its own
 * ports is kept waiting in turn (IEEE 802.1Qbb works hop by hop). So paused directions form chains towards the
 * senders; the root is a paused direction into a device that waits for nobody. A direction counts as paused when, in
 * one poll interval of the fault, it was paused for 1 % of the time more than in any interval before. Not modelled:
 * which priority waits, and whether two pauses of one interval were at the same moment.
 */
import { portId } from '../../core/elements.js';
import type { EvidenceIndex } from '../../model/telemetry/series.js';
import { peerPort, type Topology } from '../../model/topology/model.js';
import { Counter, freshSamples, pollSpans } from '../measures/samples.js';
import { NS_PER_S } from '../measures/statistics.js';

/** Share of an interval that a pause must take, beyond what was usual. */
const PAUSED_SHARE = 0.01;

export interface PauseSpread {
  /** Links on the longest chain from a root; 0 when nothing is paused. */
  depthHops: number;
  /** Paused links over all links. */
  spreadRatio: number;
}

/** @returns null when no port tells of pauses */
export function pauseSpread(
  index: EvidenceIndex,
  topology: Topology,
  injectedNs: number,
  untilNs: number,
): PauseSpread | null {
  const paused: number[] = [];
  let told = false;
  const seen = new Set<Float64Array>();
  for (const port of topology.ports) {
    const series = index.get('port_pause_rx_s', portId(port.name));
    if (series === undefined) continue;
    // hardly any counter of a fabric moves, and those that don't were mostly polled together
    if (series.constant === true && seen.has(series.timesNs)) continue;
    const counter = new Counter(freshSamples(series));
    const during = highestShare(counter, injectedNs, untilNs);
    if (series.constant === true) seen.add(series.timesNs);
    if (during === null) continue;
    told = true;
    const before = highestShare(counter, index.evidence.fromNs, injectedNs);
    if (during - (before ?? 0) >= PAUSED_SHARE) paused.push(port.index);
  }
  if (!told) return null;
  const links = new Set(paused.map((port) => topology.ports[port].link));
  return { depthHops: longestChain(topology, paused), spreadRatio: links.size / topology.links.length };
}

/** Highest share of a poll interval that was spent paused; null when no interval tells. */
function highestShare(counter: Counter, fromNs: number, toNs: number): number | null {
  let highest: number | null = null;
  for (const span of pollSpans(counter.samples, fromNs, toNs)) {
    const rate = counter.rate(span.fromNs, span.toNs);
    if (rate !== null) highest = Math.max(highest ?? 0, rate * NS_PER_S);
  }
  return highest;
}

/** Longest of the shortest ways from a root, in links. In a loop of waiting devices every direction is a root. */
function longestChain(topology: Topology, paused: readonly number[]): number {
  const waiting = new Map<number, number[]>();
  for (const port of paused) {
    const { device } = topology.ports[port];
    waiting.set(device, [...(waiting.get(device) ?? []), port]);
  }
  const receiver = (port: number): number => topology.ports[peerPort(topology, port)].device;
  const roots = paused.filter((port) => !waiting.has(receiver(port)));
  const hops = new Map((roots.length > 0 ? roots : paused.slice(0, 1)).map((port) => [port, 1]));
  const kept = new Map<number, number[]>();
  for (const port of paused) kept.set(receiver(port), [...(kept.get(receiver(port)) ?? []), port]);
  // A map grows while it is walked, which makes this a breadth-first search.
  for (const [port, hop] of hops) {
    for (const upstream of kept.get(topology.ports[port].device) ?? []) {
      if (!hops.has(upstream)) hops.set(upstream, hop + 1);
    }
  }
  return Math.max(0, ...hops.values());
}
