/** A gate's result as a job summary or a comment on a change: the verdict first, then what did not pass, then all. */
import type { GateResult } from '../../comparison/result.js';
import { markdownCode, markdownText } from '../common/escape.js';
import { table } from '../common/markdown-table.js';
import {
  amount,
  headline,
  replayOf,
  told,
  troubles,
  VERDICT_SENTENCES,
  worseBy,
  type GateFormat,
  type GateReportOptions,
} from './format.js';

const MARK = { none: '✅ none', regression: '❌ regression', inconclusive: '➖ inconclusive' } as const;
/** GitHub takes a mebibyte for a step; this is far below. */
const TROUBLES_MAX = 30;

function trouble(result: GateResult, options: GateReportOptions): string[] {
  const all = troubles(result);
  const lines = all.slice(0, TROUBLES_MAX).flatMap(({ objective, cell }) => {
    const replay = replayOf(cell, options);
    return [
      `- **${cell.verdict}** ${markdownCode(objective.name)} in ${markdownCode(cell.experiment)}: ${markdownText(told(cell, objective))}`,
      ...(replay === undefined ? [] : [`  - seed ${cell.worstSeed}: ${markdownCode(replay)}`]),
    ];
  });
  const left = all.length - TROUBLES_MAX;
  return [
    ...lines,
    ...(left > 0 ? [`- and ${left} more in the JSON report`] : []),
    ...(all.length > 0 ? [''] : []),
  ];
}

function render(result: GateResult, options: GateReportOptions = {}): string {
  const { gate, verdict, objectives, differences, notes } = result;
  const rows = objectives.flatMap((objective) =>
    objective.experiments.map((cell) => [
      MARK[cell.verdict],
      markdownCode(objective.name),
      markdownCode(cell.experiment),
      markdownText(amount(cell.meanBaseline, objective)),
      markdownText(amount(cell.meanCandidate, objective)),
      markdownText(worseBy(cell, objective)),
      String(cell.seeds),
    ]),
  );
  const lines = [
    `## fabricdrill gate ${markdownText(headline(result))}`,
    '',
    `**${verdict}**: ${VERDICT_SENTENCES[verdict]}.`,
    '',
    ...trouble(result, options),
    ...table(['Verdict', 'Objective', 'Experiment', 'Baseline', 'Candidate', 'Worse by', 'Seeds'], rows),
    ...notes.flatMap((note) => [`**Note**: ${markdownText(note)}`, '']),
    ...(differences.length === 0
      ? []
      : [
          '<details>',
          '<summary>What differs</summary>',
          '',
          ...differences.map((line) => `- ${markdownCode(line)}`),
          '',
          '</details>',
          '',
        ]),
    `Level ${gate.alpha}, up to ${gate.seeds} seeds from ${gate.firstSeed}, version ${markdownText(gate.version)}.`,
    ...(options.command === undefined ? [] : ['', `Reproduce: ${markdownCode(options.command)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

export const gateMarkdown: GateFormat = {
  name: 'markdown',
  extension: 'md',
  mediaType: 'text/markdown',
  summary: 'a job summary for a pipeline or a comment on a change, verdict first',
  render,
};
