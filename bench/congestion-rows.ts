/**
 * Rows of the accuracy bench for a case with congestion: what drills run, then the reference model, beside the record.
 *
 * What drills run (drilled-case.ts) is judged by makespan, completion times and notifications; those of the peer echo
 * every mark, so notifications are compared with the rate cuts of the reference model, the stepwise fluid. Its marks are
 * drawn at random, in the peer's one run as in ours: its error is that of the median over seeds, the worst seed beside
 * it. Plain max-min on the same paths stands beside each error of a time. Floors follow the class of a case (what
 * controls congestion, and the measure), never its name. A victim is the one flow that goes elsewhere than all others.
 */
import { runCongestion, type CongestionResult } from '../src/simulator/fluid/congestion-run.js';
import {
  congestionScene,
  isPauseOnly,
  type CongestionCase,
  type CongestionScene,
} from './congestion-case.js';
import { runDrilled } from './drilled-case.js';
import { packetCaseFlows, parsePacketCase } from './packet-case.js';
import { runFlowList } from './reference-models/flow-list.js';
import { measured, type BenchRow, type Yardstick } from './row.js';

const REFERENCE = 'plain max-min on the recorded paths; both beside ns-3 of the HPCC paper';
const FLUID = 'rate cuts of the stepwise fluid, mean over seeds';

type Limits = Pick<Yardstick, 'floor' | 'aim'>;
/** What decides how long a case takes: nothing but its one flow, the order of dependent flows, PFC alone, or DCQCN. */
type Class = 'alone' | 'collective' | 'pause' | 'dcqcn';
type Measure = 'makespan' | 'fct_p50' | 'fct_p95' | 'cnps';

const DRILLED: Readonly<Record<Class, Readonly<Partial<Record<Measure, Limits>>>>> = {
  alone: { makespan: { floor: 1e-9, aim: 1e-9 } },
  collective: { makespan: { floor: 0.01, aim: 0.005 } },
  pause: { makespan: { floor: 0.01, aim: 0.001 } },
  dcqcn: {
    makespan: { floor: 0.1, aim: 0.05 },
    fct_p50: { floor: 0.1, aim: 0.05 },
    fct_p95: { floor: 0.15, aim: 0.075 },
    cnps: { floor: 0.3, aim: 0.15 },
  },
};
const REFERENCE_MAKESPAN: Readonly<Record<Class, Limits>> = {
  alone: { floor: 1e-9, aim: 1e-9 },
  collective: { floor: 0.01, aim: 0.005 },
  pause: { floor: 0.01, aim: 0.001 },
  dcqcn: { floor: 0.15, aim: 0.05 },
};
const REFERENCE_VICTIM: Readonly<Partial<Record<Class, Limits>>> = { pause: { floor: 0.15, aim: 0.05 } };

/** Completion times and what they make together. */
interface Times {
  makespanNs: number;
  fctNs: Float64Array;
}

/** @param document of the case, as read */
export function congestionRows(
  name: string,
  document: unknown,
  source: CongestionCase,
  seeds: readonly number[],
): BenchRow[] {
  const scene = congestionScene(source);
  const maxMin = runMaxMin(document);
  const runs = runReference(scene, seeds);
  return [
    ...drilledRows(name, source, scene, maxMin, runs, seeds[0] ?? 1),
    ...referenceRows(name, source, maxMin, runs),
  ];
}

/** Finish times of plain max-min, which knows no queue, no congestion control and no fault. */
function runMaxMin(document: unknown): Times {
  const { capacities, flows } = packetCaseFlows(parsePacketCase(document), { rounding: 'peer' });
  return timesOf(runFlowList(capacities, flows));
}

const timesOf = (run: { makespanNs: number; startNs: Float64Array; finishNs: Float64Array }): Times => ({
  makespanNs: run.makespanNs,
  fctNs: run.finishNs.map((ns, flow) => ns - run.startNs[flow]),
});

function runReference(
  { network, flows, down }: CongestionScene,
  seeds: readonly number[],
): CongestionResult[] {
  const runs: CongestionResult[] = [];
  for (const seed of seeds) {
    runs.push(runCongestion(network, flows, { seed, down }));
    // Without a mark nothing is left to chance.
    if (runs[0].marks.every((marks) => marks === 0)) break;
  }
  return runs;
}

