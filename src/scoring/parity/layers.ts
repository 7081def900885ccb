/**
 * What each layer of one drill shows, from its evidence: the readings that a parity check compares.
 *
 * The same code reads the twin's evidence and the real fabric's. Pace, failback and true changes are those of the
 * scores; a reroute is read off the log of installed routes, everywhere in the fabric, which both keep to the millisecond,
 * where the score's figure waits for the next poll of bytes on the faulted links. What one fabric alone can tell (optical sensors, FEC) is left out
 * of the detection: the other could only lose.
 */
import { jobId, portId } from '../../core/elements.js';
import { metricDefinition } from '../../model/telemetry/catalog.js';
import { EvidenceIndex, type Series } from '../../model/telemetry/series.js';
import type { Job } from '../../model/workload/job.js';
import { firstDetection, seriesOfFault } from '../recovery/detection.js';
import { failback } from '../recovery/failback.js';
import { faultElements, seriesOn, type FaultElements } from '../measures/fault-elements.js';
import type { ScoringInput } from '../input.js';
import type { LayerReadings, Reading } from './parity.js';
import { Counter, freshSamples, spacingNs, valueAt, type Sample } from '../measures/samples.js';
import { NS_PER_S } from '../measures/statistics.js';
import { jobPace, meanPace, type JobPace } from '../measures/step-pace.js';

/** One drill that ran its course. */
export interface LayerInput extends Pick<ScoringInput, 'evidence' | 'topology' | 'jobs' | 'truth' | 'endNs'> {
  injectedNs: number;
  revertedNs: number;
  /** Jobs that the fault was to hit; all where null. */
  exposedJobs: readonly string[] | null;
  /** Whether the other fabric tells of this metric and element, too. */
  sharedWith(series: Series): boolean;
}

const UNKNOWN: Reading = { is: 'unknown' };
const NOTHING: Reading = { is: 'nothing' };
const NEVER: Reading = { is: 'never' };

/** Of a run that told nothing. */
export const NO_READINGS: LayerReadings = {
  throughput_before: UNKNOWN,
  detect: UNKNOWN,
  reroute: UNKNOWN,
  throughput_during: UNKNOWN,
  traffic_during: UNKNOWN,
  routes_back: UNKNOWN,
  failback: UNKNOWN,
};

const measured = (value: number, resolution = 0): Reading => ({ is: 'measured', value, resolution });
const afterNs = (ns: number, resolutionNs = 0): Reading => measured(ns / NS_PER_S, resolutionNs / NS_PER_S);

/** @returns every layer; what the evidence does not tell is unknown */
export function layerReadings(input: LayerInput): LayerReadings {
  const { evidence, topology, truth, jobs, injectedNs, revertedNs, endNs, exposedJobs } = input;
  const index = new EvidenceIndex(evidence);
  const elements = faultElements(topology, truth);
  const exposed = jobs.filter(({ name }) => exposedJobs === null || exposedJobs.includes(name));
  const paces = exposed.map((job) => jobPace(index, job, injectedNs, endNs));
  const known = paces.filter((pace) => pace !== null);
  const paced = known.length > 0 && known.length === paces.length ? known : null;
  const falls = fallenPorts(index, input);
  return {
    throughput_before: throughput(paced, () => 1),
    detect: detectReading(index, input, elements),
    reroute: rerouteReading(falls, input),
    // a step more or less may lie within the fault
    throughput_during: throughput(
      paced,
      (pace) => meanPace(pace, injectedNs, revertedNs),
      NS_PER_S / (revertedNs - injectedNs),
    ),
    traffic_during: traffic(index, exposed, injectedNs, revertedNs),
    routes_back: routesBack(falls, input),
    failback: paced === null ? UNKNOWN : failbackReading(index, input, elements, paced),
  };
}

/** Steps a second, jobs weighted by their GPUs. @param share of its pace before that a job holds */
function throughput(
  paces: readonly JobPace[] | null,
  share: (pace: JobPace) => number,
  resolution = 0,
): Reading {
  if (paces === null) return UNKNOWN;
  const gpus = paces.reduce((sum, pace) => sum + pace.gpus, 0);
  const perNs = paces.reduce((sum, pace) => sum + (pace.gpus * share(pace)) / pace.stepNs, 0) / gpus;
  return Number.isFinite(perNs) ? measured(perNs * NS_PER_S, resolution) : UNKNOWN;
}

