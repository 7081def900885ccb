/** The baselines that run beside the diagnosis, each on the same evidence. */
import type { Baseline } from './answer.js';
import { chance } from './chance.js';
import { linkVotes } from './link-votes.js';
import { rules } from './rules.js';

export const BASELINES = { chance, rules, 'link-votes': linkVotes } as const satisfies Record<
  string,
  Baseline
>;
export type BaselineName = keyof typeof BASELINES;
export const BASELINE_NAMES = Object.keys(BASELINES) as BaselineName[];
