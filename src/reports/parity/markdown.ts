/** A parity check as a job summary for a pipeline or a comment on a change. */
import type { ParityResult } from '../../scoring/parity.js';
import { markdownCode, markdownText } from '../common/escape.js';
import { table } from '../common/markdown-table.js';
import {
  agreementText,
  differenceText,
  doubtsOf,
  headline,
  sideText,
  toleranceText,
  verdictSentence,
  type ParityFormat,
  type ParityReportOptions,
} from './format.js';

const MARK = { true: '✅', false: '❌', null: '➖' } as const;

function render(result: ParityResult, options: ParityReportOptions = {}): string {
  const rows = result.layers.map((layer) => [
    markdownText(layer.label),
    markdownText(sideText(layer.predicted, layer.unit)),
    markdownText(sideText(layer.measured, layer.unit)),
    markdownText(differenceText(layer)),
    markdownText(toleranceText(layer)),
    `${MARK[`${layer.agrees}`]} ${agreementText(layer)}`,
  ]);
  const lines = [
    `## fabricdrill ${markdownText(headline(result))}`,
    '',
    `**${result.verdict}**: ${markdownText(verdictSentence(result))}.`,
    '',
    ...table(['Layer', 'Predicted', 'Measured', 'Off by', 'Allowed', 'Result'], rows),
    ...doubtsOf(result).flatMap((doubt) => [`**In doubt**: ${markdownText(doubt)}`, '']),
    ...result.targets.map(
      ({ seed, elements }) =>
        `- seed ${seed}: ${elements.map((element) => markdownCode(element)).join(', ')}`,
    ),
    ...(options.command === undefined ? [] : ['', `Reproduce: ${markdownCode(options.command)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

export const parityMarkdown: ParityFormat = { name: 'markdown', render };