function detectReading(index: EvidenceIndex, input: LayerInput, elements: FaultElements): Reading {
  const series = seriesOfFault(input, index, elements).filter((one) => input.sharedWith(one));
  if (series.length === 0) return UNKNOWN;
  const first = firstDetection(series, input.injectedNs, input.endNs);
  if (first === null) return NEVER;
  const polled = metricDefinition(first.series.metric)?.sampling === 'poll';
  const resolutionNs = polled ? spacingNs(freshSamples(first.series)) : 0;
  return afterNs(first.atNs - input.injectedNs, resolutionNs);
}

/** Ports, anywhere, that became a next hop for fewer prefixes under the fault, and when; undefined without a log of routes. */
function fallenPorts(index: EvidenceIndex, { injectedNs, revertedNs }: LayerInput): Fall[] | undefined {
  const logs = index.all('route_port_prefixes').map(freshSamples);
  if (logs.length === 0) return undefined;
  return logs.flatMap((samples): Fall[] => {
    const before = valueAt(samples, injectedNs);
    if (before === undefined) return [];
    const fell = samples.find(
      ({ timeNs, value }) => timeNs > injectedNs && timeNs <= revertedNs && value < before,
    );
    return fell === undefined ? [] : [{ samples, before, atNs: fell.timeNs }];
  });
}

interface Fall {
  samples: readonly Sample[];
  /** Prefixes before. */
  before: number;
  atNs: number;
}

/** The fabric has rerouted when the last of its ports that must has let go: a neighbour hears of it last. */
function rerouteReading(falls: readonly Fall[] | undefined, { injectedNs }: LayerInput): Reading {
  if (falls === undefined) return UNKNOWN;
  if (falls.length === 0) return NOTHING;
  return afterNs(Math.max(...falls.map(({ atNs }) => atNs)) - injectedNs);
}

/** All of them are next hops for as many prefixes again, and stay it. */
function routesBack(falls: readonly Fall[] | undefined, { revertedNs, endNs }: LayerInput): Reading {
  if (falls === undefined) return UNKNOWN;
  if (falls.length === 0) return NOTHING;
  let lastNs = revertedNs;
  for (const { samples, before } of falls) {
    const seen = samples.filter(({ timeNs }) => timeNs <= endNs);
    const away = seen.findLastIndex(({ value }) => value < before);
    if (away === seen.length - 1) return NEVER;
    lastNs = Math.max(lastNs, seen[away + 1].timeNs);
  }
  return afterNs(lastNs - revertedNs);
}

/** Payload that connections between ranks deliver, all of them together; bytes per ns are GB/s. */
function traffic(index: EvidenceIndex, jobs: readonly Job[], fromNs: number, toNs: number): Reading {
  if (index.all('edge_tx_bytes').length === 0) return UNKNOWN;
  const edges = seriesOn(index, ['edge_tx_bytes'], new Set(jobs.map(({ name }) => jobId(name))));
  if (edges.length === 0) return NOTHING;
  let sum = 0;
  for (const edge of edges) {
    const rate = new Counter(freshSamples(edge)).rate(fromNs, toNs);
    if (rate === null) return UNKNOWN;
    sum += rate;
  }
  return measured(sum);
}

function failbackReading(
  index: EvidenceIndex,
  { evidence, topology, injectedNs, revertedNs, endNs }: LayerInput,
  elements: FaultElements,
  paces: readonly JobPace[],
): Reading {
  const watched = { fromNs: evidence.fromNs, injectedNs, revertedNs, endNs };
  const back = failback(index, topology, elements, paces, watched);
  if (back.failedBack === null) return UNKNOWN;
  if (!back.failedBack || back.afterNs === null) return NEVER;
  const polls = [...elements.ports].map((port) =>
    spacingNs(freshSamples(index.get('port_tx_bytes', portId(topology.ports[port].name)))),
  );
  const coarsest = Math.max(...paces.map(({ stepNs }) => stepNs), ...polls.filter(Number.isFinite));
  return afterNs(back.afterNs, coarsest);
}
