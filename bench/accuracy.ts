/**
 * The accuracy bench: how wrong the flow level is beside recorded packet-level runs and closed forms.
 *
 * Cases of the packet-level peer run through the congestion model (FIFO queues, PFC, DCQCN) with the case's own
 * settings. Which marks are drawn is chance, in the peer's one run as in ours: the error is that of the median over
 * seeds, and the worst seed stands beside it. Plain max-min on the same paths is the reference of each row. Cases
 * with random loss go through the go-back-N model, tables of RS(544,514) through its closed form.
 * Floors follow the class of a case (what controls congestion, and the measure), never its name. A victim is the one
 * flow of a case that goes elsewhere than all others.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../src/core/problem.js';
import { runFlowList } from './reference-models/flow-list.js';
import { runCongestion, type CongestionResult } from '../src/simulator/fluid/congestion-run.js';
import {
  congestionScene,
  isPauseOnly,
  parseCongestionCase,
  type CongestionCase,
  type CongestionScene,
} from './congestion-case.js';
import { fecRows, isFecTable } from './fec-table.js';
import { goBackNRows, isLossyCase } from './go-back-n-case.js';
import { packetCaseFlows, parsePacketCase } from './packet-case.js';
import { measured, unmeasured, type BenchRow, type Yardstick } from './row.js';

/** Documents that are no case of the packet-level peer, by what they have, and why they can not be expressed. */
const OTHERS: readonly (readonly [reason: string, fits: (document: Loose) => boolean])[] = [
  ['solved by hand for max-min: see the flow bench', (document) => Array.isArray(document)],
  ['no topology and no flows: nothing to run', ({ topology, flows }) => !topology || !Array.isArray(flows)],
  [
    'the recorded run stopped before its flows had finished',
    ({ flows }) => flows!.some((flow) => flow.fct_ns === null),
  ],
  [
    'the record has no paths, and with other paths it is another case',
    ({ flows }) => flows!.some((flow) => flow.path === undefined),
  ],
];
interface Loose {
  topology?: object;
  flows?: { fct_ns?: number | null; path?: unknown }[];
}
const REFERENCE = 'plain max-min on the recorded paths; both beside ns-3 of the HPCC paper';
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

type Limits = Pick<Yardstick, 'floor' | 'aim'>;
/** What decides how long a case takes: nothing but its one flow, the order of dependent flows, PFC alone, or DCQCN. */
type Class = 'alone' | 'collective' | 'pause' | 'dcqcn';
const MAKESPAN_LIMITS: Readonly<Record<Class, Limits>> = {
  alone: { floor: 1e-9, aim: 1e-9 },
  collective: { floor: 0.01, aim: 0.005 },
  pause: { floor: 0.01, aim: 0.001 },
  dcqcn: { floor: 0.15, aim: 0.05 },
};
const VICTIM_LIMITS: Readonly<Partial<Record<Class, Limits>>> = { pause: { floor: 0.15, aim: 0.05 } };

export interface AccuracyBenchOptions {
  /** Folder with the case files. */
  casesDir: string;
  /** Case names to run; all when empty. */
  only?: readonly string[];
  /** Seeds of the marks; default 1 to 9. The first one draws all losses of a lossy case. */
  seeds?: readonly number[];
  /** Told before each case, for progress on stderr. */
  onCase?: (name: string) => void;
}

/** Runs every case of the folder that can be expressed; any other file gives a row with the reason. */
export function runAccuracyBench({
  casesDir,
  only = [],
  seeds = SEEDS,
  onCase,
}: AccuracyBenchOptions): BenchRow[] {
  const rows: BenchRow[] = [];
  for (const file of readdirSync(casesDir).sort()) {
    const name = file.replace(/\.[^.]*$/, '');
    if (only.length > 0 && !only.includes(name)) continue;
    onCase?.(name);
    try {
      if (!file.endsWith('.json'))
        throw InputError.at('', 'a flow-level record or no case: see the flow bench');
      rows.push(...caseRows(name, JSON.parse(readFileSync(join(casesDir, file), 'utf8')), seeds));
    } catch (error) {
      if (!(error instanceof InputError || error instanceof SyntaxError)) throw error;
      rows.push(unmeasured(name, 'makespan_error', 'ratio', error.message.split('\n')[0]));
    }
  }
  for (const name of only) {
    if (!rows.some((row) => row.case === name))
      rows.push(unmeasured(name, 'makespan_error', 'ratio', `no such case in ${casesDir}`));
  }
  return rows;
}

function caseRows(name: string, document: unknown, seeds: readonly number[]): BenchRow[] {
  if (isFecTable(document)) return fecRows(name, document);
  const other = OTHERS.find(([, fits]) => fits(Object(document) as Loose));
  if (other !== undefined) throw InputError.at('', other[0]);
  const source = parseCongestionCase(document);
  if (isLossyCase(source)) return goBackNRows(name, source, seeds[0] ?? 1);
  return congestionRows(name, source, congestionScene(source), runMaxMin(document), seeds);
}

/** Finish times of plain max-min, which knows no queue, no congestion control and no fault. */
function runMaxMin(document: unknown): { makespanNs: number; fctNs: Float64Array } {
  const { capacities, flows } = packetCaseFlows(parsePacketCase(document), { rounding: 'peer' });
  const { makespanNs, startNs, finishNs } = runFlowList(capacities, flows);
  return { makespanNs, fctNs: finishNs.map((ns, flow) => ns - startNs[flow]) };
}

function congestionRows(
  name: string,
  source: CongestionCase,
  { network, flows, down }: CongestionScene,
  maxMin: { makespanNs: number; fctNs: Float64Array },
  seeds: readonly number[],
): BenchRow[] {
  const runs: CongestionResult[] = [];
  for (const seed of seeds) {
    runs.push(runCongestion(network, flows, { seed, down }));
    // Without a mark nothing is left to chance.
    if (runs[0].marks.every((marks) => marks === 0)) break;
  }
  const kind = classOf(source);
  const row = (measure: string, peerNs: number, oursNs: number[], maxMinNs: number, limits: Limits = {}) =>
    measured(name, measure, Math.abs(median(oursNs) / peerNs - 1), {
      unit: 'ratio',
      reference: REFERENCE,
      referenceValue: Math.abs(maxMinNs / peerNs - 1),
      ...limits,
    });
  const fctNs = (run: CongestionResult, flow: number): number => run.finishNs[flow] - run.startNs[flow];
  const peerNs = source.result.makespan_ns;
  const makespansNs = runs.map((run) => run.makespanNs);
  const rows = [row('makespan_error', peerNs, makespansNs, maxMin.makespanNs, MAKESPAN_LIMITS[kind])];
  if (runs.length > 1) {
    const worstNs = makespansNs.reduce((worst, ns) =>
      Math.abs(ns - peerNs) > Math.abs(worst - peerNs) ? ns : worst,
    );
    rows.push(row('makespan_error_worst_seed', peerNs, [worstNs], maxMin.makespanNs));
  }
  const means = runs.map((run) => mean(flows.map((_, flow) => fctNs(run, flow))));
  const peerMean = mean(source.flows.map((flow) => flow.fct_ns!));
  rows.push(row('mean_fct_error', peerMean, means, mean([...maxMin.fctNs])));
  const victim = victimOf(source);
  if (victim >= 0) {
    const oursNs = runs.map((run) => fctNs(run, victim));
    const peerVictimNs = source.flows[victim].fct_ns!;
    rows.push(row('victim_fct_error', peerVictimNs, oursNs, maxMin.fctNs[victim], VICTIM_LIMITS[kind]));
  }
  return rows;
}

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

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
