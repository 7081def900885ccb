/**
 * What a culprit family is: how its failures would look (candidates for the ranking), and how they are told.
 *
 * A family is one file beside this one and one line in catalog.ts. It puts forward one candidate per way an element may
 * have failed, with its findings; candidates of one element and kind that differ in side or direction only are one
 * culprit, and their probabilities add. The words, the series to cite and the rivals of its kinds live in the same file.
 */
import type { ElementRef } from '../../model/telemetry/vocabulary.js';
import type { Series } from '../../model/telemetry/series.js';
import type { DeviceObservation } from '../features/links/device-observation.js';
import type { LinkObservation } from '../features/links/link-observation.js';
import type { Context } from '../series/context.js';
import type { Candidate } from '../candidate.js';
import type { Hypothesis, Outcome } from '../likelihoods.js';
import type { Explanation } from '../explanation.js';
import type { ChainStep, RuledOut } from '../verdict.js';

export interface Observations {
  devices: readonly DeviceObservation[];
  links: readonly LinkObservation[];
}

export type Hypothesise = (context: Context, observations: Observations) => Candidate[];

export interface Family {
  /** Those it puts forward, and tells. */
  hypotheses: readonly Hypothesis[];
  /** What it would look like, element by element. */
  hypothesise: Hypothesise;
  /** What happened to the element, as a clause: `went down at 20 s and stayed down until 40 s`. */
  cause(context: Context, culprit: Explanation): string;
  /** Whole sentences: which observation tells this side, or place, from others; '' when none does. */
  reason(context: Context, culprit: Explanation): string;
  /** Series to show a doubting engineer, in the order in which one would look; those that did not change are left out. */
  series(context: Context, culprit: Explanation): (Series | undefined)[];
  /** What the ports (or hosts) next to the cause show, the latest first. */
  steps(context: Context, culprit: Explanation): ChainStep[];
  /** What else it could have been, and the observation that speaks against it. */
  rivals(context: Context, observations: Observations, culprit: Explanation): RuledOut[];
  /** For congestion: whose traffic causes it. */
  aggressors?(context: Context, culprit: Explanation): ElementRef[];
}

/** `true`, `false`, not known. */
export function outcome(seen: boolean | null): Outcome {
  if (seen === null) return 'unknown';
  return seen ? 'present' : 'absent';
}
