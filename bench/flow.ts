/**
 * The flow-level bench: exact max-min sharing and dependent collectives, beside the peers that recorded the cases.
 *
 * Per case: how wrong is the worst flow (or the makespan), and how long does the run take. Only the run is timed, not
 * the reading, best of the repeats; a calibration loop's time comes with it, so that figures from other machines can
 * be put in proportion. References are recorded times of SimGrid 3.32 (flow level) and of the ns-3 simulator of the
 * HPCC paper (packet level), Debian 12, 2 cores, November 2026. Floors follow the kind of case (all flows at once,
 * flows over time, collective) and its number of flows, never its name. Clusters with jobs are in cluster.ts.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { InputError } from '../src/core/problem.js';
import { runFlowList, type FlowListResult, type ListedFlow } from './reference-models/flow-list.js';
import { MaxMin } from '../src/simulator/rates/maxmin.js';
import { parseHandCases, parseMaxMinCase, worstFlowError } from './maxmin-case.js';
import { packetCaseFlows, parsePacketCase, type PacketCase } from './packet-case.js';
import { clusterRows } from './cluster.js';
import { measured, unmeasured, type BenchRow, type Yardstick } from './row.js';

const SIMGRID = 'SimGrid 3.32, Debian 12, 2 cores, November 2026';
const NS3 = 'ns-3 of the HPCC paper, Debian 12, 2 cores, November 2026';
/** Recorded seconds of SimGrid's event loop, by case and number of flows (a smaller run takes the first ones). */
const SIMGRID_SECONDS: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  maxmin_ft1024_10000: { 300: 0.004, 2000: 2.5, 10000: 187 },
  maxmin_ft1024_1000: { 1000: 0.21 },
  maxmin_ft1024_poisson10000: { 10000: 1.12 },
};
const WORST_FLOW_ERROR = 1e-5;
/** Rows without a case file stand beside the shipped cases, not beside those of another folder. */
const SHIPPED_CASES = fileURLToPath(new URL('../../test/accuracy/cases', import.meta.url));
const MANY_FLOWS = 'maxmin_ft1024_100000';
const MANY_FLOWS_SOURCE = 'maxmin_ft1024_10000.csv';

export interface FlowBenchOptions {
  /** Folder with the case files. */
  casesDir: string;
  /** Case names to run; all when empty. */
  only?: readonly string[];
  /** Times each run is repeated; the best counts. Default 3. */
  repeats?: number;
  /** Told before each case, for progress on stderr. */
  onCase?: (name: string) => void;
}

/** Runs every flow-level case of the folder; a file that is none of them gives a row with the reason. */
export function runFlowBench({ casesDir, only = [], repeats = 3, onCase }: FlowBenchOptions): BenchRow[] {
  const rows: BenchRow[] = [];
  for (const file of readdirSync(casesDir).sort()) {
    const name = file.replace(/\.[^.]*$/, '');
    if (!/\.(csv|json)$/.test(file) || (only.length > 0 && !only.includes(name))) continue;
    onCase?.(name);
    try {
      const text = readFileSync(join(casesDir, file), 'utf8');
      if (file.endsWith('.csv')) rows.push(...maxMinRows(name, text, repeats));
      else rows.push(...jsonRows(name, JSON.parse(text), repeats));
    } catch (error) {
      if (!(error instanceof InputError || error instanceof SyntaxError)) throw error;
      rows.push(unmeasured(name, 'run_s', 's', `not a flow-level case: ${error.message.split('\n')[0]}`));
    }
  }
  if (resolve(casesDir) === SHIPPED_CASES || only.length > 0) {
    rows.push(...manyFlowsRows(only, onCase), ...clusterRows({ only, repeats, onCase }));
  }
  for (const name of only) {
    if (!rows.some((row) => row.case === name))
      rows.push(unmeasured(name, 'run_s', 's', `no such case in ${casesDir}`));
  }
  return [...rows, calibrationRow(repeats)];
}

function maxMinRows(name: string, text: string, repeats: number): BenchRow[] {
  const source = parseMaxMinCase(text);
  const rows: BenchRow[] = [];
  const recorded = SIMGRID_SECONDS[name] ?? {};
  const sizes = Object.keys(recorded)
    .map(Number)
    .filter((size) => size < source.flows.length);
  for (const size of sizes) {
    const flows = source.flows.slice(0, size);
    const { seconds } = timed(source.capacities, flows, repeats);
    rows.push(
      measured(name, `first_${size}_flows_run_s`, seconds, timeYardstick(flows, recorded[size]), true),
    );
  }
  const { seconds, result } = timed(source.capacities, source.flows, repeats);
  const yardstick = timeYardstick(source.flows, recorded[source.flows.length] ?? null);
  const accuracy = { unit: 'ratio', reference: SIMGRID, floor: WORST_FLOW_ERROR, aim: WORST_FLOW_ERROR };
  return [
    ...rows,
    measured(name, 'run_s', seconds, yardstick, true),
    measured(name, 'worst_flow_error', worstFlowError(source, result), accuracy),
  ];
}

/**
 * Floors for the run time: with all flows at once each event may touch a share of all flows (quadratic), with
 * arrivals over time only the few that are there (linear). A floor of some ms covers the start of the machine code.
 */
function timeYardstick(flows: readonly ListedFlow[], referenceValue: number | null): Yardstick {
  const atOnce = flows.every((flow) => flow.startNs === flows[0].startNs);
  const size = flows.length / 10_000;
  const [floor, aim] = atOnce ? [4 * size ** 2, size ** 2] : [0.11 * size, 0.05 * size];
  return {
    unit: 's',
    reference: referenceValue === null ? '' : SIMGRID,
    referenceValue,
    floor: Math.max(0.05, floor),
    aim: Math.max(0.02, aim),
  };
}

