/**
 * One way in which one element may have failed, with what was found for and against it.
 */
import type { Direction, ElementRef } from '../model/telemetry/vocabulary.js';
import type { Hypothesis, Outcome, Signature } from './likelihoods.js';
import type { Interval } from './series/context.js';

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
  /** It stands out, and its own evidence says that nobody can have lost anything by it: a remark, and no suspect. */
  harmless?: true;
  /** Since when its own series differ, where that is before the time that it is blamed for. */
  changedNs?: number;
}

/** Those that can have cost somebody something; the others stand beside, and compete with nobody. */
export const suspects = (candidates: readonly Candidate[]): Candidate[] =>
  candidates.filter(({ harmless }) => harmless !== true);
