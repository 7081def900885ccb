/**
 * Fault kind `job-migration`: the ranks of a job leave a host, and the job stops, moves and goes on from a checkpoint.
 *
 * Variants follow what schedulers do: a drain with a checkpoint on request, a restart on a spare after a host was lost,
 * the same with no spare left (the job waits until its host is back; it does not shrink), and the eviction of one of N
 * pods, whose successor the others wait for (kubeflow/trainer#2000). Where a host is lost, that is the fault, and the
 * restart its consequence: truth says `node-down`. Not here: jobs that shrink, restarts that fail, gang scheduling.
 */
import { z } from 'zod';
import { deviceId, elementName, jobId } from '../core/elements.js';
import { listChoices, nearestHint } from '../core/nearest.js';
import { InputError } from '../core/problem.js';
import type { Impairment } from '../fabric-api/impairment.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';
import type { Topology } from '../model/topology/model.js';
import {
  movedPlacement,
  ranksByHost,
  spareHosts,
  whyNoSpare,
  type GpuUse,
} from '../model/workload/spares.js';
import type { CompiledFault, FaultContext, FaultKind, Symptom } from './fault.js';
import { deviceOf, elementTruth } from './parts.js';

const job = z
  .string()
  .min(1)
  .optional()
  .describe('the job that moves; left out: every job with ranks on the host');
const to = z
  .string()
  .min(1)
  .optional()
  .describe('the host that takes over; left out: the first that can, idle ones first');

const parametersSchema = z.discriminatedUnion('variant', [
  z.strictObject({ variant: z.literal('planned'), job, to }),
  z.strictObject({ variant: z.literal('after-host-loss'), job, to }),
  z.strictObject({ variant: z.literal('no-spare'), job }),
  z.strictObject({ variant: z.literal('one-of-n'), job, to }),
]);

export type JobMigrationParameters = z.output<typeof parametersSchema>;
type Variant = JobMigrationParameters['variant'];

export const jobMigration: FaultKind<JobMigrationParameters> = {
  name: 'job-migration',
  summary: 'the ranks of a job leave a host: drained, lost or evicted; the job restarts from a checkpoint',
  parameters: parametersSchema,
  targetTypes: () => ['device'],
  compile,
  symptoms: ({ variant }) => SYMPTOMS[variant],
  allSymptoms: () => SYMPTOMS,
  limits: [
    'stops jobs with ranks on the hosts that its targets name, and no other job',
    'moves ranks to hosts where their GPUs are free, and displaces nobody',
    'always ends with the hosts as they were found and no order to leave them; the job stays where it has moved to, since ' +
      'moving it back would stop it once more',
  ],
  example: [
    '- kind: job-migration',
    '  params: { variant: planned }',
    '  target: { type: device, tier: host, usedBy: "*", mode: one, order: random }',
    '  at: 20s',
    '  duration: 20s',
  ].join('\n'),
};

function compile(
  parameters: JobMigrationParameters,
  targets: readonly ElementRef[],
  context: FaultContext,
): CompiledFault {
  const { durationNs } = context;
  const placements = context.jobs.map((one) => one.placement);
  const closed = closedHosts(targets, context);
  const impairments = targets.flatMap((target) => {
    const moves = movesFrom(parameters, target, context, placements, closed);
    return [hostImpairment(parameters.variant, target), ...moves];
  });
  const lost = parameters.variant === 'after-host-loss' || parameters.variant === 'no-spare';
  return {
    impairments: impairments.map((impairment) => ({ impairment, atNs: 0, untilNs: durationNs })),
    truth: targets.map((target) =>
      lost
        ? elementTruth(target, 'node-down', 'device', durationNs)
        : elementTruth(target, 'job-migration', 'configuration', durationNs),
    ),
  };
}

const hostImpairment = (variant: Variant, target: ElementRef): Impairment =>
  variant === 'planned' || variant === 'one-of-n'
    ? { type: 'host-drain', device: target.id }
    : { type: 'node-down', device: target.id };

const MODES = {
  planned: 'planned',
  'after-host-loss': 'after-loss',
  'no-spare': 'after-loss',
  'one-of-n': 'evict',
} as const;

/** One order per job on the host; `placements` are brought up to date, so that no GPU is promised twice. */
function movesFrom(
  parameters: JobMigrationParameters,
  target: ElementRef,
  { topology, jobs }: FaultContext,
  placements: Int32Array[],
  closed: ReadonlySet<number>,
): Impairment[] {
  const host = hostOf(target, topology);
  return movingJobs(parameters, target, host, { topology, jobs }).map((index): Impairment => {
    const use: GpuUse = { topology, placements, closed };
    const order = { type: 'job-move', job: jobId(jobs[index].name), fromHost: target.id } as const;
    if (parameters.variant === 'one-of-n') checkOthers(jobs[index].name, placements[index], topology, target);
    if (parameters.variant === 'no-spare') return { ...order, mode: MODES[parameters.variant] };
    const toHost = spareOf(parameters.to, use, index, host, jobs[index].name);
    placements[index] = movedPlacement(placements[index], topology, host, toHost);
    return { ...order, toHost: deviceId(topology.devices[toHost].name), mode: MODES[parameters.variant] };
  });
}

/** Hosts that are left themselves, and those that store checkpoints. */
function closedHosts(targets: readonly ElementRef[], { topology, jobs }: FaultContext): Set<number> {
  const stores = jobs.flatMap(({ checkpoint }) =>
    Array.from(checkpoint?.traffic?.receivers ?? [], (gpu) => topology.gpus[gpu].host),
  );
  return new Set([...stores, ...targets.map((target) => hostOf(target, topology))]);
}

