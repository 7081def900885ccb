/**
 * The walk of one drill: preflight, baseline, inject, hold, revert, observe, diagnose, score. Once, in memory.
 *
 * Worker, gate and bench all call this. Whatever happens (abort, a thrown error, a journal that can't be written),
 * every fault that may be in place is reverted before the walk ends. The diagnoser is handed topology, jobs and
 * evidence and nothing else; its verdict is sealed before the truth is looked at.
 */
import { diagnose } from '../diagnosis/index.js';
import type { Verdict } from '../diagnosis/verdict.js';
import { impairedElement } from '../fabrics/contract/impairment.js';
import { runsWorkload, tracesPaths, type Fabric } from '../fabrics/contract/fabric.js';
import type { RunState } from '../scoring/scorecard.js';
import type { Evidence } from '../telemetry/series.js';
import type { TruthEntry } from '../truth/truth.js';
import { pacerFor, type Pacer } from './pacer.js';
import type { Plan, PlannedImpairment } from './plan.js';
import { judgeCutShort, judgeDrill, type Judgement } from './judge.js';
import { Injector, type UndoJournal } from './undo.js';

/** What the caller is told, and stores. Each call resolves only once its record is durable. */
export interface DrillHooks {
  state(state: RunState, detail?: string): Promise<void>;
  /** Called often while time passes; must not block. */
  progress(nowNs: number, durationNs: number): void;
  evidence(evidence: Evidence): Promise<void>;
  /** The verdict, before anything has compared it with the truth. */
  verdict(verdict: Verdict): Promise<void>;
  /** What was really done, and what else scoring needs to know of the course of the drill. */
  truth(truth: readonly TruthEntry[], record: DrillRecord): Promise<void>;
}

export interface DrillInput {
  plan: Plan;
  fabric: Fabric;
  objectives: readonly string[];
  journal: UndoJournal;
  hooks: DrillHooks;
  /** Aborting reverts everything and ends the drill as `aborted`; its reason is a text. */
  signal: AbortSignal;
}

/** What happened on the fabric, as far as scoring needs it. */
export interface DrillRecord {
  injectedNs: number | null;
  revertedNs: number | null;
  endNs: number;
  truth: TruthEntry[];
  /** Jobs whose routes crossed a target at injection; null where the fabric can't tell. */
  exposedJobs: string[] | null;
}

/** @returns the judgement; never throws for what the drill itself can end in, only when hooks fail */
export async function runDrill(input: DrillInput): Promise<Judgement> {
  const { plan, fabric, hooks, signal } = input;
  const injector = new Injector(fabric, input.journal);
  const pacer = pacerFor(fabric);
  const record: DrillRecord = { injectedNs: null, revertedNs: null, endNs: 0, truth: [], exposedJobs: null };
  let failures: string[] = [];
  let problem: unknown;
  let lateUndo: string | undefined;
  try {
    await hooks.state('preflight');
    await preflight(plan, fabric);
    if (!signal.aborted) lateUndo = await perform(input, injector, pacer, record);
  } catch (error) {
    problem = error;
  } finally {
    failures = await injector.revertAll();
  }
  if (failures.length > 0) return judgeCutShort({ rollbackFailures: failures }, input.objectives);
  if (problem !== undefined) throw problem as Error;
  if (signal.aborted) return judgeCutShort({ aborted: abortReason(signal) }, input.objectives);
  // The fault stayed longer than planned, so the figures would not be those of this drill.
  if (lateUndo !== undefined)
    return judgeCutShort({ inconclusive: [`undone late: ${lateUndo}`] }, input.objectives);

  await hooks.state('observing');
  await pacer.until(plan.durationNs, signal, (nowNs) => hooks.progress(nowNs, plan.durationNs));
  record.endNs = pacer.nowNs;
  return conclude(input, record);
}

async function preflight(plan: Plan, fabric: Fabric): Promise<void> {
  for (const fault of plan.faults) {
    for (const one of fault.impairments) await fabric.readBack(one.impairment);
  }
  if (runsWorkload(fabric)) await fabric.startJobs();
}

/**
 * Everything between baseline and the last revert, in time order.
 * @returns why an undo failed when it was due; what follows it was left out
 */
