/**
 * The suite file's schema: experiments that are run together, and what decides about a change to their fabric.
 *
 * Experiments are named by path, `path#name`, or by the name of an Experiment in the same file; what they bring with
 * them as their own objectives is not looked at here, since a suite compares two fabrics. The shape of an objective is
 * checked here, what it says in `gate/suite-objective.ts`.
 */
import { z } from 'zod';
import { MOST_OBJECTIVES } from '../comparison/suite-objective.js';
import { API_VERSION, metadataSchema } from './experiment.js';

/** More seeds than these find differences that nobody would feel. */
const MOST_SEEDS = 1000;
const MOST_EXPERIMENTS = 64;

const LEVELS = 'a level lies from 0.001 to 0.2; 0.05 is usual';
const NO_OBJECTIVE = 'a gate without an objective decides nothing; state what must not become worse';

const reference = z.string().min(1);

const objectiveSchema = z.union([
  z.string().describe('what the candidate must reach at every seed, such as "recovery.score >= 80"'),
  z.strictObject({
    metric: z.string().optional().describe('figure that must not become worse, such as recovery.score'),
    margin: z
      .union([z.number(), z.string()])
      .optional()
      .describe('by how much it may: in the metric’s unit, or a share of the baseline such as 2%'),
    expression: z.string().optional().describe('instead of a metric: what the candidate must reach'),
    share: z
      .number()
      .gt(0, 'at a share of 0 everything passes')
      .max(1, 'a share is 1 at most')
      .optional()
      .describe('of the seeds that must meet the expression; 1 when left out'),
    on: z.array(z.string()).min(1).optional().describe('experiments that it is judged on; all when left out'),
  }),
]);

export const suiteSpecSchema = z.strictObject({
  description: z.string().max(2000).optional(),
  experiments: z
    .array(reference)
    .min(1, 'a suite without an experiment has nothing to run')
    .max(MOST_EXPERIMENTS)
    .describe('paths from this file, path#name, or names of Experiment documents in this file'),
  baseline: reference.optional().describe('fabric as it is, where the command line names none'),
  candidate: reference.optional().describe('fabric as it would be, where the command line names none'),
  seeds: z
    .int()
    .min(1, 'a gate needs at least one seed, and five to show anything at the usual level')
    .max(MOST_SEEDS)
    .default(16)
    .describe('how many seeds each experiment is run with at most'),
  firstSeed: z
    .int()
    .min(1, 'seeds are counted from 1 on')
    .max(1e9)
    .default(1)
    .describe('the first of them; the others follow'),
  alpha: z
    .number()
    .min(0.001, LEVELS)
    .max(0.2, LEVELS)
    .default(0.05)
    .describe('chance of a false regression, and of passing a true one'),
  objectives: z
    .array(objectiveSchema, { error: ({ input }) => (input === undefined ? NO_OBJECTIVE : undefined) })
    .min(1, NO_OBJECTIVE)
    .max(MOST_OBJECTIVES, `a suite has at most ${MOST_OBJECTIVES} objectives: more would dilute each of them`)
    .describe('what must not become worse, and what the candidate must reach'),
});

export const suiteSchema = z
  .strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal('Suite'),
    metadata: metadataSchema,
    spec: suiteSpecSchema,
  })
  .meta({ title: 'Suite', description: 'experiments that decide about a change to a fabric' });
export type Suite = z.output<typeof suiteSchema>;