function jsonRows(name: string, document: unknown, repeats: number): BenchRow[] {
  if (Array.isArray(document)) return [handRow(name, document)];
  const source = parsePacketCase(document);
  if (source.flows.some((flow) => flow.start_after !== undefined))
    return collectiveRows(name, source, repeats);
  if (source.topology.links.some((link) => link.packet_loss > 0)) {
    return [unmeasured(name, 'makespan_error', 'ratio', 'loses frames: see the accuracy bench')];
  }
  if (source.flows.length === 1) return [singleFlowRow(name, source)];
  return [
    unmeasured(name, 'makespan_error', 'ratio', 'needs queues and congestion control, not just fair shares'),
  ];
}

/**
 * 100 000 flows at t = 0 on the fabric of the recorded case: each of its paths ten times, with the sizes of other flows.
 * Nobody has recorded when they end; the row is about the time it takes.
 */
function manyFlowsRows(only: readonly string[], onCase?: (name: string) => void): BenchRow[] {
  if (!only.includes(MANY_FLOWS)) {
    if (only.length > 0) return [];
    return [
      unmeasured(MANY_FLOWS, 'run_s', 's', `takes minutes; run it with: bench flow --only ${MANY_FLOWS}`),
    ];
  }
  onCase?.(MANY_FLOWS);
  const { capacities, flows } = parseMaxMinCase(readFileSync(join(SHIPPED_CASES, MANY_FLOWS_SOURCE), 'utf8'));
  const many = Array.from({ length: 10 * flows.length }, (_, index) => ({
    ...flows[index % flows.length],
    wireBytes: flows[(7919 * index + Math.floor(index / flows.length)) % flows.length].wireBytes,
  }));
  const { seconds } = timed(capacities, many, 1);
  const reference = 'SimGrid 3.32: days, by its growth';
  return [measured(MANY_FLOWS, 'run_s', seconds, { unit: 's', reference, floor: 600, aim: 60 }, true)];
}

/** Largest relative error of a rate. */
function handRow(name: string, document: unknown): BenchRow {
  let worst = 0;
  for (const { capacities, flows } of parseHandCases(document)) {
    const solver = new MaxMin(capacities);
    const ids = flows.map(({ links }) => solver.add(links, new Float64Array(links.length).fill(1)));
    solver.solve();
    flows.forEach(
      ({ rate }, index) => (worst = Math.max(worst, Math.abs(solver.rate(ids[index]) / rate - 1))),
    );
  }
  return measured(name, 'worst_flow_error', worst, {
    unit: 'ratio',
    reference: 'solved by hand',
    floor: WORST_FLOW_ERROR,
    aim: 1e-12,
  });
}

function collectiveRows(name: string, source: PacketCase, repeats: number): BenchRow[] {
  const { capacities, flows } = packetCaseFlows(source, { rounding: 'peer' });
  const { seconds, result } = timed(capacities, flows, repeats);
  const referenceValue = source.perf?.run_wall_s_median ?? null;
  // ns-3 takes 78 s for 8 064 flows of 1000 packets; the floor keeps the same pace per flow.
  const size = flows.length / 8064;
  return [
    measured(
      name,
      'run_s',
      seconds,
      {
        unit: 's',
        reference: NS3,
        referenceValue,
        floor: Math.max(0.05, 0.5 * size),
        aim: Math.max(0.02, 0.1 * size),
      },
      true,
    ),
    makespanRow(name, source, result, { floor: 0.01, aim: 0.005 }),
  ];
}

function singleFlowRow(name: string, source: PacketCase): BenchRow {
  const { capacities, flows } = packetCaseFlows(source, { rounding: 'peer' });
  return makespanRow(name, source, runFlowList(capacities, flows), { floor: 1e-9, aim: 1e-9 });
}

function makespanRow(
  name: string,
  source: PacketCase,
  { makespanNs }: FlowListResult,
  limits: { floor: number; aim: number },
): BenchRow {
  const error = Math.abs(makespanNs / source.result.makespan_ns - 1);
  return measured(name, 'makespan_error', error, { unit: 'ratio', reference: NS3, ...limits });
}

function timed(
  capacities: Float64Array,
  flows: readonly ListedFlow[],
  repeats: number,
): { seconds: number; result: FlowListResult } {
  let seconds = Infinity;
  let result: FlowListResult | undefined;
  for (let repeat = 0; repeat < Math.max(1, repeats); repeat++) {
    const startMs = performance.now();
    result = runFlowList(capacities, flows);
    seconds = Math.min(seconds, (performance.now() - startMs) / 1000);
  }
  return { seconds, result: result! };
}

/** A fixed piece of floating-point and memory work, for comparing machines. */
function calibrationRow(repeats: number): BenchRow {
  const values = new Float64Array(1 << 16);
  let best = Infinity;
  for (let repeat = 0; repeat < Math.max(1, repeats); repeat++) {
    const startMs = performance.now();
    for (let step = 0, place = 1; step < 2e7; step++) {
      place = (place * 1103515245 + 12345) & 0xffff;
      values[place] = values[place] * 0.5 + step / (place + 1);
    }
    best = Math.min(best, (performance.now() - startMs) / 1000);
  }
  return measured('calibration', 'loop_s', best, { unit: 's' });
}
