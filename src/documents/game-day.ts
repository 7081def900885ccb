/**
 * The game day file's schema: experiments in stages, with people who watch, and what they expect.
 *
 * A hypothesis is required of every experiment: what nobody expected anything of teaches nothing (Principles of Chaos
 * Engineering, "build a hypothesis around steady-state behaviour"). What names, orders and conditions mean is checked in
 * game-day-rules.ts.
 */
import { z } from 'zod';
import { paceSchema } from '../fabric-api/pace.js';
import { API_VERSION, confirmSchema, metadataSchema, nameSchema } from './experiment.js';

const MOST_STAGES = 32;
const MOST_EXPERIMENTS = 16;

const text = z.string().min(1).max(2000);
const reference = z.string().min(1).max(500);

const expressionSchema = z.string().max(300);

const conditionSchema = z.strictObject({
  stage: nameSchema.describe('a stage that has ended by then'),
  experiment: nameSchema.optional().describe('one of its experiments; all of them when left out'),
  expression: expressionSchema.describe('what its scorecard must show, such as "recovery.score >= 80"'),
});

const hypothesisSchema = z.strictObject({
  statement: text.describe('what the team expects, in its own words'),
  expect: z
    .array(expressionSchema)
    .min(1, 'a hypothesis that no figure could refute is none')
    .max(20)
    .describe('the figures that show it, such as "recovery.time_to_recover_s < 10"'),
});

const stageExperimentSchema = z.strictObject({
  name: nameSchema.optional().describe('within its stage; else the last part of the reference'),
  experiment: reference.describe(
    'name or id of a stored experiment, or a name in the same file; on the command line also a path, or path#name',
  ),
  fabric: reference
    .optional()
    .describe('another fabric than the experiment’s: a stored one’s name, or one in the same file'),
  seed: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('another seed than the experiment’s; blind ones draw their own when left out'),
  hypothesis: hypothesisSchema,
});
export type StageExperimentSpec = z.output<typeof stageExperimentSchema>;

const stageSchema = z.strictObject({
  name: nameSchema,
  after: z
    .array(nameSchema)
    .optional()
    .describe('stages that must have ended; the one before when left out, [] to begin at once'),
  when: z
    .array(conditionSchema)
    .max(20)
    .default([])
    .describe('what must hold, or the stage is skipped; not in a blind one'),
  pause: text.optional().describe('what people do or decide before it begins; somebody continues it'),
  order: z.enum(['serial', 'parallel']).default('serial').describe('of the experiments within the stage'),
  experiments: z
    .array(stageExperimentSchema)
    .min(1, 'a stage with nothing in it does nothing; leave it out')
    .max(MOST_EXPERIMENTS, `a stage has ${MOST_EXPERIMENTS} experiments at most; make two of it`),
});
export type StageSpec = z.output<typeof stageSchema>;

export const gameDaySpecSchema = z.strictObject({
  description: text.optional(),
  blind: z
    .boolean()
    .default(false)
    .describe('what is injected stays sealed until the team has committed its diagnosis'),
  pace: paceSchema
    .optional()
    .describe('of its simulated fabrics: 1x as slow as the real thing; as fast as can be when left out'),
  roles: z
    .array(
      z.strictObject({
        role: z.string().min(1).max(100),
        people: z.array(z.string().min(1).max(100)).min(1),
      }),
    )
    .max(20)
    .default([])
    .describe('who does what: who leads, who diagnoses, who writes down'),
  stages: z
    .array(stageSchema)
    .min(1, 'a game day without a stage has nothing to do')
    .max(MOST_STAGES, `a game day has ${MOST_STAGES} stages at most; make two of it`),
});
export type GameDaySpec = z.output<typeof gameDaySpecSchema>;

export const gameDaySchema = z
  .strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal('GameDay'),
    metadata: metadataSchema,
    confirm: confirmSchema,
    spec: gameDaySpecSchema,
  })
  .meta({ title: 'GameDay', description: 'experiments in stages, with people who watch' });
export type GameDay = z.output<typeof gameDaySchema>;

/** What an experiment is called within its stage. */
export function labelOf({ name, experiment }: Pick<StageExperimentSpec, 'name' | 'experiment'>): string {
  if (name !== undefined) return name;
  const last = experiment.split(/[/\\#]/).at(-1) ?? experiment;
  return last.replace(/\.(ya?ml|json)$/i, '');
}

/** The stages that one waits for. */
export const waitsFor = (stages: readonly StageSpec[], at: number): readonly string[] =>
  stages[at].after ?? (at === 0 ? [] : [stages[at - 1].name]);
