/**
 * What a culprit family is: how its failures would look (candidates for the ranking), and how they are told.
 *
 * A family is one file beside this one and one line in catalog.ts. It puts forward one candidate per way an element may
 * have failed, with its findings; candidates of one element and kind that differ in side or direction only are one
 * culprit, and their probabilities add. The words, the series to cite and the rivals of its kinds live in the same file.
 */
import type { Direction, ElementRef } from '../../model/telemetry/vocabulary.js';
import type { Series } from '../../model/telemetry/series.js';
import type { Interval } from '../series/context.js';
import type { DeviceObservation } from '../features/links/device-observation.js';
import type { LinkObservation } from '../features/links/link-observation.js';
import type { Context } from '../series/context.js';
import type { Hypothesis, Outcome, Signature } from '../likelihoods.js';
import type { Explanation } from '../explanation.js';
import type { ChainStep, RuledOut } from '../verdict.js';

/**
 * One thing that can be wrong by itself, by topology index: whether a link carries, how fast it runs, whether a NIC's
 * host keeps up, who else loads a NIC, how a switch hashes, is set or routes, what waits in a circle, whether ranks stay on a host. Candidates compete where they explain the
 * same unit and nowhere else.
 */
export type Unit =
  `${'link' | 'speed' | 'host-side' | 'compute' | 'load' | 'hash' | 'setting' | 'loop' | 'routes' | 'placement'} ${number}`;

export interface Finding {
  signature: Signature;
  outcome: Outcome;
  /** Unit that the finding is about, where the candidate spans several. */
  unit?: Unit;
}

export interface Candidate {
  hypothesis: Hypothesis;
  element: ElementRef;
  direction: Direction;
  /** What this would explain. A candidate for several units competes with all that they would need without it. */
  covers: readonly Unit[];
  /** Links concerned, by index; the first is the link itself where the element is one. */
  links: readonly number[];
  /** Index of the NIC or device, where the element is one. */
  nic?: number;
  device?: number;
  /** Host ports whose traffic it can slow, where links, NIC and device do not tell. */
  reach?: readonly number[];
  findings: readonly Finding[];
  /** When traffic suffered by it, as far as seen. */
  during: Interval;
  /** When it began; null when it was there before the window, or can't be told. */
  onsetNs: number | null;
  /** Since when its own series differ, where that is before the time that it is blamed for. */
  changedNs?: number;
}

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
