/**
 * A scoring profile: what a team cares about, as numbers. Weights, half-lives, limits and targets of the formulas in
 * docs/scoring.md, from the `scoring` of an experiment or from a file that several experiments share.
 *
 * Weights of one score need not add up to anything; only their proportions count. A profile changes how figures are
 * summed up, never the figures themselves, apart from the two limits that say who counts as a victim and which
 * baseline is quiet enough.
 */
import { z } from 'zod';
import { durationNs } from '../core/units.js';

const share = z.number().min(0).max(1);
const points = z.number().min(0).max(100);

const weight = (value: number) => z.number().min(0).default(value);
/** All weights 0 would leave nothing to score. */
const anyWeight = (given: Readonly<Record<string, number>>): boolean =>
  Object.values(given).some((value) => value > 0);
const NO_WEIGHT = 'one weight at least must be above 0';

export const scoringProfileSchema = z.strictObject({
  recovery: z
    .strictObject({
      weights: z
        .strictObject({ recover: weight(0.4), failback: weight(0.2), pace: weight(0.2), ettr: weight(0.2) })
        .refine(anyWeight, NO_WEIGHT)
        .prefault({})
        .describe('parts of the score'),
      halfLife: durationNs
        .prefault('30s')
        .describe('a recovery that takes this long is worth half of its part'),
    })
    .prefault({}),
  isolation: z
    .strictObject({
      weights: z
        .strictObject({ jobs: weight(0.7), flows: weight(0.3), pauses: weight(0) })
        .refine(anyWeight, NO_WEIGHT)
        .prefault({})
        .describe('harm to bystanders, and spread of pauses'),
      slowdown: share.default(0.02).describe('a bystander that slows by less is no victim'),
    })
    .prefault({}),
  explainability: z
    .strictObject({
      weights: z
        .strictObject({ kind: weight(0.1), element: weight(0.9) })
        .refine(anyWeight, NO_WEIGHT)
        .prefault({})
        .describe('parts of the score'),
      details: z
        .strictObject({
          side: weight(1),
          onset: weight(1),
          coverage: weight(1),
          precision: weight(1),
          set: weight(1),
          brier: weight(1),
        })
        .refine(anyWeight, NO_WEIGHT)
        .prefault({})
        .describe('what makes an answer a good one, given its element'),
      onsetHalfLife: durationNs.prefault('5s').describe('an onset that is off by this much is worth half'),
      abstained: points.default(20).describe('score of a verdict that says it can not tell'),
    })
    .prefault({}),
  baseline: z
    .strictObject({
      idealStepRatio: z.number().min(1).default(2).describe('a step may take this many times its ideal'),
      paceNoise: share.default(0.02).describe('most that the pace before the fault may scatter (one sigma)'),
    })
    .prefault({}),
  targets: z
    .strictObject({
      recovery: points.optional(),
      isolation: points.optional(),
      explainability: points.optional(),
    })
    .prefault({})
    .describe('least score of each; adds an objective such as recovery.score >= 80'),
  counterfactual: z
    .enum(['auto', 'off'])
    .default('auto')
    .describe('on a simulated fabric, run the same seed without the faults too, to know what they cost'),
});

export type ScoringProfile = z.output<typeof scoringProfileSchema>;

/** What counts where nobody says otherwise. */
export const DEFAULT_PROFILE: ScoringProfile = scoringProfileSchema.parse({});

/** Weighted mean; the weights' sum is above 0. */
export function weighted<Name extends string>(
  given: Readonly<Record<Name, number>>,
  values: Readonly<Record<Name, number>>,
): number {
  let sum = 0;
  let total = 0;
  for (const name of Object.keys(given) as Name[]) {
    sum += given[name] * values[name];
    total += given[name];
  }
  return sum / total;
}

/** Targets as the objectives they are. */
export const targetObjectives = ({ targets }: Pick<ScoringProfile, 'targets'>): string[] =>
  Object.entries(targets).flatMap(([score, least]) =>
    least === undefined ? [] : [`${score}.score >= ${least}`],
  );
