/**
 * The contract of a renderer of gate results: result in, text out, nothing else looked at.
 *
 * As with scorecards the caller says which commands replay a gate or one seed of it, since only the caller knows the
 * paths. Text that comes from files is hostile to a format until its renderer has escaped it.
 */
import type { CellResult, GateResult, GateVerdict, ObjectiveVerdict } from '../../comparison/result.js';
import { formatNumber, formatPercent } from '../common/words.js';

export interface GateReportOptions {
  colour?: boolean;
  width?: number;
  /** The suite's file as the user named it, for reports that point into it. */
  file?: string;
  /** The one command that runs the whole gate again. */
  command?: string;
  /** The one command that runs one experiment with one seed on both fabrics. */
  replay?: (experiment: string, seed: number) => string;
}

export interface GateFormat {
  /** As `--output` takes it. */
  name: string;
  extension: string;
  mediaType: string;
  summary: string;
  render(result: GateResult, options?: GateReportOptions): string;
}

export const VERDICT_SENTENCES: Record<GateVerdict, string> = {
  regression: 'the candidate is worse than the baseline by more than it may be',
  inconclusive: 'it is not shown that the candidate is as good as it must be',
  none: 'the candidate is as good as it must be',
};

/** How a person calls the outcome of a gate. */
export const OUTCOME: Record<GateVerdict, string> = {
  regression: 'failed',
  inconclusive: 'inconclusive',
  none: 'passed',
};

/** A figure with the objective's unit; shares as per cent. */
export function amount(value: number | null, { unit }: Pick<ObjectiveVerdict, 'unit'>): string {
  if (value === null) return 'not known';
  if (unit === 'share') return formatPercent(value);
  return unit === '' ? formatNumber(value) : `${formatNumber(value)} ${unit}`;
}

/** `5.2 (4 to 6.1)`, by how much the candidate is worse. */
export function worseBy({ worseBy: interval }: CellResult, objective: ObjectiveVerdict): string {
  if (interval === null) return '';
  const { mean, low, high } = interval;
  if (low === high) return amount(mean, objective);
  return `${amount(mean, objective)} (${amount(low, objective)} to ${amount(high, objective)})`;
}

/** `worse by 5.2 (4 to 6.1)`; what is better on average is said as that, its interval turned round. */
export function comparedWith(cell: CellResult, objective: ObjectiveVerdict): string {
  const { worseBy: interval } = cell;
  if (interval === null) return '';
  if (interval.mean === 0 && interval.low === interval.high) return 'no difference';
  if (interval.mean >= 0) return `worse by ${worseBy(cell, objective)}`;
  const turned = { mean: -interval.mean, low: -interval.high, high: -interval.low };
  return `better by ${worseBy({ ...cell, worseBy: turned }, objective)}`;
}

/** One sentence with everything: the metric, the raw figures of both sides, and why that is a verdict. */
export function told(cell: CellResult, objective: ObjectiveVerdict): string {
  const { meanBaseline, meanCandidate, reason } = cell;
  if (meanCandidate === null) return `${objective.metric}: ${reason}`;
  const after = amount(meanCandidate, objective);
  const figures =
    meanBaseline === null ? `${after} on average` : `${amount(meanBaseline, objective)} → ${after}`;
  return `${objective.metric} ${figures}: ${reason}`;
}

/** What does one seed of a comparison again; undefined where none was run. */
export function replayOf(
  { experiment, worstSeed }: CellResult,
  options: GateReportOptions,
): string | undefined {
  if (worstSeed === null) return undefined;
  return options.replay?.(experiment, worstSeed) ?? `experiment ${experiment}, seed ${worstSeed}`;
}

/** Comparisons that did not pass, worst first, with their objectives. */
export function troubles({ objectives }: GateResult): { objective: ObjectiveVerdict; cell: CellResult }[] {
  const all = objectives.flatMap((objective) => objective.experiments.map((cell) => ({ objective, cell })));
  return (['regression', 'inconclusive'] as const).flatMap((verdict) =>
    all.filter(({ cell }) => cell.verdict === verdict),
  );
}

export const headline = ({ gate, verdict }: GateResult): string =>
  `${OUTCOME[verdict]}: ${gate.suite}, ${gate.candidate} beside ${gate.baseline}`;