async function perform(
  input: DrillInput,
  injector: Injector,
  pacer: Pacer,
  record: DrillRecord,
): Promise<string | undefined> {
  const { plan, fabric, hooks, signal } = input;
  const progress = (nowNs: number): void => hooks.progress(nowNs, plan.durationNs);
  const actions = timeline(plan);
  await hooks.state('baseline');
  const phase = { now: 'baseline' as RunState };
  const enter = async (state: RunState, detail: string): Promise<void> => {
    if (phase.now === state) return;
    phase.now = state;
    await hooks.state(state, detail);
  };
  for (const action of actions) {
    await pacer.until(action.timeNs, signal, progress);
    if (signal.aborted) {
      await enter('reverting', 'aborted');
      return undefined;
    }
    if (action.type === 'apply') {
      record.exposedJobs ??= await exposedJobs(plan, fabric);
      if (record.injectedNs === null) await enter('injecting', action.fault);
      record.injectedNs ??= pacer.nowNs;
      const applied = await injector.apply(action.one.id, action.fault, action.one.impairment, signal);
      if (applied && phase.now === 'injecting') await enter('holding', action.fault);
    } else {
      if (action.last) await enter('reverting', action.fault);
      const failure = await injector.revert(action.one.id);
      if (failure !== undefined) return failure;
      if (action.last) record.revertedNs = pacer.nowNs;
    }
  }
  record.truth = plan.faults.flatMap((fault) =>
    fault.truth.map((entry) => ({
      ...entry,
      fromNs: fault.atNs + entry.fromNs,
      toNs: fault.atNs + entry.toNs,
    })),
  );
  return undefined;
}

interface Action {
  timeNs: number;
  type: 'apply' | 'revert';
  fault: string;
  one: PlannedImpairment;
  /** The revert after which nothing is left in place. */
  last: boolean;
}

/** Applies and reverts in time order; at one instant reverts come first, so that a link never counts as hurt twice. */
export function timeline(plan: Plan): Action[] {
  const actions = plan.faults.flatMap((fault) =>
    fault.impairments.flatMap((one): Action[] => [
      { timeNs: one.atNs, type: 'apply', fault: fault.name, one, last: false },
      { timeNs: one.untilNs, type: 'revert', fault: fault.name, one, last: false },
    ]),
  );
  actions.sort((a, b) => a.timeNs - b.timeNs || Number(a.type === 'apply') - Number(b.type === 'apply'));
  const last = actions.findLast((action) => action.type === 'revert');
  const endNs = last?.timeNs;
  for (const action of actions) action.last = action.type === 'revert' && action.timeNs === endNs;
  return actions;
}

async function exposedJobs(plan: Plan, fabric: Fabric): Promise<string[] | null> {
  if (!tracesPaths(fabric)) return null;
  const exposed = new Set<string>();
  for (const fault of plan.faults) {
    for (const one of fault.impairments) {
      for (const job of await fabric.jobsCrossing(impairedElement(one.impairment))) exposed.add(job);
    }
  }
  return fabric
    .describe()
    .jobs.map((job) => job.name)
    .filter((job) => exposed.has(job));
}

async function conclude(input: DrillInput, record: DrillRecord): Promise<Judgement> {
  const { fabric, hooks, signal } = input;
  const description = fabric.describe();
  const { topology, jobs } = description;
  if (signal.aborted) return judgeCutShort({ aborted: abortReason(signal) }, input.objectives);
  const evidence = await fabric.observe({ fromNs: 0, toNs: record.endNs });
  await hooks.evidence(evidence);
  if (signal.aborted) return judgeCutShort({ aborted: abortReason(signal) }, input.objectives);
  await hooks.state('diagnosing');
  const verdict = diagnose({ topology, jobs, evidence });
  await hooks.verdict(verdict);
  if (signal.aborted) return judgeCutShort({ aborted: abortReason(signal) }, input.objectives);
  await hooks.state('scoring');
  await hooks.truth(record.truth, record);
  return judgeDrill({
    plan: input.plan,
    objectives: input.objectives,
    description,
    evidence,
    verdict,
    record,
  });
}

const abortReason = (signal: AbortSignal): string =>
  typeof signal.reason === 'string' ? signal.reason : 'the run was aborted';
