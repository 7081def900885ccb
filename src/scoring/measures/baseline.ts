/**
 * Was the fabric healthy before the fault? A drill on a sick fabric proves nothing, so its outcome is inconclusive.
 *
 * Asked of the evidence before the injection: do jobs run at the pace that a closed form promises, and steadily; are
 * all ports up and at their rated speed; do devices of the same shape have the same number of next hops, and do they
 * keep it; do no error counters rise. Not modelled: sick optics that do not yet lose packets.
 */
import { deviceId, portId } from '../../core/elements.js';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import type { Evidence, Series } from '../../model/telemetry/series.js';
import type { Job } from '../../model/workload/job.js';
import type { Device, Topology } from '../../model/topology/model.js';
import { listChoices } from '../../core/nearest.js';
import { DEFAULT_PROFILE, type ScoringProfile } from '../profile.js';
import { freshSamples, newestValue } from './samples.js';
import { NS_PER_S } from './statistics.js';
import { jobPace } from './step-pace.js';

/** Relative difference of a port's speed from the rated one that still counts as the same speed. */
const RATE_TOLERANCE = 0.01;
const ERROR_COUNTERS = [
  'port_rx_errors',
  'port_tx_discards',
  'queue_drop_packets',
  'port_link_down_events',
] as const;

export interface BaselineInput {
  evidence: Evidence;
  topology: Topology;
  jobs: readonly Job[];
  injectedNs: number;
  /** Job name to the ideal step time, ns; a job without one is judged by its steadiness alone. */
  idealStepNs: ReadonlyMap<string, number>;
  /**
   * A step may take so many times its ideal (the closed form knows no hash collisions, which easily cost a half), and
   * the pace may scatter so much, or "before" is no level to compare with.
   */
  limits?: ScoringProfile['baseline'];
}

export interface BaselineHealth {
  /** null when the evidence does not tell. */
  healthy: boolean | null;
  /** One sentence each: what is wrong, or what is missing. */
  reasons: string[];
}

interface Finding {
  wrong: string[];
  missing: string[];
}

/** Clocks of devices may be off by so much: what is stamped that shortly before the fault may be the fault itself. */
const CLOCK_ERROR_NS = 1e9;

/** Up to when stamps are surely from before the fault. */
const surelyBeforeNs = ({ injectedNs }: BaselineInput): number =>
  Math.max(injectedNs - CLOCK_ERROR_NS, injectedNs / 2);

const names = (ids: readonly string[]): string => listChoices(ids, 3);

function pacesFinding(input: BaselineInput, index: EvidenceIndex, finding: Finding): void {
  const { idealStepRatio: ratioMax, paceNoise } = input.limits ?? DEFAULT_PROFILE.baseline;
  for (const job of input.jobs) {
    const pace = jobPace(index, job, input.injectedNs, input.injectedNs);
    if (pace === null) {
      finding.missing.push(
        `job ${job.name} finished fewer than three steps before the fault, or its steps were not seen`,
      );
      continue;
    }
    const ideal = input.idealStepNs.get(job.name);
    if (ideal !== undefined && pace.stepNs > ratioMax * ideal) {
      const [took, should] = [pace.stepNs, ideal].map((ns) => `${Number((ns / NS_PER_S).toPrecision(3))} s`);
      finding.wrong.push(`job ${job.name} took ${took} a step before the fault, where ${should} is ideal`);
    }
    if (pace.noise > paceNoise) {
      const percent = Number((100 * pace.noise).toPrecision(2));
      finding.wrong.push(
        `the pace of job ${job.name} scattered by ${percent} % before the fault, ${Number((100 * paceNoise).toPrecision(2))} % at most are quiet enough`,
      );
    }
  }
}

function portsFinding(input: BaselineInput, index: EvidenceIndex, finding: Finding): void {
  const { topology } = input;
  const beforeNs = surelyBeforeNs(input);
  const down: string[] = [];
  const slow: string[] = [];
  let seen = 0;
  for (const port of topology.ports) {
    const id = portId(port.name);
    const status = newestValue(index.get('port_oper_status', id), beforeNs);
    if (status !== undefined) seen++;
    if (status === 0) down.push(id);
    const rate = newestValue(index.get('port_rate_gbps', id), beforeNs);
    const rated = topology.links[port.link].rateGbps;
    if (rate !== undefined && Math.abs(rate - rated) > RATE_TOLERANCE * rated) slow.push(id);
  }
  if (seen === 0) finding.missing.push('no port told its status before the fault');
  if (down.length > 0) finding.wrong.push(`already down before the fault: ${names(down)}`);
  if (slow.length > 0) finding.wrong.push(`not at the rated speed before the fault: ${names(slow)}`);
}

/** Devices that should have as many next hops as each other: same tier, same links to each tier. */
function shapeOf(topology: Topology, device: Device): string {
  const links = device.ports.map((port) => topology.links[topology.ports[port].link].tier).sort();
  return [device.tier, device.plane ?? '', ...links].join(' ');
}

function nextHopsFinding(input: BaselineInput, index: EvidenceIndex, finding: Finding): void {
  const { topology } = input;
  const beforeNs = surelyBeforeNs(input);
  const siblings = new Map<string, { id: string; hops: number }[]>();
  const moved: string[] = [];
  for (const device of topology.devices.filter(({ role }) => role === 'switch')) {
    const id = deviceId(device.name);
    const samples = freshSamples(index.get('route_next_hops', id)).filter(({ timeNs }) => timeNs <= beforeNs);
    const hops = samples.at(-1)?.value;
    if (hops === undefined) continue;
    if (samples.some(({ value }) => value !== hops)) moved.push(id);
    const shape = shapeOf(topology, device);
    siblings.set(shape, [...(siblings.get(shape) ?? []), { id, hops }]);
  }
  if (moved.length > 0) finding.wrong.push(`routes changed before the fault: ${names(moved)}`);
  for (const group of siblings.values()) {
    const most = Math.max(...group.map(({ hops }) => hops));
    const fewer = group.filter(({ hops }) => hops < most).map(({ id }) => id);
    if (fewer.length > 0)
      finding.wrong.push(`fewer next hops than their siblings before the fault: ${names(fewer)}`);
  }
}

function errorsFinding(input: BaselineInput, index: EvidenceIndex, finding: Finding): void {
  const beforeNs = surelyBeforeNs(input);
  const rose = (series: Series): boolean => {
    // nearly all of a fabric's error counters never move
    if (series.constant === true) return false;
    const samples = freshSamples(series).filter(({ timeNs }) => timeNs <= beforeNs);
    return samples.length > 1 && samples[samples.length - 1].value > samples[0].value;
  };
  for (const metric of ERROR_COUNTERS) {
    const rising = index.all(metric).filter(rose);
    if (rising.length > 0) {
      finding.wrong.push(`${metric} rose before the fault: ${names(rising.map(({ element }) => element))}`);
    }
  }
}

/** Health of the fabric before the injection; any finding makes it false, lack of evidence makes it null. */
export function checkBaseline(input: BaselineInput): BaselineHealth {
  const index = new EvidenceIndex(input.evidence);
  const finding: Finding = { wrong: [], missing: [] };
  pacesFinding(input, index, finding);
  portsFinding(input, index, finding);
  nextHopsFinding(input, index, finding);
  errorsFinding(input, index, finding);
  if (input.jobs.length === 0) finding.missing.push('no job ran before the fault');
  if (finding.wrong.length > 0) return { healthy: false, reasons: [...finding.wrong, ...finding.missing] };
  return finding.missing.length > 0
    ? { healthy: null, reasons: finding.missing }
    : { healthy: true, reasons: [] };
}
