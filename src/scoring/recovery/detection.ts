/**
 * Time to detect: the first true change of anything that is told about what was faulted.
 */
import { deviceId, nicId, portId, rankId } from '../../core/elements.js';
import { METRICS } from '../../model/telemetry/catalog.js';
import type { EvidenceIndex, Series } from '../../model/telemetry/series.js';
import { changedAtNs } from '../measures/change.js';
import type { FaultElements } from '../measures/fault-elements.js';
import type { ScoringInput } from '../input.js';

export interface Detection {
  atNs: number;
  /** What changed first. */
  series: Series;
}

type Faulted = Pick<ScoringInput, 'topology' | 'truth' | 'jobs' | 'endNs'>;

/** Ids of the ranks whose host is itself what was hurt. */
function ranksOfHosts({ topology, truth, jobs }: Faulted): string[] {
  const hurt = new Set(truth.map(({ elements }) => elements[0]?.id));
  return jobs.flatMap((job) =>
    Array.from(job.placement, (gpu, rank) => ({ gpu, rank }))
      .filter(({ gpu }) => hurt.has(deviceId(topology.devices[topology.gpus[gpu].host].name)))
      .map(({ rank }) => rankId(job.name, rank)),
  );
}

/** All that is told of the faulted ports, NICs and devices, of the routes at their ends, and of ranks of a faulted host. */
export function seriesOfFault(input: Faulted, index: EvidenceIndex, elements: FaultElements): Series[] {
  const { topology } = input;
  const ids = new Set([
    ...[...elements.ports].map((port) => portId(topology.ports[port].name)),
    ...[...elements.devices].map((device) => deviceId(topology.devices[device].name)),
    ...[...elements.ports]
      .filter((port) => topology.ports[port].nic >= 0)
      .map((port) => nicId(topology.nics[topology.ports[port].nic].name)),
    ...ranksOfHosts(input),
  ]);
  return METRICS.flatMap(({ name }) => index.all(name).filter(({ element }) => ids.has(element)));
}

/** The first of these series that truly changes after the injection; null where none does. */
export function firstDetection(
  series: readonly Series[],
  injectedNs: number,
  endNs: number,
): Detection | null {
  let first: Detection | null = null;
  for (const one of series) {
    const atNs = changedAtNs(one, injectedNs, endNs);
    if (atNs !== null && atNs < (first?.atNs ?? Infinity)) first = { atNs, series: one };
  }
  return first;
}