function hostOf(target: ElementRef, topology: Topology): number {
  const device = deviceOf(target, topology);
  if (device?.role === 'host') return device.index;
  throw InputError.at(
    '/target',
    `${target.id} is a ${device?.role ?? target.type}, on which no job runs`,
    'select devices of tier host',
  );
}

/** Indices of the jobs that leave the host. */
function movingJobs(
  parameters: JobMigrationParameters,
  target: ElementRef,
  host: number,
  { topology, jobs }: Pick<FaultContext, 'topology' | 'jobs'>,
): number[] {
  const names = jobs.map(({ name }) => name);
  if (parameters.job !== undefined && !names.includes(parameters.job)) {
    throw InputError.at(
      '/params/job',
      `there is no job "${parameters.job}"; the jobs are ${listChoices(names) || '(none)'}`,
      nearestHint(parameters.job, names),
    );
  }
  const here = jobs.flatMap(({ placement }, index) =>
    placement.some((gpu) => topology.gpus[gpu].host === host) ? [index] : [],
  );
  const moving = here.filter((index) => parameters.job === undefined || names[index] === parameters.job);
  if (moving.length > 0) return moving;
  const found = here.length === 0 ? 'no job has' : `only ${here.map((index) => names[index]).join(', ')} has`;
  throw InputError.at(
    '/target',
    `${found} a rank on ${elementName(target.id)}, so ${parameters.job ?? 'nothing'} can't move from there`,
    `select a host in use, as with usedBy: "${parameters.job ?? '*'}"`,
  );
}

function checkOthers(name: string, placement: Int32Array, topology: Topology, target: ElementRef): void {
  if (ranksByHost(placement, topology).size > 1) return;
  throw InputError.at(
    '/params/variant',
    `all ranks of job "${name}" are on ${elementName(target.id)}; nobody would wait for the one that moves`,
    'take variant planned, or a job on several hosts',
  );
}

function spareOf(wanted: string | undefined, use: GpuUse, index: number, host: number, name: string): number {
  const { topology } = use;
  const spares = spareHosts(use, index, host);
  const free = listChoices(spares.map((spare) => topology.devices[spare].name));
  if (wanted === undefined) {
    if (spares.length > 0) return spares[0];
    throw InputError.at(
      '/params/variant',
      `no host can take over the ranks of job "${name}" on ${topology.devices[host].name}: nowhere are their GPUs free`,
      'give the fabric hosts that no job uses, or take variant no-spare',
    );
  }
  const hosts = topology.devices.filter(({ role }) => role === 'host').map((device) => device.name);
  const device = topology.devices.find((candidate) => candidate.name === wanted);
  if (device === undefined) {
    const message = `there is no host "${wanted}"; hosts are ${listChoices(hosts)}`;
    throw InputError.at('/params/to', message, nearestHint(wanted, hosts));
  }
  const why = whyNoSpare(use, index, host, device.index);
  if (why === undefined) return device.index;
  throw InputError.at(
    '/params/to',
    `job "${name}" can't move to ${wanted}: ${why}`,
    free === '' ? 'no host can take over' : `hosts that can: ${free}`,
  );
}

const SLURM = 'Slurm scontrol (drain, requeue); kubernetes.io, API-initiated eviction';
const MEGASCALE = 'MegaScale, arXiv 2402.15627; ByteRobust, arXiv 2509.16293';

const stopped: Symptom = {
  text: 'the job stops, its count of steps goes back to the checkpoint, and it trains again',
  metrics: ['job_state', 'job_restarts', 'job_steps'],
  citation: MEGASCALE,
};
const moved: Symptom = {
  text: "the job's bytes vanish from the old host and appear on the new one",
  metrics: ['host_allocated_gpus', 'port_tx_bytes', 'port_rx_bytes', 'edge_tx_bytes'],
  citation: MEGASCALE,
};
const redone: Symptom = {
  text: 'steps since the checkpoint are done again',
  metrics: ['job_redone_steps'],
  citation: 'bibigrid#565 (a requeue without a checkpoint starts from the top); MegaScale, arXiv 2402.15627',
};
const drained: Symptom = {
  text: 'the scheduler marks the host as drained; its ports, links and processes stay well',
  metrics: ['host_drained'],
  citation: SLURM,
};
const lostHost: Symptom = {
  text: 'the host falls silent and every link to it goes down at its neighbours',
  metrics: ['device_reachable', 'port_oper_status', 'port_link_down_events', 'edge_stalled_s'],
  citation: 'Alibaba HPN, SIGCOMM 2024; mlx5 counters.rst (link_down_events_phy)',
};
const waiting: Symptom = {
  text: 'the other ranks wait in their collectives and send again, until the new pod joins the rendezvous',
  metrics: ['edge_stalled_s', 'nic_adaptive_retransmissions'],
  citation: 'kubeflow/trainer#2000, #720',
};

const SYMPTOMS: Readonly<Record<Variant, readonly Symptom[]>> = {
  planned: [drained, stopped, moved],
  'after-host-loss': [lostHost, stopped, moved, redone],
  'no-spare': [lostHost, { ...stopped, text: 'the job stops and waits until the host is back' }, redone],
  'one-of-n': [drained, waiting, stopped, moved, redone],
};
