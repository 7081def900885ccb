/**
 * The drills of the explainability bench on real network stacks: a small lab of Linux namespaces, six faults, short drills.
 *
 * One lab serves all drills of a case, one after the other, since undo leaves it as it was; targets and details vary with
 * the seed. Each drill is the product's own walk, in this process, with a journal in memory. Times are real: a drill lasts
 * as long as its experiment says.
 */
import { diagnose, type Verdict } from '../../../src/diagnosis/index.js';
import { planDrill, type Plan } from '../../../src/drill/plan/plan.js';
import { runDrill } from '../../../src/drill/walk.js';
import type { DrillRecord } from '../../../src/drill/record.js';
import { experimentSchema } from '../../../src/documents/experiment.js';
import { openFabric } from '../../../src/drivers/catalog.js';
import { fabricSpecSchema, type FabricDefinition } from '../../../src/fabric-api/definition.js';
import { Lab } from '../../../src/drivers/linux/lab/lab.js';
import { EnvironmentError } from '../../../src/core/problem.js';
import type { Evidence } from '../../../src/model/telemetry/series.js';
import type { FaultClass } from '../corpus/fault-entry.js';
import { grade, truthOf, type Grade } from '../grade.js';
import type { CaseRun } from '../run-case.js';
import { DropCounter, type DropCount } from './drop-count.js';

/** One fault that the lab is drilled with. */
export interface LabCase {
  name: string;
  class: FaultClass;
  kind: string;
  /** Details of the n-th drill. */
  params(drill: number): Record<string, unknown>;
  target: Record<string, unknown>;
  /** Of a lab that is built otherwise than the usual one. */
  settings?: Record<string, unknown>;
  holdS: number;
  /** Drills take long: so many at most. */
  most?: number;
}

const of = (type: Record<string, unknown>): Record<string, unknown> => ({
  ...type,
  usedBy: 'exposed',
  notUsedBy: 'bystander',
  order: 'random',
});
const UPLINK = of({ type: 'link', tier: 'leaf-spine' });
const ACCESS = of({ type: 'link', tier: 'host-leaf' });
const HOLD_S = 4;

const CUTS = [
  { variant: 'cut' },
  { variant: 'admin', end: 'lower' },
  { variant: 'admin', end: 'upper' },
] as const;

export const LAB_CASES: readonly LabCase[] = [
  {
    ...{ name: 'lab-link-down', class: 'hard', kind: 'link-down', holdS: HOLD_S, target: UPLINK },
    params: (drill) => CUTS[drill % CUTS.length],
  },
  {
    ...{ name: 'lab-blackhole', class: 'hard', kind: 'link-down', holdS: HOLD_S, target: UPLINK },
    params: () => ({ variant: 'one-way' }),
  },
  {
    ...{ name: 'lab-speed-downgrade', class: 'gray', kind: 'speed-downgrade', holdS: HOLD_S, target: ACCESS },
    params: (drill) => ({ variant: 'lane-loss', lost: 2 + (drill % 2), lanes: 4 }),
  },
  {
    ...{ name: 'lab-optic-error', class: 'gray', kind: 'optic-error', holdS: HOLD_S, target: ACCESS },
    params: (drill) => ({ variant: 'constant', ber: 0.0016, from: drill % 2 === 0 ? 'lower' : 'upper' }),
  },
  {
    ...{
      name: 'lab-incast',
      class: 'congestion',
      kind: 'incast',
      holdS: HOLD_S,
      target: of({ type: 'nic' }),
    },
    params: (drill) => ({ variant: 'burst', senders: 4 + (drill % 2) }),
  },
  {
    ...{ name: 'lab-job-migration', class: 'job', kind: 'job-migration', holdS: HOLD_S },
    target: of({ type: 'device', tier: 'host' }),
    params: () => ({ variant: 'planned' }),
  },
  {
    ...{ name: 'lab-blackhole-no-bfd', class: 'hard', kind: 'link-down', target: UPLINK },
    params: () => ({ variant: 'one-way' }),
    settings: { bfd: false, bgpHold: '9s' },
    ...{ holdS: 14, most: 2 },
  },
];

const AT_S = 3;
/** What is watched after the fault. */
const AFTER_S = 4;

