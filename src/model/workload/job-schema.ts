/**
 * A training job as fabric and experiment files write it (`jobs[]`).
 *
 * A job names its size or hosts, its degrees of parallelism and its traffic: either a synthetic `step` (compute
 * plus collectives) or a workload file of the SimAI format. `workloadFile` is a path that the edge (CLI, bench)
 * reads and turns into `workload.text`; nothing in this room touches a disk.
 */
import { z } from 'zod';
import { durationNs, rateGbps, sizeBytes } from '../../core/units.js';
import { COLLECTIVES, DEFAULT_RESTART } from './job.js';
import { PLACEMENT_STRATEGIES } from './placement.js';

const count = z.number().int().min(1).max(1_000_000);
const hostList = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
  .transform((hosts) => (typeof hosts === 'string' ? [hosts] : hosts))
  .meta({ description: 'host names or patterns: host-3, host-*, host-[1-4,9]', examples: ['host-[1-4]'] });
const someBytes = sizeBytes.refine(
  (bytes) => bytes > 0 && bytes <= 1e15,
  'must be more than 0 B and at most 1000 TB',
);
const MAX_STEP_NS = 86_400e9;

const collectiveSchema = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('default: parallelism and collective, as data/all-reduce'),
    collective: z.enum(COLLECTIVES),
    algorithm: z.enum(['ring', 'tree']).default('ring').describe('tree: all-reduce only'),
    bytes: someBytes.describe('buffer of one rank, as nccl-tests counts it'),
    parallelism: z
      .enum(['data', 'tensor', 'pipeline', 'expert'])
      .default('data')
      .describe('over which groups'),
    overlap: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .describe('share of the compute beside which this may already run: 0 starts after it, 1 with it'),
  })
  .superRefine((value, context) => {
    if (value.algorithm === 'tree' && value.collective !== 'all-reduce') {
      const message = `the tree algorithm is for all-reduce; ${value.collective} takes ring`;
      context.addIssue({ code: 'custom', path: ['algorithm'], message });
    }
  });

const stepSchema = z.strictObject({
  compute: durationNs
    .refine((ns) => ns <= MAX_STEP_NS, 'must be at most 24h')
    .describe('GPU time of a step without any waiting'),
  collectives: z
    .array(collectiveSchema)
    .max(1000)
    .default([])
    .describe('run one after another, in this order'),
});

const checkpointSchema = z
  .strictObject({
    every: count.describe('steps between two checkpoints'),
    duration: durationNs
      .refine((ns) => ns <= MAX_STEP_NS, 'must be at most 24h')
      .optional()
      .describe('how long the job stands still for one (default 2s, unless bytesPerRank says it)'),
    bytesPerRank: someBytes.optional().describe('what each rank writes'),
    to: hostList.optional().describe('storage hosts that receive it over the fabric, in turn by rank'),
    hostRate: rateGbps
      .refine((gbps) => gbps > 0, 'must be more than 0bps')
      .optional()
      .describe('what a host can write to storage that is not on this fabric'),
  })
  .superRefine((value, context) => {
    const issue = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    const { duration, bytesPerRank, to, hostRate } = value;
    if (duration !== undefined && bytesPerRank !== undefined)
      issue('duration', 'the time follows from bytesPerRank; give one of the two');
    if (to !== undefined && hostRate !== undefined)
      issue(
        'hostRate',
        'what is sent to hosts of this fabric goes as fast as the fabric; leave hostRate out',
      );
    if (bytesPerRank !== undefined && to === undefined && hostRate === undefined)
      issue('bytesPerRank', 'say where it goes: `to` hosts of this fabric, or elsewhere at a `hostRate`');
    if (bytesPerRank === undefined && (to !== undefined || hostRate !== undefined))
      issue(to === undefined ? 'hostRate' : 'to', 'how much goes there? give bytesPerRank');
  });

const restartTime = (ns: number) =>
  durationNs.refine((value) => value <= MAX_STEP_NS, 'must be at most 24h').prefault(`${ns / 1e9}s`);

