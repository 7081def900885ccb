/**
 * The verdict: the answer to "why is this training run not at full speed?", in the shape of the stable interface.
 *
 * `faultFound` is three-valued: null means that the evidence does not suffice to say. Field names are snake or camel
 * case exactly as published; times are seconds from the run's start on the fabric's clock.
 */
import type { CulpritKind, Direction, ElementRef, Side } from '../model/telemetry/vocabulary.js';

export interface CitedEvidence {
  metric: string;
  /** Element id. */
  element: string;
  /** In words with numbers: `1 → 0`, `12.4 GB/s → 0`. */
  change: string;
  /** [from, to], seconds. */
  window: [number, number];
}

export interface Culprit {
  rank: number;
  kind: CulpritKind;
  element: ElementRef;
  side: Side;
  direction: Direction;
  onset_s: number | null;
  /** Share of all GPU time lost in the observed window that this culprit explains, 0..1; null when unknown. */
  lostTimeShare: number | null;
  probability: number;
  evidence: CitedEvidence[];
}

export interface ChainStep {
  element: ElementRef;
  claim: string;
  onset_s: number | null;
}

export interface RuledOut {
  kind: CulpritKind;
  element: ElementRef;
  why: string;
}

export interface Verdict {
  faultFound: boolean | null;
  /** One paragraph in plain words. */
  answer: string;
  shareExplained: number | null;
  /** Job names. */
  affectedJobs: string[];
  aggressors: ElementRef[];
  /** From the symptom down to the cause: job ← edge ← route ← port ← link or device; one after another per culprit. */
  chain: ChainStep[];
  ruledOut: RuledOut[];
  culprits: Culprit[];
}

/** A verdict that says who it was and no more; "no fault" without culprits, unless it says otherwise. */
export const plainVerdict = (
  culprits: Culprit[],
  faultFound: boolean | null = culprits.length > 0,
  answer = '',
): Verdict => ({
  faultFound,
  answer,
  shareExplained: null,
  affectedJobs: [],
  aggressors: [],
  chain: [],
  ruledOut: [],
  culprits,
});
