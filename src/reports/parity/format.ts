/**
 * The contract of a renderer of parity results, and the words that all of them share.
 *
 * As with scorecards: pure, and the caller says which command does it again.
 */
import { gradeOf, type LayerComparison, type ParityResult, type Side } from '../../scoring/parity/parity.js';
import { formatNumber, UNKNOWN } from '../common/words.js';

export interface ParityReportOptions {
  colour?: boolean;
  width?: number;
  /** The one command that does the same again. */
  command?: string;
}

export interface ParityFormat {
  /** As `--output` takes it. */
  name: string;
  render(result: ParityResult, options?: ParityReportOptions): string;
}

const KINDS = { nothing: 'nothing', never: 'never', unknown: UNKNOWN } as const;

/** `0.12 s`, `0.12 s (0.1 to 0.15 s)` of several runs, `nothing`, `never` or `not known`. */
export function sideText({ is, value, low, high, runs, of }: Side, unit: string): string {
  const some = runs === of || is === 'unknown' ? '' : `, ${runs} of ${of}`;
  if (is !== 'measured') return `${KINDS[is]}${some}`;
  const interval = low === high ? '' : ` (${formatNumber(low!)} to ${formatNumber(high!)})`;
  return `${formatNumber(value!)} ${unit}${interval}${some}`;
}

/** By how much the twin was off; paces as a share of what was measured. */
export const differenceText = ({ difference, measured, unit }: LayerComparison): string =>
  difference === null ? '' : `${difference > 0 ? '+' : ''}${amount(difference, measured, unit)}`;

export const toleranceText = ({ tolerance, measured, unit }: LayerComparison): string =>
  tolerance === null ? '' : `± ${amount(tolerance, measured, unit)}`;

const amount = (value: number, { value: measured }: Side, unit: string): string =>
  unit === 's' || !measured
    ? `${formatNumber(value)} ${unit}`
    : `${formatNumber((100 * value) / Math.abs(measured))} %`;

export function agreementText(layer: LayerComparison): string {
  const grade = gradeOf(layer);
  return grade === null ? UNKNOWN : `${layer.agrees === true ? 'agrees' : 'differs'}, ${grade}`;
}

/** `A`, `A at best` while something is not known, or `none`. */
function gradeText({ trust }: ParityResult): string {
  if (trust.grade === null) return 'none';
  return trust.unknown.length === 0 || trust.grade === 'D' ? trust.grade : `${trust.grade} at best`;
}

const labelsOf = (result: ParityResult, names: readonly string[]): string =>
  result.layers.flatMap(({ layer, label }) => (names.includes(layer) ? [label] : [])).join(', ');

/** What the grade means, in a sentence or two. */
export function verdictSentence(result: ParityResult): string {
  const { trust, verdict, layers } = result;
  const unknown = trust.unknown.length === 0 ? '' : `; not known: ${labelsOf(result, trust.unknown)}`;
  const off = layers.filter(({ agrees }) => agrees === false).map(({ layer }) => layer);
  const said =
    off.length === 0
      ? trust.grade === null
        ? 'nothing could be compared'
        : 'what is known of the twin is within its tolerances'
      : `the twin was off in ${labelsOf(result, off)}`;
  const doubted =
    verdict === 'inconclusive' && trust.unknown.length === 0
      ? '; runs are in doubt, so it proves nothing'
      : '';
  return `${said}${unknown}${doubted}`;
}

/** Why figures of runs prove nothing, and states other than the usual. */
export const doubtsOf = ({ predicted, measured }: ParityResult): string[] =>
  [predicted, measured].flatMap(({ fabric, runs }) =>
    runs.flatMap(({ seed, doubts }) => doubts.map((doubt) => `${fabric}, seed ${seed}: ${doubt}`)),
  );

export const headline = (result: ParityResult): string =>
  `parity ${gradeText(result)}: ${result.experiment}, ${result.predicted.fabric} for ${result.measured.fabric}`;

export const COLUMNS = ['layer', 'predicted', 'measured', 'off by', 'allowed', 'result'] as const;

/** A layer as a row of these columns. */
export const cellsOf = (layer: LayerComparison): string[] => [
  layer.label,
  sideText(layer.predicted, layer.unit),
  sideText(layer.measured, layer.unit),
  differenceText(layer),
  toleranceText(layer),
  agreementText(layer),
];
