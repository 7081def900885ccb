/** `gate … --only EXPERIMENT --seed N`: both runs of one seed side by side, to look at what a verdict rests on. */
import { conductedSides } from '../../../drill/gate/both-sides.js';
import type { Execute } from '../../../drill/gate/conduct.js';
import type { CheckedGate } from '../../../drill/gate/gate-input.js';
import { GATE_FIGURES } from '../../../comparison/figures.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import type { CommandContext } from '../../context.js';
import { table } from '../../terminal/table.js';

/** Every figure that either side has; those that differ are marked. */
export async function replaySeed(
  gate: CheckedGate,
  seed: number,
  execute: Execute,
  context: CommandContext,
): Promise<ExitCode> {
  const told = (value: number | null | undefined): string =>
    value === null || value === undefined ? '-' : String(Number(value.toPrecision(6)));
  const lines: string[][] = [];
  for (const { experiment, baseline, candidate } of await conductedSides(gate, seed, execute)) {
    for (const { path, unit } of GATE_FIGURES) {
      const [before, after] = [told(baseline.figures?.[path]), told(candidate.figures?.[path])];
      if (before === '-' && after === '-') continue;
      lines.push([experiment, path, before, after, unit, before === after ? '' : 'differs']);
    }
    for (const [side, { problem }] of Object.entries({ baseline, candidate })) {
      if (problem !== undefined) context.note(`${experiment} on the ${side}: ${problem}`);
    }
  }
  context.out(`${table(['experiment', 'figure', 'baseline', 'candidate', 'unit', ''], lines)}\n`);
  return EXIT.passed;
}