const error = (value: number, reference: number): number => Math.abs(value / reference - 1);

function drilledRows(
  name: string,
  source: CongestionCase,
  scene: CongestionScene,
  maxMin: Times,
  runs: readonly CongestionResult[],
  seed: number,
): BenchRow[] {
  const limits = DRILLED[classOf(source)];
  const run = runDrilled(source, scene, seed);
  const ours = timesOf(run);
  const peer = { makespanNs: source.result.makespan_ns, fctNs: peerTimes(source) };
  const row = (measure: Measure, of: (times: Times) => number): BenchRow =>
    measured(name, `${measure}_error`, error(of(ours), of(peer)), {
      unit: 'ratio',
      reference: REFERENCE,
      referenceValue: error(of(maxMin), of(peer)),
      ...limits[measure],
    });
  const rows = [row('makespan', ({ makespanNs }) => makespanNs)];
  if (source.flows.length > 1) {
    rows.push(row('fct_p50', ({ fctNs }) => quantile(fctNs, 0.5)));
    rows.push(row('fct_p95', ({ fctNs }) => quantile(fctNs, 0.95)));
  }
  const cuts = mean(runs.map((one) => one.cuts.reduce((sum, count) => sum + count, 0)));
  if (cuts > 0) {
    const yardstick = { unit: 'ratio', reference: FLUID, ...limits.cnps };
    rows.push(measured(name, 'cnps_error', error(run.cnps, cuts), yardstick));
  }
  return rows;
}

function referenceRows(
  name: string,
  source: CongestionCase,
  maxMin: Times,
  runs: readonly CongestionResult[],
): BenchRow[] {
  const kind = classOf(source);
  const row = (measure: string, peerNs: number, oursNs: number[], maxMinNs: number, limits: Limits = {}) =>
    measured(name, `reference_${measure}`, error(median(oursNs), peerNs), {
      unit: 'ratio',
      reference: REFERENCE,
      referenceValue: error(maxMinNs, peerNs),
      ...limits,
    });
  const times = runs.map(timesOf);
  const peerNs = source.result.makespan_ns;
  const makespansNs = times.map(({ makespanNs }) => makespanNs);
  const rows = [row('makespan_error', peerNs, makespansNs, maxMin.makespanNs, REFERENCE_MAKESPAN[kind])];
  if (runs.length > 1) {
    const worstNs = makespansNs.reduce((worst, ns) =>
      Math.abs(ns - peerNs) > Math.abs(worst - peerNs) ? ns : worst,
    );
    rows.push(row('makespan_error_worst_seed', peerNs, [worstNs], maxMin.makespanNs));
  }
  const means = times.map(({ fctNs }) => mean(fctNs));
  rows.push(row('mean_fct_error', mean(peerTimes(source)), means, mean(maxMin.fctNs)));
  const victim = victimOf(source);
  if (victim >= 0) {
    const oursNs = times.map(({ fctNs }) => fctNs[victim]);
    const peerVictimNs = source.flows[victim].fct_ns!;
    rows.push(row('victim_fct_error', peerVictimNs, oursNs, maxMin.fctNs[victim], REFERENCE_VICTIM[kind]));
  }
  return rows;
}

const peerTimes = ({ flows }: CongestionCase): Float64Array =>
  Float64Array.from(flows, ({ fct_ns: fctNs }) => fctNs!);

function classOf(source: CongestionCase): Class {
  if (source.flows.length === 1) return 'alone';
  if (source.flows.some((flow) => flow.start_after !== undefined)) return 'collective';
  return isPauseOnly(source) ? 'pause' : 'dcqcn';
}

/** The one flow that goes elsewhere than the many, or -1. */
function victimOf({ flows }: CongestionCase): number {
  const perTarget = new Map<number, number>();
  for (const { dst } of flows) perTarget.set(dst, (perTarget.get(dst) ?? 0) + 1);
  if (perTarget.size !== 2 || flows.length < 4) return -1;
  return flows.findIndex(({ dst }) => perTarget.get(dst) === 1);
}

function quantile(values: Float64Array, share: number): number {
  const sorted = values.toSorted();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at];
  return sum / values.length;
}
