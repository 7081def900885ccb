/** A parity check as a job summary for a pipeline or a comment on a change. */
import type { ParityResult } from '../../scoring/parity/parity.js';
import { markdownCode, markdownText } from '../common/escape.js';
import { table } from '../common/markdown-table.js';
import { cellsOf, COLUMNS, doubtsOf, headline, verdictSentence } from './format.js';
import type { ParityFormat, ParityReportOptions } from './format.js';

const MARK = { true: '✅', false: '❌', null: '➖' } as const;

function render(result: ParityResult, options: ParityReportOptions = {}): string {
  const rows = result.layers.map((layer) => {
    const cells = cellsOf(layer).map(markdownText);
    return [...cells.slice(0, -1), `${MARK[`${layer.agrees}`]} ${cells.at(-1)}`];
  });
  const lines = [
    `## fabricdrill ${markdownText(headline(result))}`,
    '',
    `**${result.verdict}**: ${markdownText(verdictSentence(result))}.`,
    '',
    ...table(
      COLUMNS.map((name) => name[0].toUpperCase() + name.slice(1)),
      rows,
    ),
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
