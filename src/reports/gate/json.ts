/** A gate's result as a machine reads it; keys in the published order. */
import type { GateResult } from '../../comparison/result.js';
import type { GateFormat, GateReportOptions } from './format.js';
import { replayOf } from './format.js';

function render(result: GateResult, options: GateReportOptions = {}): string {
  const { gate, verdict, objectives, differences, notes, run } = result;
  const document = {
    gate,
    verdict,
    objectives: objectives.map(({ experiments, file, line, ...objective }) => ({
      ...objective,
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
      experiments: experiments.map((cell) => ({ ...cell, replay: replayOf(cell, options) ?? null })),
    })),
    differences,
    notes,
    command: options.command ?? null,
    run,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

export const gateJson: GateFormat = {
  name: 'json',
  extension: 'json',
  mediaType: 'application/json',
  summary: 'all figures, as a machine reads them',
  render,
};
