/**
 * Runs one case of the corpus, and beside it the same seed without the fault.
 *
 * The plan is the one that a drill makes, with targets resolved on the fabric; what is observed afterwards is handed on
 * as an operator with this quality of monitoring would have it. The twin is watched for its steps only.
 */
import { createSimulatedFabric } from '../../src/drivers/simulated/create-simulated-fabric.js';
import type { SimulatedFabric } from '../../src/drivers/simulated/simulated-fabric.js';
import { fabricSpecSchema, type FabricSpec } from '../../src/fabric-api/definition.js';
import type { ConfigurationSnapshot } from '../../src/fabric-api/fabric.js';
import type { Impairment } from '../../src/fabric-api/impairment.js';
import { planDrill, type Plan, type PlannedFault } from '../../src/drill/plan/plan.js';
import { timeline } from '../../src/drill/walk.js';
import { InputError } from '../../src/core/problem.js';
import type { Evidence } from '../../src/model/telemetry/series.js';
import type { Topology } from '../../src/model/topology/model.js';
import type { TruthEntry } from '../../src/faults/ground-truth.js';
import type { Job } from '../../src/model/workload/job.js';
import { attemptsAtWork } from './at-work.js';
import { caseOf, experimentOf, WINDOW_NS, type Attempt, type CorpusCase } from './corpus/case.js';
import { degrade, lossOf } from './corpus/quality.js';
import { caseRandom } from './corpus/seeds.js';

export interface CaseRun {
  topology: Topology;
  jobs: readonly Job[];
  /** As the diagnosis gets it. */
  evidence: Evidence;
  /** As the fabric gave it: what decides whether a case counts. */
  raw: Evidence;
  /** Without the fault, steps of jobs only; null for a control, which nothing was injected in. */
  twin: Evidence | null;
  /** Where there are two faults, each of them by itself: figures of jobs only. */
  alone: readonly Alone[];
  /** Times are ns from the run's start. */
  truth: TruthEntry[];
  impairments: readonly Impairment[];
  expectedMetrics: readonly string[];
  exposedJobs: readonly string[] | null;
  injectedNs: number | null;
  liftedNs: number | null;
}

/** A run with one of several faults; times are ns from the run's start. */
export interface Alone {
  raw: Evidence;
  injectedNs: number;
  liftedNs: number;
}

/** Scenes that are drawn for a fault before it is given up. */
const MOST_SCENES = 12;

/** The case of a seed and its run; a scene in which nothing can be hit is drawn again. */
export async function runSeed(seed: number): Promise<{ one: CorpusCase; run: CaseRun }> {
  for (let redraw = 0; ; redraw++) {
    const one = caseOf(seed, redraw);
    try {
      return { one, run: await runCase(one) };
    } catch (error) {
      if (!(error instanceof InputError) || redraw + 1 === MOST_SCENES) throw error;
    }
  }
}

/** @throws InputError when no target of the case exists and is in use */
export async function runCase(one: CorpusCase): Promise<CaseRun> {
  const spec = fabricSpecSchema.parse({ ...one.scene.spec, telemetry: { loss: lossOf(one.quality) } });
  const fabric = open(spec, one.seed);
  const plan = await planFirst(one, await attemptsAtWork(one, () => open(spec, one.seed)), fabric);
  await perform(fabric, plan);
  const raw = await fabric.observe({ fromNs: 0, toNs: WINDOW_NS });
  const { topology, jobs } = fabric.describe();
  await fabric.close();
  const injected = plan.faults.filter((fault) => fault.impairments.length > 0);
  const impairments = injected.flatMap((fault) => fault.impairments);
  return {
    topology,
    jobs,
    evidence: degrade(raw, topology, one.quality, caseRandom(one.seed).stream('degrade')),
    raw,
    twin: one.control === null ? await runWith({ ...plan, faults: [] }, spec) : null,
    alone: injected.length < 2 ? [] : await Promise.all(injected.map((fault) => runAlone(plan, fault, spec))),
    truth: injected.flatMap((fault) =>
      fault.truth.map((entry) => ({
        ...entry,
        fromNs: fault.atNs + entry.fromNs,
        toNs: fault.atNs + entry.toNs,
      })),
    ),
    impairments: impairments.map(({ impairment }) => impairment),
    expectedMetrics: [...new Set(injected.flatMap((fault) => fault.expectedMetrics))],
    exposedJobs: plan.blastRadius.exposedJobs,
    injectedNs: injected.length === 0 ? null : Math.min(...injected.map(({ atNs }) => atNs)),
    liftedNs:
      injected.length === 0 ? null : Math.max(...injected.map(({ atNs, durationNs }) => atNs + durationNs)),
  };
}