const job = (name: string, hosts: readonly string[], bytes: string): Record<string, unknown> => ({
  name,
  hosts,
  queuePairs: 1,
  checkpoint: { every: 10, duration: '50ms' },
  step: { compute: '150ms', collectives: [{ collective: 'all-reduce', bytes }] },
});

/** The name carries the process, so that labs of others stay out of the way. */
export function labOf({ name, settings = {} }: LabCase): FabricDefinition {
  const own = `fdb${process.pid.toString(36)}${LAB_CASES.findIndex((one) => one.name === name)}`;
  const spec = fabricSpecSchema.parse({
    driver: 'linux',
    topology: {
      ...{ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 4 },
      ...{ hostRate: '50Mbps', fabricRate: '50Mbps' },
    },
    settings: { mtu: '1448B', headerBytes: 66, ackBytes: 66, bfdInterval: '100ms', ...settings },
    telemetry: { switchInterval: '500ms', nicInterval: '500ms', jobInterval: '500ms' },
    lab: { prefix: own },
    jobs: [
      job('exposed', ['host-1', 'host-5', 'host-2', 'host-6'], '1MB'),
      job('bystander', ['host-7', 'host-8'], '500kB'),
    ],
  });
  return { name: own, spec };
}

/** What one drill left behind. */
export interface LabResult {
  case: LabCase;
  seed: number;
  plan: Plan;
  record: DrillRecord;
  evidence: Evidence;
  verdict: Verdict;
  run: CaseRun;
  grade: Grade;
  truth: string;
  /** Where the fault damages frames. */
  drops?: DropCount;
  /** Of its recovery, as scored. */
  metrics: Readonly<Record<string, unknown>>;
}

const nothing = async (): Promise<void> => undefined;

/** @throws EnvironmentError when the drill did not run its course */
export async function drillLab(
  one: LabCase,
  definition: FabricDefinition,
  seed: number,
  drill: number,
): Promise<LabResult> {
  const experiment = experimentSchema.parse({
    apiVersion: 'fabricdrill/v1',
    kind: 'Experiment',
    metadata: { name: one.name },
    spec: {
      ...{ fabric: definition.name, seed, duration: `${AT_S + one.holdS + AFTER_S}s` },
      faults: [
        {
          ...{ kind: one.kind, params: one.params(drill), target: one.target },
          ...{ at: `${AT_S}s`, duration: `${one.holdS}s` },
        },
      ],
    },
  });
  const fabric = await openFabric({ metadata: { name: definition.name }, spec: definition.spec }, seed);
  try {
    const plan = await planDrill({ name: one.name, spec: experiment.spec, fabric, seed });
    let evidence: Evidence | undefined;
    let record: DrillRecord | undefined;
    let drops: DropCount | undefined;
    const impairments = plan.faults.flatMap((fault) => fault.impairments.map(({ impairment }) => impairment));
    const counter = DropCounter.of(fabric, Lab.from(definition), impairments);
    const judgement = await runDrill({
      ...{ plan, fabric, objectives: [], diagnose: false },
      journal: { intend: nothing, applied: nothing, verified: nothing, failed: nothing },
      hooks: {
        ...{ progress: () => undefined, verdict: nothing },
        state: async (state) => {
          if (state === 'baseline') await counter?.begin();
          if (state === 'reverting') drops = await counter?.count();
        },
        evidence: async (observed) => void (evidence = observed),
        truth: async (_, course) => void (record = course),
      },
      signal: new AbortController().signal,
    });
    if (evidence === undefined || record === undefined) {
      throw new EnvironmentError(`a drill ended as ${judgement.state}: ${judgement.reasons.join('; ')}`);
    }
    const { topology, jobs } = fabric.describe();
    const verdict = diagnose({ topology, jobs, evidence });
    const run: CaseRun = {
      ...{ topology, jobs, evidence, raw: evidence, twin: null, alone: [], truth: [...record.truth] },
      impairments,
      expectedMetrics: plan.faults.flatMap((fault) => fault.expectedMetrics),
      ...{ exposedJobs: record.exposedJobs, injectedNs: record.injectedNs, liftedNs: record.revertedNs },
    };
    return {
      ...{ case: one, seed, plan, record, evidence, verdict, run },
      ...{ grade: grade(run, verdict), truth: truthOf(run) },
      ...(drops === undefined ? {} : { drops }),
      metrics: judgement.scores.recovery.metrics,
    };
  } finally {
    await fabric.close();
  }
}
