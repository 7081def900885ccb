/**
 * The catalogue of report formats: one renderer a file, one line here. `--output` and the REST report route read it.
 */
import { InputError } from '../kernel/problem.js';
import { listChoices, nearestHint } from '../kernel/nearest.js';
import { json } from './json.js';
import { junit } from './junit.js';
import { markdown } from './markdown.js';
import type { ReportFormat } from './shared/report.js';
import { text } from './text.js';

export const REPORT_FORMATS: readonly ReportFormat[] = [text, json, junit, markdown];

/**
 * @param pointer JSON pointer or flag that named the format
 * @throws InputError with the known formats for an unknown name
 */
export function reportFormat(name: string, pointer = ''): ReportFormat {
  const found = REPORT_FORMATS.find((format) => format.name === name);
  if (found !== undefined) return found;
  const names = REPORT_FORMATS.map((format) => format.name);
  throw InputError.at(
    pointer,
    `unknown report format "${name}"; known: ${listChoices(names)}`,
    nearestHint(name, names),
  );
}
