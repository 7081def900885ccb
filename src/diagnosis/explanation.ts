/**
 * A candidate with its probability: one element, one kind, the side and direction that the evidence supports.
 */
import type { CulpritKind, Side } from '../model/telemetry/vocabulary.js';
import type { Candidate } from './candidate.js';
import type { Outcome, Signature } from './likelihoods.js';

/** Hypothesis, findings, links and times are those of the most probable variant. */
export interface Explanation extends Candidate {
  kind: CulpritKind;
  side: Side;
  probability: number;
}

/** Outcome of the first finding with this signature. */
export function outcomeOf(culprit: Explanation, signature: Signature): Outcome {
  return culprit.findings.find((finding) => finding.signature === signature)?.outcome ?? 'unknown';
}

/** How many of the culprit's units show a signature. */
export function countPresent(culprit: Explanation, signature: Signature): number {
  return culprit.findings.filter(
    (finding) => finding.signature === signature && finding.outcome === 'present',
  ).length;
}
