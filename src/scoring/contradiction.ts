/**
 * Objectives that no figure could meet together, such as `recovery.score >= 90` and `recovery.score < 50`: a slip of the pen
 * that would decide before anything was measured.
 *
 * Judged for one metric at a time. Not modelled: metrics that depend on one another, whole numbers.
 */
import type { InputIssue } from '../core/problem.js';
import { meetsObjective, parseObjective, type ComparableMetric, type Objective } from './objectives.js';

type Comparison = Objective<ComparableMetric>;

/** @returns the two that can't both be met; undefined when some figure meets all */
export function contradiction(objectives: readonly Comparison[]): [Comparison, Comparison] | undefined {
  for (const [at, one] of objectives.entries()) {
    const other = objectives.slice(0, at).find((before) => exclude(before, one));
    if (other !== undefined) return [other, one];
  }
  return undefined;
}

/** Figures between two thresholds all pass or all fail, so one of each kind is enough to try. */
export function exclude(one: Comparison, other: Comparison): boolean {
  if (one.metric.path !== other.metric.path) return false;
  const [low, high] = one.metric.range;
  const edges = [low, one.threshold, other.threshold, Math.min(high, Number.MAX_VALUE)].sort((a, b) => a - b);
  const between = edges.slice(1).map((edge, at) => edges[at] / 2 + edge / 2);
  const tries = one.metric.kind === 'boolean' ? [0, 1] : [...edges, ...between];
  return !tries.some((value) => meetsObjective(one, value) && meetsObjective(other, value));
}

/**
 * One issue at most, at the later of the two.
 * @param expressions that parse, each with its place in the document
 */
export function contradictionIssue(
  expressions: readonly { expression: string; pointer: string }[],
): InputIssue[] {
  const found = contradiction(expressions.map(({ expression }) => parseObjective(expression)));
  if (found === undefined) return [];
  const [one, other] = found.map(({ expression }) => expression);
  const at = expressions.findLast(({ expression }) => expression.trim() === other)!;
  const message = `no figure meets both "${one}" and "${other}"`;
  return [{ pointer: at.pointer, message, hint: 'leave one out' }];
}
