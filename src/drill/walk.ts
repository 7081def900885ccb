/**
 * The walk of one drill: preflight, baseline, inject, hold, revert, observe, diagnose, score. Once, in memory.
 *
 * Worker, gate and bench all call this. Whatever happens (abort, a thrown error, a journal that can't be written),
 * every fault that may be in place is reverted before the walk ends. The diagnoser is handed topology, jobs and
 * evidence and nothing else; its verdict is sealed before the truth is looked at.
 */
import { diagnose } from '../diagnosis/index.js';
import type { Verdict } from '../diagnosis/verdict.js';
import { impairedElement } from '../fabric-api/impairment.js';
import {
  computes,
  drawsWorld,
  keepsTime,
  prepares,
  runsWorkload,
  tracesPaths,
  type Fabric,
  type JobBoundary,
  type SearchRecord,
} from '../fabric-api/fabric.js';
import type { RunState } from '../scoring/scorecard.js';
import type { Evidence } from '../model/telemetry/series.js';
import type { TruthEntry } from '../faults/ground-truth.js';
import { Agenda } from './agenda.js';
import { runCounterfactual } from './counterfactual.js';
import { LatenessBook } from './lateness.js';
import { pacerFor, untilBoundary, type Pacer } from './pacer.js';
import type { Plan } from './plan/plan.js';
import { judgeCutShort, judgeDrill, type Judgement } from './judge.js';
import type { DrillRecord } from './record.js';
import { checkReadable } from './plan/readable.js';
import { Injector, type UndoJournal } from './undo.js';
import { WorkWatch } from './work-watch.js';

export { timeline } from './agenda.js';
export type { DrillRecord };

/** What the caller is told, and stores. Each call resolves only once its record is durable. */
export interface DrillHooks {
  state(state: RunState, detail?: string): Promise<void>;
  /** Called a few times a second while time passes or something is worked out; must not block. */
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
  /** A new fabric of the same document and seed, simulated, for what there would have been without the faults. */
  openTwin?: () => Promise<Fabric>;
  /** `false` leaves out the diagnosis and its scores, for a caller that compares nothing of them. */
  diagnose?: boolean;
  /** Aborting reverts everything and ends the drill as `aborted`; its reason is a text. */
  signal: AbortSignal;
  /** What a drill that makes no progress is measured by; this machine's clock when left out. */
  wallClockMs?: () => number;
}

/** @returns the judgement; never throws for what the drill itself can end in, only when hooks fail */
export async function runDrill(input: DrillInput): Promise<Judgement> {
  const { plan, fabric, hooks, signal } = input;
  const pacer = pacerFor(fabric);
  const watch = new WorkWatch(() => hooks.progress(pacer.nowNs, plan.durationNs), input.wallClockMs);
  if (computes(fabric)) fabric.onWork(() => watch.simulating(pacer.nowNs));
  const placed = new Map<string, number>();
  const began = (id: string): number | undefined => (keepsTime(fabric) ? fabric.turnedNs?.(id) : undefined);
  const injector = new Injector(fabric, input.journal, (id) => placed.set(id, began(id) ?? pacer.nowNs));
  const record: DrillRecord = {
    injectedNs: null,
    revertedNs: null,
    endNs: 0,
    truth: [],
    exposedJobs: null,
    alignments: [],
  };
  let failures: string[] = [];
  let problem: unknown;
  let setback: string | undefined;
  try {
    await hooks.state('preflight');
    await preflight(plan, fabric);
    if (!signal.aborted) setback = await perform(input, { injector, pacer, placed }, record);
  } catch (error) {
    problem = error;
  } finally {
    failures = await injector.revertAll();
  }
  if (failures.length > 0) return judgeCutShort({ rollbackFailures: failures }, input.objectives);
  if (problem !== undefined) throw problem as Error;
  if (signal.aborted) return judgeCutShort({ aborted: abortReason(signal) }, input.objectives);
  // A fault that stayed longer than planned, or was not there, gives figures of another drill.
  if (setback !== undefined) return judgeCutShort({ inconclusive: [setback] }, input.objectives);

  await hooks.state('observing');
  await pacer.until(plan.durationNs, signal, (nowNs) => hooks.progress(nowNs, plan.durationNs));
  record.endNs = pacer.nowNs;
  return conclude(input, record, watch);
}

