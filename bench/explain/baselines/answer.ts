/**
 * What a baseline answers: suspects, the likeliest first, put into the form that the scores read.
 *
 * Baselines see what the diagnosis sees and are graded by the same code. They claim no onset, no share and no evidence.
 */
import type { DiagnosisInput, Verdict } from '../../../src/diagnosis/index.js';
import { plainVerdict } from '../../../src/diagnosis/verdict.js';
import type { Prng } from '../../../src/core/prng.js';
import type { CulpritKind, ElementRef, Side } from '../../../src/model/telemetry/vocabulary.js';

export interface Suspect {
  kind: CulpritKind;
  element: ElementRef;
  side?: Side;
  probability?: number;
}

export type Baseline = (input: DiagnosisInput, random: Prng) => readonly Suspect[];

/** No suspect means "no fault". */
export const verdictOf = (suspects: readonly Suspect[]): Verdict =>
  plainVerdict(
    suspects.map(({ kind, element, side = 'unknown', probability = 0.5 }, index) => ({
      rank: index + 1,
      kind,
      element,
      side,
      direction: 'both',
      onset_s: null,
      lostTimeShare: null,
      probability,
      evidence: [],
    })),
  );
