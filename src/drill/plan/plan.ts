/**
 * From a definition to a plan: resolved targets, timed impairments, blast radius, undo steps. Writes nothing.
 *
 * The plan is plain JSON and is stored with the run, so that what was previewed is what is injected. Everything
 * random in it comes from the run's seed.
 */
import { InputError, withPointer, type InputIssue } from '../../core/problem.js';
import { Prng } from '../../core/prng.js';
import { formatDurationNs } from '../../core/units.js';
import { faultKind } from '../../faults/catalog.js';
import { impairedElement, undoText } from '../../fabric-api/impairment.js';
import { tracesPaths, type Fabric, type FabricDescription } from '../../fabric-api/fabric.js';
import type { ExperimentSpec, FaultSpec } from '../../documents/experiment.js';
import type { ScoringProfile } from '../../scoring/profile.js';
import { bufferNotes } from './buffer-notes.js';
import { fitNotes } from '../../model/workload/fit-jobs.js';
import { wiringRemarks } from '../../model/topology/wiring.js';
import { cutOffNotes } from './cut-off.js';
import { checkReadable } from './readable.js';
import { overlapNotes } from './overlaps.js';
import { realismNotes } from './realism-notes.js';
import { stepNotes } from './step-notes.js';
import { resolveTarget } from './targets.js';
import type { PlannedFault, PlannedImpairment, PlannedTrigger } from './planned.js';
import { planTime } from './triggers.js';

export type { PlannedFault, PlannedImpairment, PlannedTrigger };

export interface BlastRadius {
  links: string[];
  devices: string[];
  /** Jobs whose present routes cross an impaired element; null where the fabric can't tell. */
  exposedJobs: string[] | null;
  bystanderJobs: string[] | null;
}

export interface Plan {
  experiment: string;
  fabric: string;
  driver: string;
  seed: number;
  durationNs: number;
  faults: PlannedFault[];
  blastRadius: BlastRadius;
  /** Impairments that this fabric can't apply; a run with any of these is refused. */
  unsupported: { fault: string; impairment: string; supported: string[] }[];
  /** What will undo each fault, in the order it will be done. */
  undo: string[];
  /** What a reader should know before it is run, one sentence each; left out where there is nothing. */
  notes?: string[];
  /** How the run is scored; left out for the default profile. */
  scoring?: ScoringProfile;
}

/** A plan for others to see: what is going to be done; what was injected is told by the scorecard, when all is over. */
export type PlanView = Omit<Plan, 'faults'> & { faults: Omit<PlannedFault, 'truth'>[] };

export const planView = (plan: Plan): PlanView => ({
  ...plan,
  faults: plan.faults.map(({ truth: _, ...fault }) => fault),
});

export interface PlanInput {
  name: string;
  spec: ExperimentSpec;
  fabric: Fabric;
  seed: number;
}

/**
 * @throws InputError when a target matches nothing, a target doesn't fit its kind, a fault ends after the run, two
 *   faults share a name, the fabric does not know what a fault would turn, or a limit is exceeded
 */
export async function planDrill(input: PlanInput): Promise<Plan> {
  const description = input.fabric.describe();
  const random = new Prng(input.seed).stream('faults');
  const names = faultNames(input.spec.faults);
  const faults: PlannedFault[] = [];
  const fitted = fitNotes(input.spec.jobs ?? [], description.jobs);
  const wishes: string[] = [];
  for (const [index, fault] of input.spec.faults.entries()) {
    const pointer = `/spec/faults/${index}`;
    const own = random.stream(names[index]);
    const planned = await planFault(fault, names[index], pointer, input.fabric, description, own).catch(
      (error: unknown) => {
        throw withReasons(error, fitted);
      },
    );
    faults.push(planned.fault);
    wishes.push(...wishNotes(names[index], fault.target, planned.dropped));
  }
  await checkReadable(faults, input.fabric);
  const durationNs = runDuration(input.spec, faults);
  const blastRadius = await measureBlastRadius(faults, input.fabric, description);
  const notes = [
    ...fitted,
    ...wishes,
    ...cutOffNotes(faults, description.topology),
    ...wiringRemarks(description.topology).map((remark) => `wiring: ${remark}`),
    ...overlapNotes(faults, description.topology),
    ...stepNotes(faults, description, blastRadius.exposedJobs),
    ...realismNotes(faults, description),
    ...bufferNotes(description),
  ];
  const plan: Plan = {
    experiment: input.name,
    fabric: description.name,
    driver: description.driver,
    seed: input.seed,
    durationNs,
    faults,
    blastRadius,
    unsupported: unsupportedImpairments(faults, description),
    undo: undoSteps(faults),
    ...(notes.length === 0 ? {} : { notes }),
    ...(input.spec.scoring === undefined ? {} : { scoring: input.spec.scoring }),
  };
  checkLimits(plan, input.spec);
  return plan;
}