async function preflight(plan: Plan, fabric: Fabric): Promise<void> {
  await checkReadable(plan.faults, fabric);
  // Before the jobs start: what is made ready beside them would be a disturbance of the baseline.
  if (prepares(fabric)) {
    for (const { trigger, atNs, impairments } of plan.faults) {
      const latestNs = Math.max(0, (trigger?.untilNs ?? atNs) - atNs);
      for (const { id, impairment, untilNs } of impairments) {
        await fabric.prepare(id, impairment, untilNs + latestNs);
      }
    }
  }
  if (runsWorkload(fabric)) await fabric.startJobs();
}

/** What injecting takes. */
interface Means {
  injector: Injector;
  pacer: Pacer;
  /** When impairments began, by id, ns; when they were in place, where nobody can tell better. */
  placed: ReadonlyMap<string, number>;
}

/**
 * Everything between baseline and the last revert, in time order.
 * @returns why it went no further: an undo that failed when it was due, or a trigger that did not come
 */
async function perform(
  input: DrillInput,
  { injector, pacer, placed }: Means,
  record: DrillRecord,
): Promise<string | undefined> {
  const { plan, hooks, signal } = input;
  const agenda = new Agenda(plan);
  const releases = new Map<string, Release>();
  const phase = { now: 'baseline' as RunState };
  const lateness = new LatenessBook();
  const realTime = keepsTime(input.fabric);
  await hooks.state('baseline');
  // Where time goes on by itself, what need not wait for the injection must not delay it.
  if (realTime) record.exposedJobs = await exposedJobs(plan, input.fabric);
  const enter = async (state: RunState, detail: string): Promise<void> => {
    if (phase.now === state) return;
    phase.now = state;
    await hooks.state(state, detail);
  };
  for (;;) {
    if (signal.aborted) {
      await enter('reverting', 'aborted');
      return undefined;
    }
    const action = agenda.due(pacer.nowNs);
    if (action === undefined) {
      const missed = agenda.missed(pacer.nowNs);
      if (missed !== undefined) return missed;
      const nextNs = agenda.nextAfter(pacer.nowNs);
      if (nextNs === undefined) break;
      await goOn(input, agenda, pacer, nextNs, releases);
    } else if (action.type === 'apply') {
      record.exposedJobs ??= await exposedJobs(plan, input.fabric);
      if (record.injectedNs === null) await enter('injecting', action.fault);
      if (!realTime) record.injectedNs ??= pacer.nowNs;
      noteAlignment(action.fault, releases, pacer.nowNs, record);
      const { id, impairment, atNs, untilNs } = action.one;
      const applied = await injector.apply(id, action.fault, impairment, signal, untilNs - atNs);
      const inPlaceNs = placed.get(id) ?? pacer.nowNs;
      record.injectedNs ??= inPlaceNs;
      if (realTime) lateness.applied(action.fault, action.timeNs, inPlaceNs);
      if (applied && phase.now === 'injecting') await enter('holding', action.fault);
    } else {
      if (action.last) await enter('reverting', action.fault);
      const toldNs = pacer.nowNs;
      if (realTime) lateness.reverting(action.fault, action.timeNs, toldNs);
      const failure = await injector.revert(action.one.id);
      if (failure !== undefined) return `undone late: ${failure}`;
      if (action.last) record.revertedNs = realTime ? toldNs : pacer.nowNs;
    }
  }
  record.truth = plan.faults.flatMap((fault) => {
    const atNs = fault.atNs + (releases.get(fault.name)?.shiftNs ?? 0);
    const { beganNs, endedNs } = lateness.of(fault.name);
    return fault.truth.map((entry) => ({
      ...entry,
      fromNs: atNs + beganNs + entry.fromNs,
      toNs: atNs + endedNs + entry.toNs,
    }));
  });
  return undefined;
}

/** A trigger that came. */
interface Release {
  boundary: JobBoundary;
  beganNs: number;
  /** By how much the times of its fault moved. */
  shiftNs: number;
}

