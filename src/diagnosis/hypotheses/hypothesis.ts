/**
 * What a hypothesis file hands to the ranking: one candidate per way the element may have failed, with its findings.
 *
 * Candidates of one element and kind that differ in side or direction only are one culprit; their probabilities add.
 */
import type { Direction, ElementRef } from '../../telemetry/vocabulary.js';
import type { Interval } from '../features/context.js';
import type { DeviceObservation } from '../features/device-observation.js';
import type { LinkObservation } from '../features/link-observation.js';
import type { Context } from '../features/context.js';
import type { Hypothesis, Outcome, Signature } from '../likelihoods.js';

export interface Finding {
  signature: Signature;
  outcome: Outcome;
  /** Link that the finding is about, where the candidate spans several. */
  link?: number;
}

export interface Candidate {
  hypothesis: Hypothesis;
  element: ElementRef;
  direction: Direction;
  /** Links whose state this would explain. */
  links: readonly number[];
  /** Device that would be dead, for node-down. */
  device?: number;
  findings: readonly Finding[];
  /** When traffic suffered by it, as far as seen. */
  during: Interval;
  /** When it began; null when it was there before the window, or can't be told. */
  onsetNs: number | null;
}

export interface Observations {
  devices: readonly DeviceObservation[];
  links: readonly LinkObservation[];
}

/** One culprit family: what it would look like, element by element. */
export type Hypothesise = (context: Context, observations: Observations) => Candidate[];

/** `true`, `false`, not known. */
export function outcome(seen: boolean | null): Outcome {
  if (seen === null) return 'unknown';
  return seen ? 'present' : 'absent';
}
