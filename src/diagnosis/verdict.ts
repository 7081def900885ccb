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
  /** That this element is in trouble of this kind. */
  probability: number;
  evidence: CitedEvidence[];
}

/** What stands out, and cost nobody anything. */
export interface Remark {
  kind: CulpritKind;
  element: ElementRef;
  side?: Side;
  /** Left out where it was there before the window opened. */
  from_s?: number;
  /** Left out where it was there to the end of the window. */
  to_s?: number;
  /** One sentence. */
  text: string;
  evidence: CitedEvidence[];
}

/** Where the time goes, in the words of who is called first. `none`: nowhere; `unknown`: it can't be told. */
export const AREAS = ['network', 'host', 'job', 'storage', 'none', 'unknown'] as const;
export type Area = (typeof AREAS)[number];

/** What an operator asks first. */
export interface FirstLine {
  area: Area;
  probability: number;
  /** Whether the trouble lasts to the end of what was seen; null where there is none, or it can't be told. */
  ongoing: boolean | null;
  /** The next safe step: one that changes nothing that still works. */
  next: string;
  /** All of it in a line: area, what changed, who is hit, whether it is still on, the next step. */
  text: string;
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
  /** Left out by those who only say who it was. */
  firstLine?: FirstLine;
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
  /** Odd, but cost nothing. Left out by versions that knew none, as are the notes. */
  remarks?: Remark[];
  /** What the evidence itself has wrong, and how it was read: one sentence each. */
  notes?: string[];
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