/** Lets time pass until `nextNs`, or until a trigger that is watched for comes. */
async function goOn(
  { fabric, plan, hooks, signal }: DrillInput,
  agenda: Agenda,
  pacer: Pacer,
  nextNs: number,
  releases: Map<string, Release>,
): Promise<void> {
  const progress = (nowNs: number): void => hooks.progress(nowNs, plan.durationNs);
  const awaited = agenda.awaited(pacer.nowNs);
  if (awaited.length === 0) return pacer.until(nextNs, signal, progress);
  const boundaries = awaited.map(({ boundary }) => boundary);
  const found = await untilBoundary(fabric, pacer, boundaries, nextNs, signal, progress);
  if (found === undefined) return;
  const { fault, boundary } = awaited[found.index];
  // On a fabric that tells late the fault counts from where it can still begin.
  const shiftNs = agenda.release(fault, pacer.nowNs);
  releases.set(fault, { boundary, beganNs: found.beganNs, shiftNs });
}

function noteAlignment(
  fault: string,
  releases: ReadonlyMap<string, Release>,
  injectedNs: number,
  record: DrillRecord,
): void {
  const release = releases.get(fault);
  if (release === undefined || record.alignments.some((one) => one.fault === fault)) return;
  const { boundary, beganNs } = release;
  record.alignments.push({ fault, ...boundary, beganNs, injectedNs });
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

async function conclude(input: DrillInput, record: DrillRecord, watch: WorkWatch): Promise<Judgement> {
  const { fabric, hooks, signal } = input;
  const description = fabric.describe();
  const { topology, jobs } = description;
  if (signal.aborted) return judgeCutShort({ aborted: abortReason(signal) }, input.objectives);
  const evidence = await fabric.observe({ fromNs: 0, toNs: record.endNs });
  const searches = searchesOf(fabric);
  if (searches !== undefined && searches.stopped > 0) record.searches = searches;
  const world = drawsWorld(fabric) ? fabric.world() : undefined;
  if (world !== undefined) record.world = world;
  await hooks.evidence(evidence);
  if (signal.aborted) return judgeCutShort({ aborted: abortReason(signal) }, input.objectives);
  const verdict =
    input.diagnose === false ? null : await sealedVerdict(input, { topology, jobs, evidence }, watch);
  if (signal.aborted) return judgeCutShort({ aborted: abortReason(signal) }, input.objectives);
  await hooks.state('scoring');
  await hooks.truth(record.truth, record);
  const { openTwin, plan } = input;
  const twins: Fabric[] = [];
  const open = openTwin && watched(openTwin, watch, twins);
  const counterfactual =
    open === undefined
      ? undefined
      : await runCounterfactual({ plan, record, evidence, description, open, signal }).catch(
          unlessAborted(signal),
        );
  if (signal.aborted) return judgeCutShort({ aborted: abortReason(signal) }, input.objectives);
  const clockErrorNs = keepsTime(fabric) ? fabric.clockErrorNs?.() : undefined;
  return judgeDrill({
    plan: input.plan,
    objectives: input.objectives,
    description,
    evidence,
    verdict,
    record,
    twinSearches: twins.flatMap((twin) => searchesOf(twin) ?? []),
    working: watch.working,
    ...(counterfactual === undefined ? {} : { counterfactual }),
    ...(clockErrorNs === undefined ? {} : { clockErrorNs }),
  });
}

/** A twin that says that it is at work; `opened` takes all of them. */
function watched(open: () => Promise<Fabric>, watch: WorkWatch, opened: Fabric[]): () => Promise<Fabric> {
  return async () => {
    const twin = await open();
    opened.push(twin);
    if (computes(twin)) {
      const pacer = pacerFor(twin);
      twin.onWork(() => watch.simulating(pacer.nowNs));
    }
    return twin;
  };
}

const searchesOf = (fabric: Fabric): SearchRecord | undefined =>
  computes(fabric) ? fabric.searches() : undefined;

/** From topology, jobs and evidence alone, and out of our hands before anything compares it. */
async function sealedVerdict(
  { hooks }: DrillInput,
  observed: Parameters<typeof diagnose>[0],
  watch: WorkWatch,
): Promise<Verdict> {
  await hooks.state('diagnosing');
  const verdict = diagnose(observed, watch.working);
  await hooks.verdict(verdict);
  return verdict;
}

const unlessAborted =
  (signal: AbortSignal) =>
  (error: unknown): undefined => {
    if (!signal.aborted) throw error;
  };

const abortReason = (signal: AbortSignal): string =>
  typeof signal.reason === 'string' ? signal.reason : 'the run was aborted';