/** The run's length: as given, or as long after the last fault as before the first, whenever a trigger comes. */
function runDuration(spec: ExperimentSpec, faults: readonly PlannedFault[]): number {
  const endOf = ({ atNs, trigger, durationNs: holdNs }: PlannedFault): number =>
    (trigger?.untilNs ?? atNs) + holdNs;
  const lastEndNs = Math.max(...faults.map(endOf));
  const firstNs = Math.min(...faults.map(({ atNs }) => atNs));
  const durationNs = spec.duration ?? lastEndNs + firstNs;
  if (durationNs <= lastEndNs) {
    throw InputError.at(
      '/spec/duration',
      `the run ends at ${formatDurationNs(durationNs)}, before or as its last fault is reverted (${formatDurationNs(lastEndNs)})`,
      `lengthen duration so that recovery can be observed, or shorten the fault${faults.some(({ trigger }) => trigger !== undefined) ? ' or trigger.within' : ''}`,
    );
  }
  return durationNs;
}

function faultNames(faults: readonly FaultSpec[]): string[] {
  const names = faults.map(
    (fault, index) => fault.name ?? (faults.length === 1 ? fault.kind : `${fault.kind}-${index + 1}`),
  );
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) !== index) {
      throw InputError.at(
        `/spec/faults/${index}/name`,
        `two faults are named "${name}"`,
        'give each fault its own name',
      );
    }
  }
  return names;
}

async function planFault(
  fault: FaultSpec,
  name: string,
  pointer: string,
  fabric: Fabric,
  description: FabricDescription,
  random: Prng,
): Promise<{ fault: PlannedFault; dropped: readonly string[] }> {
  const kind = faultKind(fault.kind, `${pointer}/kind`);
  const { elements: targets, dropped } = await resolveTarget({
    target: fault.target,
    kind,
    parameters: fault.params,
    pointer,
    fabric,
    random,
  });
  const time = withPointer(pointer, () => planTime(fault, fabric, description));
  const compiled = withPointer(pointer, () =>
    kind.compile(fault.params as never, targets, {
      topology: description.topology,
      jobs: description.jobs,
      ...(description.congestion === undefined ? {} : { congestion: description.congestion }),
      durationNs: fault.duration,
      random: random.stream('compile'),
    }),
  );
  const planned: PlannedFault = {
    name,
    kind: fault.kind,
    parameters: fault.params,
    targets,
    ...time,
    durationNs: fault.duration,
    impairments: compiled.impairments.map((timed, ordinal) => ({
      id: `${name}/${ordinal}`,
      impairment: timed.impairment,
      atNs: time.atNs + timed.atNs,
      untilNs: time.atNs + timed.untilNs,
    })),
    truth: compiled.truth,
    expectedMetrics: [...new Set(kind.symptoms(fault.params as never).flatMap((symptom) => symptom.metrics))],
  };
  return { fault: planned, dropped };
}

/** What a target was to be and can't be here. */
function wishNotes(name: string, target: FaultSpec['target'], dropped: readonly string[]): string[] {
  return dropped.map((key) => {
    const wish = `${key}: ${target?.[key as 'tier' | 'rail']}`;
    return `${name} takes a ${target?.type} without ${wish}, since no ${target?.type} of this fabric has that, too`;
  });
}

