/**
 * `--output FORMAT[=PATH]`, repeatable: to stdout, or to a file.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from '../kernel/problem.js';
import { reportFormat } from '../reports/catalog.js';
import type { ReportFormat, ReportOptions } from '../reports/shared/report.js';
import type { Scorecard } from '../scoring/scorecard.js';
import type { CommandContext } from './context.js';

export interface Output {
  format: ReportFormat;
  /** Absent: stdout. */
  path?: string;
}

/** @throws InputError for an unknown format, an empty path, or two outputs on stdout */
export function parseOutputs(specifications: readonly string[], toPath: (path: string) => string): Output[] {
  const outputs = (specifications.length === 0 ? ['text'] : specifications).map((specification): Output => {
    const at = specification.indexOf('=');
    if (at < 0) return { format: reportFormat(specification, '--output') };
    const path = specification.slice(at + 1);
    if (path === '')
      throw InputError.at(
        '--output',
        `"${specification}" has no path after "="`,
        'as in --output json=result.json',
      );
    return { format: reportFormat(specification.slice(0, at), '--output'), path: toPath(path) };
  });
  if (outputs.filter((output) => output.path === undefined).length > 1) {
    throw InputError.at(
      '--output',
      'only one format can go to stdout',
      'give the others a file, as in --output junit=result.xml',
    );
  }
  return outputs;
}

/** Renders a scorecard to all outputs. @throws InputError when a file can't be written */
export function writeOutputs(
  outputs: readonly Output[],
  scorecard: Scorecard,
  options: ReportOptions,
  context: CommandContext,
): void {
  for (const { format, path } of outputs) {
    if (path === undefined) {
      context.out(format.render(scorecard, options));
      continue;
    }
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, format.render(scorecard, { ...options, colour: false }));
    } catch (error) {
      throw InputError.at('--output', `${path} can't be written: ${(error as Error).message}`);
    }
    context.note(`${format.name} report: ${path}`);
  }
}

/** Commander collector for a repeatable option. */
export const collect = (value: string, earlier: string[]): string[] => [...earlier, value];

/** Colour only for a person at a terminal. */
export const wantsColour = (context: CommandContext): boolean =>
  process.stdout.isTTY && context.config.colour;
