/**
 * A gate's result as workflow commands of GitHub Actions, which show as annotations on the lines of the suite.
 *
 * GitHub shows at most ten of a kind for a step, so only what did not pass is annotated, worst first, and what is beyond is
 * said in a last one. Escapes: `%`, CR and LF everywhere, `:` and `,` in properties too (actions/toolkit, command.ts).
 */
import type { GateResult } from '../../comparison/result.js';
import { headline, replayOf, told, troubles, type GateFormat, type GateReportOptions } from './format.js';

const ANNOTATIONS_MAX = 9;

const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

function render(result: GateResult, options: GateReportOptions = {}): string {
  const all = troubles(result);
  const lines = all.slice(0, ANNOTATIONS_MAX).map(({ objective, cell }) => {
    const command = cell.verdict === 'regression' ? 'error' : 'warning';
    const file = objective.file ?? options.file;
    const properties = [
      ...(file === undefined ? [] : [`file=${property(file)}`]),
      ...(objective.line === undefined ? [] : [`line=${objective.line}`]),
      `title=${property(`${cell.verdict}: ${objective.name}`)}`,
    ];
    const replay = replayOf(cell, options);
    const text = `${cell.experiment}: ${told(cell, objective)}${replay === undefined ? '' : `\nseed ${cell.worstSeed}: ${replay}`}`;
    return `::${command} ${properties.join(',')}::${data(text)}`;
  });
  const left = all.length - ANNOTATIONS_MAX;
  if (left > 0)
    lines.push(`::warning title=fabricdrill gate::${left} more did not pass; see the other reports`);
  if (all.length === 0) lines.push(`::notice title=fabricdrill gate::${data(headline(result))}`);
  return `${lines.join('\n')}\n`;
}

export const gateGithub: GateFormat = {
  name: 'github',
  extension: 'txt',
  mediaType: 'text/plain',
  summary: 'annotations of GitHub Actions, for its log',
  render,
};
