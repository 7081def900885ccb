/**
 * The experiment file's schema: one source for validation, JSON Schema, OpenAPI and hints.
 *
 * Unknown keys are refused everywhere. Fault parameters and targets are checked against the fault catalogue, so a new
 * kind needs no change here.
 */
import { z } from 'zod';
import { durationNs } from '../core/units.js';
import { selectorSchema } from '../model/topology/selector.js';
import { jobSchema } from '../model/workload/job-schema.js';
import { scoringProfileSchema, targetObjectives } from '../scoring/profile.js';
import { FAULT_KINDS, type AnyFaultKind } from '../faults/catalog.js';

export const API_VERSION = 'fabricdrill/v1';

/** DNS-label names: safe in file names, URLs and reports. */
export const nameSchema = z
  .string()
  .regex(
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    'a name has 1 to 63 of a-z, 0-9 and -, and starts and ends with a letter or digit',
  );

export const metadataSchema = z.strictObject({
  name: nameSchema,
  labels: z.record(z.string().max(63), z.string().max(253)).optional(),
});

/** Of a document that makes drills: who sends it names the real fabric a second time. */
export const confirmSchema = nameSchema
  .optional()
  .describe('name of the real fabric that this goes to; there must be none where it is left out');

/** Shorter ones would end before anything could notice them. */
const SHORTEST_HOLD_NS = 1e6;
/** What is observed grows with the length of a run. */
const LONGEST_RUN_NS = 2 * 3600e9;

/** Filters that an experiment may do without. */
const PREFERENCES = ['tier', 'rail', 'plane', 'pod', 'notUsedBy'] as const;

const targetSchema = selectorSchema.extend({
  usedBy: z.string().optional().describe('job name or glob: only elements that such a job sends over'),
  notUsedBy: z.string().optional().describe('job name or glob: only elements that no such job sends over'),
  prefer: z
    .array(z.enum(PREFERENCES))
    .max(PREFERENCES.length)
    .optional()
    .describe(
      'filters that are wishes: as few of them as possible are dropped, the first named first, where nothing is left otherwise; the plan says which',
    ),
});
export type TargetSpec = z.output<typeof targetSchema>;

const atMostARun = durationNs.refine((ns) => ns <= LONGEST_RUN_NS, 'a run lasts at most 2h');

const triggerSchema = z.strictObject({
  at: z.enum(['step', 'collective', 'checkpoint']).describe('what the job begins'),
  job: z.string().min(1).describe('name of the job'),
  number: z
    .int()
    .min(1)
    .optional()
    .describe('which one, counted from the start of the job; a collective is one over the fabric'),
  after: atMostARun.optional().describe('the first one from then on'),
  within: atMostARun
    .refine((ns) => ns > 0, 'must be more than 0s')
    .prefault('30s')
    .describe('how long it is waited for beyond when it is expected; then the run is inconclusive'),
});
export type TriggerSpec = z.output<typeof triggerSchema>;

/** A fault begins at one time: its own, or that of its trigger. */
function checkTime(
  fault: { at?: number; trigger?: TriggerSpec },
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  const refuse = (path: string[], message: string): void =>
    context.addIssue({ code: 'custom', path, message });
  const { at, trigger } = fault;
  if (trigger === undefined) {
    if (at === undefined)
      refuse(['at'], 'missing; write when the fault is injected, as in 20s, or a trigger instead');
    return;
  }
  const given = [
    ...(at === undefined ? [] : ['at']),
    ...(trigger.number === undefined ? [] : ['trigger.number']),
    ...(trigger.after === undefined ? [] : ['trigger.after']),
  ];
  if (given.length === 1) return;
  const found = given.length === 0 ? 'none is here' : `${given.join(' and ')} are here`;
  refuse(
    ['trigger'],
    `a trigger takes one of number, after, and the fault's at (the first one from then on); ${found}`,
  );
}

function faultSchemaOf(kind: AnyFaultKind) {
  const shared = {
    name: nameSchema.optional(),
    kind: z.literal(kind.name),
    params: kind.parameters,
    at: atMostARun
      .optional()
      .describe('when the fault is injected, from the start of the run; needed without a trigger'),
    trigger: triggerSchema
      .optional()
      .describe('injects the fault as a job begins something, beside or instead of at'),
    duration: durationNs
      .refine((ns) => ns >= SHORTEST_HOLD_NS, 'a fault is held for at least 1ms')
      .describe('how long it is held, at least 1ms'),
  };
  const schema = z.strictObject({ ...shared, target: targetSchema }).superRefine(checkTime);
  // One type for both: whoever reads a fault asks whether it has a target.
  type MaybeTargeted = z.ZodObject<
    typeof shared & { target: z.ZodOptional<typeof targetSchema> },
    z.core.$strict
  >;
  const chosen = (kind.withoutTarget
    ? z.strictObject(shared).superRefine(checkTime)
    : schema) as unknown as MaybeTargeted;
  return chosen.meta({ title: kind.name, description: kind.summary });
}

const [firstKind, ...otherKinds] = FAULT_KINDS;
const faultSchema = z.discriminatedUnion('kind', [
  faultSchemaOf(firstKind),
  ...otherKinds.map(faultSchemaOf),
]);
export type FaultSpec = z.output<typeof faultSchema>;

const count = z.int().min(0);

export const experimentSpecSchema = z.strictObject({
  description: z.string().max(2000).optional(),
  fabric: z
    .string()
    .min(1)
    .describe('a stored fabric’s name, a Fabric document’s name in the same file, a YAML path, or path#name'),
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(1).describe('draws everything random in a run'),
  duration: durationNs
    .optional()
    .describe('length of the run; default: as long after the last fault as before the first'),
  jobs: z
    .array(jobSchema)
    .max(256)
    .optional()
    .describe('training jobs for a fabric that has none of its own'),
  faults: z.array(faultSchema).min(1).max(16),
  scoring: scoringProfileSchema
    .extend({
      profile: z
        .string()
        .optional()
        .describe('path of a YAML file with the keys of scoring; those written here win'),
    })
    .optional()
    .describe('weights, half-lives, limits and targets of the scores'),
  objectives: z.array(z.string()).max(64).default([]).describe('such as "recovery.score >= 80"'),
  limits: z
    .strictObject({
      maxLinks: count.optional(),
      maxDevices: count.optional(),
      maxJobsAffected: count.optional(),
    })
    .optional()
    .describe('a plan beyond any of these is refused'),
});
export type ExperimentSpec = z.output<typeof experimentSpecSchema>;

/** Objectives as written, and those that the scoring profile's targets add. */
export const statedObjectives = ({ objectives, scoring }: ExperimentSpec): string[] => [
  ...new Set([...objectives, ...(scoring === undefined ? [] : targetObjectives(scoring))]),
];

export const experimentSchema = z
  .strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal('Experiment'),
    metadata: metadataSchema,
    spec: experimentSpecSchema,
  })
  .meta({ title: 'Experiment', description: 'one fault drill: a fabric, jobs, faults and objectives' });
export type Experiment = z.output<typeof experimentSchema>;