/** Why a fault asks for a job in vain that was left out. */
function withReasons(error: unknown, fitted: readonly string[]): unknown {
  const gone = fitted.filter((note) => note.endsWith('left out'));
  if (!(error instanceof InputError) || gone.length === 0) return error;
  return new InputError(
    error.issues.map((issue) =>
      issue.pointer.endsWith('/usedBy')
        ? { ...issue, message: `${issue.message}; ${gone.join('; ')}` }
        : issue,
    ),
  );
}

async function measureBlastRadius(
  faults: readonly PlannedFault[],
  fabric: Fabric,
  description: FabricDescription,
): Promise<BlastRadius> {
  const elements = new Set(
    faults.flatMap((fault) => fault.impairments.map((one) => impairedElement(one.impairment))),
  );
  const links = [...elements].filter((id) => id.startsWith('link:')).sort();
  const devices = [...elements].filter((id) => id.startsWith('device:')).sort();
  if (!tracesPaths(fabric)) return { links, devices, exposedJobs: null, bystanderJobs: null };
  const exposed = new Set<string>();
  for (const id of elements) for (const job of await fabric.jobsCrossing(id)) exposed.add(job);
  const jobs = description.jobs.map((job) => job.name);
  return {
    links,
    devices,
    exposedJobs: jobs.filter((job) => exposed.has(job)),
    bystanderJobs: jobs.filter((job) => !exposed.has(job)),
  };
}

function unsupportedImpairments(
  faults: readonly PlannedFault[],
  description: FabricDescription,
): Plan['unsupported'] {
  const supported = [...description.capabilities.keys()];
  return faults.flatMap((fault) =>
    [...new Set(fault.impairments.map((one) => one.impairment.type))]
      .filter((type) => !description.capabilities.has(type))
      .map((type) => ({ fault: fault.name, impairment: type, supported })),
  );
}

/** Why a plan can't be run on its fabric. */
export function unsupportedError(plan: Pick<Plan, 'fabric' | 'driver' | 'unsupported'>): InputError {
  return new InputError(
    plan.unsupported.map(({ fault, impairment, supported }) => ({
      pointer: '/spec/faults',
      message: `the fabric "${plan.fabric}" (${plan.driver}) can't apply ${impairment}, which the fault "${fault}" needs`,
      hint: `it can apply ${supported.join(', ')}`,
    })),
  );
}

function undoSteps(faults: readonly PlannedFault[]): string[] {
  return faults
    .flatMap((fault) => fault.impairments.map((one) => ({ fault, one })))
    .sort((a, b) => a.one.untilNs - b.one.untilNs)
    .map(({ fault, one }) => {
      const when =
        fault.trigger === undefined
          ? `at ${formatDurationNs(one.untilNs)}`
          : `${formatDurationNs(one.untilNs - fault.atNs)} after the trigger`;
      return `${when}: ${undoText(one.impairment)}`;
    });
}

function checkLimits(plan: Plan, spec: ExperimentSpec): void {
  const { limits } = spec;
  if (limits === undefined) return;
  const found: [keyof typeof limits, number | null, string][] = [
    ['maxLinks', plan.blastRadius.links.length, 'links'],
    ['maxDevices', plan.blastRadius.devices.length, 'devices'],
    ['maxJobsAffected', plan.blastRadius.exposedJobs?.length ?? null, 'jobs'],
  ];
  const issues = found.flatMap(([limit, count, what]): InputIssue[] => {
    const most = limits[limit];
    if (most === undefined || (count !== null && count <= most)) return [];
    const message =
      count === null
        ? `how many ${what} are affected can't be known here`
        : `${count} ${what} would be affected`;
    return [
      {
        pointer: `/spec/limits/${limit}`,
        message: `${message}, ${most} allowed`,
        hint: 'narrow the target or raise the limit',
      },
    ];
  });
  if (issues.length > 0) throw new InputError(issues);
}