const restartSchema = z.strictObject({
  detect: restartTime(DEFAULT_RESTART.detectNs).describe('lost process to the scheduler acting on it'),
  reschedule: restartTime(DEFAULT_RESTART.rescheduleNs).describe('until all ranks have a process again'),
  load: restartTime(DEFAULT_RESTART.loadNs).describe('initialisation and reading the checkpoint back'),
});

/** Text of a workload file, and the name to show in errors. */
const workloadSchema = z.strictObject({
  text: z.string().min(1).max(50_000_000),
  file: z.string().min(1).optional().describe('the name shown in errors'),
});

export const jobSchema = z
  .strictObject({
    name: z
      .string()
      .max(63)
      .regex(
        /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
        'must be letters, digits, dots, dashes or underscores',
      ),
    gpus: count.optional().describe('number of GPUs, one rank each'),
    hosts: hostList.optional().describe('short for an explicit placement on these hosts'),
    placement: z
      .strictObject({
        strategy: z.enum(PLACEMENT_STRATEGIES).default('packed'),
        hosts: hostList.optional().describe('only these hosts'),
        offset: z.number().int().min(0).default(0).describe('GPUs passed over before the first is taken'),
      })
      .optional(),
    fit: z
      .strictObject({
        spareHosts: z.int().min(0).max(4096).default(0).describe('hosts that stay without a job'),
      })
      .optional()
      .describe(
        'where the fabric is too small for the jobs as written, they share its hosts, with fewer GPUs and smaller degrees; the last ones are left out where there are not two hosts for each',
      ),
    parallelism: z
      .strictObject({
        tensor: count.optional(),
        pipeline: count.optional(),
        expert: count.optional().describe('divides data'),
        data: count.optional().describe('derived: tensor × pipeline × data = ranks'),
      })
      .default({}),
    step: stepSchema.optional(),
    workload: workloadSchema.optional(),
    workloadFile: z.string().min(1).optional().describe('path of a workload file, relative to this file'),
    queuePairs: z
      .number()
      .int()
      .min(1)
      .max(128)
      .default(4)
      .describe('QPs of a connection (NCCL_IB_QPS_PER_CONNECTION)'),
    priority: z.number().int().min(0).max(7).default(3).describe('traffic class'),
    start: durationNs.prefault('0s').describe('when the job starts, from the start of the run'),
    steps: count.optional().describe('steps after which the job is complete; left out: it goes on for ever'),
    checkpoint: checkpointSchema
      .optional()
      .describe('synchronous checkpoints; without any, a restart begins at step 0'),
    restart: restartSchema
      .optional()
      .describe('the scheduler restarts the job when it fails, on spare hosts where its own are down'),
  })
  .superRefine((job, context) => {
    const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const sources = (['step', 'workload', 'workloadFile'] as const).filter((key) => job[key] !== undefined);
    if (sources.length !== 1) {
      const found = sources.length === 0 ? 'none is here' : `${sources.join(' and ')} are here`;
      issue([], `a job takes exactly one of step, workload and workloadFile; ${found}`);
    }
    if (job.hosts !== undefined && job.placement !== undefined) {
      issue(['hosts'], 'hosts is short for placement { strategy: explicit, hosts }; give one of the two');
    }
    if (
      job.fit !== undefined &&
      (job.gpus === undefined || (job.hosts ?? job.placement?.hosts) !== undefined)
    ) {
      issue(['fit'], 'a job that fits itself to the fabric is written with gpus, and without hosts');
    }
    if (job.fit !== undefined && job.step === undefined) {
      issue(
        ['fit'],
        'a workload file is made for its number of ranks; only a job with a step can be made smaller',
      );
    }
    const explicit = job.placement?.strategy === 'explicit';
    if (explicit && job.placement?.hosts === undefined) {
      issue(['placement', 'hosts'], 'an explicit placement needs hosts');
    }
    if (job.gpus === undefined && job.hosts === undefined && !explicit) {
      issue(['gpus'], 'a job needs gpus (a count) or hosts');
    }
  });

/** A job as parsed: ns and bytes as numbers, defaults filled in. */
export type JobDefinition = z.output<typeof jobSchema>;
export type StepDefinition = z.output<typeof stepSchema>;
/** A job as written in YAML or JSON. */
export type JobInput = z.input<typeof jobSchema>;
