/**
 * Cases for the diagnosis: a simulated fabric with jobs, one fault of the `link-down` kind (or none), and the truth.
 *
 * Every case is drawn from its seed: the place (among links or devices that carry a job's bytes), the instant, the
 * duration, and how a flap beats. The ranges are wide on purpose and owe nothing to the diagnoser's own table.
 */
import { Prng } from '../../src/kernel/prng.js';
import type { Evidence } from '../../src/telemetry/series.js';
import type { ElementRef } from '../../src/telemetry/vocabulary.js';
import type { Job } from '../../src/workload/job.js';
import type { Topology } from '../../src/topology/model.js';
import type { TruthEntry } from '../../src/truth/truth.js';
import type { TimedImpairment } from '../../src/fabrics/contract/impairment.js';
import { fabricSpecSchema } from '../../src/fabrics/contract/definition.js';
import type { FabricSpecInput } from '../../src/fabrics/contract/definition.js';
import { createSimulatedFabric } from '../../src/fabrics/simulated/driver.js';
import type { SimulatedFabric } from '../../src/fabrics/simulated/simulated-fabric.js';
import { linkDown } from '../../src/faults/link-down.js';

export const VARIANTS = ['admin', 'cut', 'flap', 'one-way', 'node', 'none'] as const;
export type Variant = (typeof VARIANTS)[number];
export const LINK_TIERS = ['host-leaf', 'leaf-spine'] as const;
export const NODE_TIERS = ['host', 'leaf', 'spine'] as const;

export interface CaseRequest {
  variant: Variant;
  /** Tier of the link, or of the device for `node`. */
  tier: string;
  seed: number;
  telemetry?: FabricSpecInput['telemetry'];
}

export interface DiagnosisCase {
  topology: Topology;
  jobs: readonly Job[];
  evidence: Evidence;
  /** Empty for a control. Times are ns from the run's start. */
  truth: TruthEntry[];
}

const WINDOW_NS = 60e9;
/** By now connections have sent at least one step's bytes. */
const WARM_UP_NS = 10e9;

const SHAPES: readonly FabricSpecInput['topology'][] = [
  { builder: 'leaf-spine', leaves: 4, spines: 4, hostsPerLeaf: 2, gpusPerHost: 8 },
  { builder: 'rail-optimised', hosts: 8, gpusPerHost: 8, spines: 4, segments: 2 },
];

/** Runs a case from its first to its last instant. */
export async function runCase(request: CaseRequest): Promise<DiagnosisCase> {
  const random = new Prng(request.seed).stream(`${request.variant} ${request.tier}`);
  const fabric = openFabric(request, random);
  const { topology, jobs } = fabric.describe();
  await fabric.startJobs();
  const atNs = Math.round(15e9 + random.uniform() * 10e9);
  await fabric.advance(WARM_UP_NS);
  const plan = request.variant === 'none' ? null : await planFault(request, fabric, random);
  if (plan !== null) await inject(fabric, plan.impairments, atNs);
  await fabric.advance(WINDOW_NS);
  const evidence = await fabric.observe({ fromNs: 0, toNs: WINDOW_NS });
  await fabric.close();
  const truth = (plan?.truth ?? []).map((entry) => ({
    ...entry,
    fromNs: entry.fromNs + atNs,
    toNs: entry.toNs + atNs,
  }));
  return { topology, jobs, evidence, truth };
}

function openFabric(request: CaseRequest, random: Prng): SimulatedFabric {
  const spec = fabricSpecSchema.parse({
    topology: SHAPES[random.below(SHAPES.length)],
    settings: { hashSeed: random.below(2 ** 32), computeJitter: 0.01 * random.uniform() },
    telemetry: request.telemetry ?? {},
    jobs: [
      job('llm-a', 'host-[1,3,5,7]', 200 + random.below(300)),
      job('llm-b', 'host-[2,4,6,8]', 200 + random.below(300)),
    ],
  });
  return createSimulatedFabric({ name: 'corpus', spec }, request.seed);
}

const job = (name: string, hosts: string, computeMs: number) => ({
  name,
  hosts,
  parallelism: { tensor: 8 },
  step: {
    compute: `${computeMs}ms`,
    collectives: [{ collective: 'all-reduce' as const, bytes: '2GB', parallelism: 'data' as const }],
  },
});

async function planFault(request: CaseRequest, fabric: SimulatedFabric, random: Prng) {
  const { topology } = fabric.describe();
  const targets: ElementRef[] =
    request.variant === 'node'
      ? topology.devices
          .filter((device) => device.tier === request.tier)
          .map((device) => ({ type: 'device', id: `device:${device.name}` }))
      : topology.links
          .filter((link) => link.tier === request.tier)
          .map((link) => ({ type: 'link', id: link.id }));
  const target = await firstInUse(fabric, random.shuffle(targets));
  return linkDown.compile(linkDown.parameters.parse(parametersOf(request.variant, random)), [target], {
    topology,
    durationNs: Math.round(5e9 + random.uniform() * 20e9),
    random: random.stream('fault'),
  });
}

/** A fault nobody's bytes meet has no symptom to explain. */
async function firstInUse(fabric: SimulatedFabric, targets: readonly ElementRef[]): Promise<ElementRef> {
  for (const target of targets) {
    if ((await fabric.jobsCrossing(target.id)).length > 0) return target;
  }
  throw new Error('no target of this tier carries a job');
}

function parametersOf(variant: Variant, random: Prng): Record<string, unknown> {
  const end = random.below(2) === 0 ? 'lower' : 'upper';
  switch (variant) {
    case 'admin':
      return { variant, end };
    case 'one-way':
      return { variant, from: end };
    case 'flap':
      return {
        variant,
        downFor: `${200 + random.below(1800)}ms`,
        upFor: `${500 + random.below(3500)}ms`,
        jitter: 0.5 * random.uniform(),
      };
    default:
      return { variant };
  }
}

async function inject(
  fabric: SimulatedFabric,
  impairments: readonly TimedImpairment[],
  atNs: number,
): Promise<void> {
  const moves = impairments.flatMap(({ impairment, atNs: fromNs, untilNs }, index) => [
    { timeNs: atNs + fromNs, index, impairment, apply: true },
    { timeNs: atNs + untilNs, index, impairment, apply: false },
  ]);
  moves.sort((one, other) => one.timeNs - other.timeNs || Number(one.apply) - Number(other.apply));
  for (const { timeNs, index, impairment, apply } of moves) {
    if (timeNs >= WINDOW_NS) break;
    await fabric.advance(timeNs);
    const saved = await fabric.readBack(impairment);
    if (apply) await fabric.apply(`fault-${index}`, impairment);
    else await fabric.revert(`fault-${index}`, impairment, saved);
  }
}
