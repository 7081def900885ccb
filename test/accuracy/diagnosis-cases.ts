/**
 * Cases for the diagnosis: a simulated fabric with jobs, one fault (or none, or two), and the truth.
 *
 * Every case is drawn from its seed: the place (among elements that carry a job's bytes), the instant, the duration, and
 * how bad it is. The ranges are wide on purpose and owe nothing to the diagnoser's own table. The same request without
 * its faults is the counterfactual: same fabric, same seed, nothing injected.
 */
import { Prng } from '../../src/core/prng.js';
import type { Evidence } from '../../src/model/telemetry/series.js';
import type { ElementRef } from '../../src/model/telemetry/vocabulary.js';
import type { Job } from '../../src/model/workload/job.js';
import type { Topology } from '../../src/model/topology/model.js';
import type { TruthEntry } from '../../src/faults/ground-truth.js';
import type { CompiledFault, FaultKind } from '../../src/faults/fault.js';
import type { ConfigurationSnapshot } from '../../src/fabric-api/fabric.js';
import { elementName } from '../../src/core/elements.js';
import { fabricSpecSchema } from '../../src/fabric-api/definition.js';
import type { FabricSpecInput } from '../../src/fabric-api/definition.js';
import { createSimulatedFabric } from '../../src/drivers/simulated/create-simulated-fabric.js';
import type { SimulatedFabric } from '../../src/drivers/simulated/simulated-fabric.js';
import { faultKind } from '../../src/faults/catalog.js';
import { ACCURACY_FAULTS } from './diagnosis-faults.js';
import type { AccuracyFault, FaultName } from './diagnosis-faults.js';

export interface FaultRequest {
  fault: FaultName;
  /** Tier of the link, NIC or device to be hurt. */
  tier: string;
}

export interface CaseRequest {
  faults: readonly FaultRequest[];
  seed: number;
  telemetry?: FabricSpecInput['telemetry'];
  /** Share of the devices of which nothing is heard. */
  mute?: number;
  /** Indices into `faults` that are drawn and not injected: the counterfactual. */
  leftOut?: readonly number[];
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
  const name = request.faults.map(({ fault, tier }) => `${fault} ${tier}`).join(', ');
  const random = new Prng(request.seed).stream(name === '' ? 'none none' : name);
  const fabric = openFabric(request, random);
  const { topology, jobs } = fabric.describe();
  await fabric.startJobs();
  const plans: Plan[] = [];
  const usedLater = random.uniform();
  await fabric.advance(WARM_UP_NS);
  for (const [index, fault] of request.faults.entries()) {
    const atNs = Math.round(15e9 + (index === 0 ? usedLater : random.uniform()) * 10e9);
    plans.push(await planFault(fault, fabric, random.stream(`fault ${index}`), atNs));
  }
  const injected = plans.filter((_, index) => request.leftOut?.includes(index) !== true);
  await inject(fabric, injected);
  await fabric.advance(WINDOW_NS);
  const evidence = await fabric.observe({ fromNs: 0, toNs: WINDOW_NS });
  await fabric.close();
  const truth = injected.flatMap(({ compiled, atNs }) =>
    compiled.truth.map((entry) => ({ ...entry, fromNs: entry.fromNs + atNs, toNs: entry.toNs + atNs })),
  );
  const series = muted(request, topology, evidence.series, random);
  return { topology, jobs, evidence: { ...evidence, series }, truth };
}

/** The evidence without a share of the devices; the hurt one may be among them. */
function muted(
  { mute = 0 }: CaseRequest,
  topology: Topology,
  series: Evidence['series'],
  random: Prng,
): Evidence['series'] {
  const silent = new Set(topology.devices.filter(() => random.uniform() < mute).map((device) => device.name));
  return series.filter(({ element }) => !silent.has(elementName(element).split('/')[0]));
}

function openFabric(request: CaseRequest, random: Prng): SimulatedFabric {
  const drawn = SHAPES[random.below(SHAPES.length)];
  const needs = request.faults.map(({ fault }): AccuracyFault => ACCURACY_FAULTS[fault]);
  const needed = needs.find(({ fabric }) => fabric !== undefined)?.fabric;
  const settings = needs.find((one) => one.settings !== undefined)?.settings;
  const spec = fabricSpecSchema.parse({
    topology: needed ?? drawn,
    settings: { hashSeed: random.below(2 ** 32), computeJitter: 0.01 * random.uniform(), ...settings },
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

interface Plan {
  compiled: CompiledFault;
  atNs: number;
}

async function planFault(
  { fault, tier }: FaultRequest,
  fabric: SimulatedFabric,
  random: Prng,
  atNs: number,
): Promise<Plan> {
  const { topology, jobs } = fabric.describe();
  const { kind, targets, parameters, together, contended }: AccuracyFault = ACCURACY_FAULTS[fault];
  const all = random.shuffle(targets(topology, tier));
  const one = async () => (contended === true ? mostContended(fabric, all) : firstInUse(fabric, all));
  const hit = together === true ? all : [await one()];
  const { parameters: schema, compile } = faultKind(kind) as FaultKind;
  const compiled = compile(schema.parse(parameters(random)), hit, {
    topology,
    jobs,
    durationNs: Math.round(5e9 + random.uniform() * 20e9),
    random: random.stream('fault'),
  });
  return { compiled, atNs };
}

/** A fault nobody's bytes meet has no symptom to explain. */
async function firstInUse(fabric: SimulatedFabric, targets: readonly ElementRef[]): Promise<ElementRef> {
  for (const target of targets) {
    if ((await fabric.jobsCrossing(target.id)).length > 0) return target;
  }
  throw new Error('no target of this tier carries a job');
}

/** The switch that marked most, or paused its neighbours longest, until now. */
async function mostContended(fabric: SimulatedFabric, switches: readonly ElementRef[]): Promise<ElementRef> {
  const { series } = await fabric.observe({ fromNs: 0, toNs: WARM_UP_NS });
  const weights = new Map<string, number>();
  for (const { metric, element, values } of series) {
    const weight = { queue_ecn_marked_packets: 1e-6, port_pause_tx_s: 1 }[metric];
    if (weight === undefined || values.length === 0) continue;
    const device = `device:${elementName(element).split('/')[0]}`;
    const gained = weight * (values[values.length - 1] - values[0]);
    weights.set(device, (weights.get(device) ?? 0) + gained);
  }
  const weightOf = ({ id }: ElementRef): number => weights.get(id) ?? 0;
  return switches.reduce((one, other) => (weightOf(other) > weightOf(one) ? other : one));
}

async function inject(fabric: SimulatedFabric, plans: readonly Plan[]): Promise<void> {
  const moves = plans.flatMap(({ compiled, atNs }, plan) =>
    compiled.impairments.flatMap(({ impairment, atNs: fromNs, untilNs }, index) => {
      const move = { id: `fault-${plan}-${index}`, impairment };
      return [
        { ...move, timeNs: atNs + fromNs, apply: true },
        { ...move, timeNs: atNs + untilNs, apply: false },
      ];
    }),
  );
  moves.sort((one, other) => one.timeNs - other.timeNs || Number(one.apply) - Number(other.apply));
  const saved = new Map<string, ConfigurationSnapshot>();
  for (const { timeNs, id, impairment, apply } of moves) {
    if (timeNs >= WINDOW_NS) break;
    await fabric.advance(timeNs);
    if (apply) {
      saved.set(id, await fabric.readBack(impairment));
      await fabric.apply(id, impairment);
    } else await fabric.revert(id, impairment, saved.get(id) ?? {});
  }
}