const open = (spec: FabricSpec, seed: number): SimulatedFabric =>
  createSimulatedFabric({ name: 'corpus', spec }, seed);

/** The plan with the first target of each fault that the fabric has; two faults never share an element. */
async function planFirst(
  one: CorpusCase,
  choices: CorpusCase['attempts'],
  fabric: SimulatedFabric,
): Promise<Plan> {
  let problem: unknown;
  for (const attempts of combinations(choices)) {
    try {
      const plan = await planDrill({
        name: one.name,
        spec: experimentOf(attempts),
        fabric,
        seed: one.seed,
      });
      if (!overlap(plan)) return plan;
      problem = InputError.at('/spec/faults', 'both faults fall on the same element');
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problem = error;
    }
  }
  throw problem as Error;
}

/** One attempt of each fault, the first ones first. */
function combinations(attempts: readonly (readonly Attempt[])[]): Attempt[][] {
  return attempts.reduce<Attempt[][]>(
    (all, choices) => all.flatMap((chosen) => choices.map((choice) => [...chosen, choice])),
    [[]],
  );
}

/** Whether two faults hurt the same cable, port or device: then one hides the other, and there is only one to find. */
function overlap(plan: Plan): boolean {
  const devicesOf = plan.faults.map(
    (fault) =>
      new Set(
        fault.truth.flatMap(({ elements }) =>
          elements.flatMap(({ id }) =>
            id
              .slice(id.indexOf(':') + 1)
              .split('--')
              .map((end) => end.split('/')[0]),
          ),
        ),
      ),
  );
  return (
    devicesOf.length === 2 &&
    devicesOf[0].size > 0 &&
    [...devicesOf[0]].some((name) => devicesOf[1].has(name))
  );
}

async function perform(fabric: SimulatedFabric, plan: Plan): Promise<void> {
  await fabric.startJobs();
  const saved = new Map<string, ConfigurationSnapshot>();
  for (const { timeNs, type, one } of timeline(plan)) {
    if (timeNs >= WINDOW_NS) break;
    await fabric.advance(timeNs);
    if (type === 'apply') {
      saved.set(one.id, await fabric.readBack(one.impairment));
      await fabric.apply(one.id, one.impairment);
    } else await fabric.revert(one.id, one.impairment, saved.get(one.id) ?? {});
  }
  await fabric.advance(WINDOW_NS);
}

/** What nobody looks at in a twin is not polled. */
const SELDOM_NS = 2 * WINDOW_NS;

/** The same seed with the faults of a plan, watched for the figures of its jobs only. */
async function runWith(plan: Plan, spec: FabricSpec): Promise<Evidence> {
  const seldom = { switchInterval: SELDOM_NS, nicInterval: SELDOM_NS, opticInterval: SELDOM_NS };
  const jobInterval = plan.faults.length === 0 ? SELDOM_NS : spec.telemetry.jobInterval;
  const twin = open({ ...spec, telemetry: { ...spec.telemetry, ...seldom, jobInterval } }, plan.seed);
  await perform(twin, plan);
  const evidence = await twin.observe({ fromNs: 0, toNs: WINDOW_NS });
  await twin.close();
  return evidence;
}

async function runAlone(plan: Plan, fault: PlannedFault, spec: FabricSpec): Promise<Alone> {
  const raw = await runWith({ ...plan, faults: [fault] }, spec);
  return { raw, injectedNs: fault.atNs, liftedNs: fault.atNs + fault.durationNs };
}
