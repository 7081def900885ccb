/**
 * The catalogue of report formats, of runs, gates, parity checks and game days: one renderer a file, one line here. `--output` and the REST
 * report route read it.
 */
import { InputError } from '../core/problem.js';
import { listChoices, nearestHint } from '../core/nearest.js';
import type { ReportFormat } from './common/report.js';
import type { DocumentFormat } from './document/format.js';
import { documentHtml } from './document/html.js';
import { documentMarkdown } from './document/markdown.js';
import type { GateFormat } from './gate/format.js';
import { gateGithub } from './gate/github.js';
import { gateJson } from './gate/json.js';
import { gateJunit } from './gate/junit.js';
import { gateMarkdown } from './gate/markdown.js';
import { gateSarif } from './gate/sarif.js';
import { gateText } from './gate/text.js';
import { json } from './json.js';
import { junit } from './junit.js';
import { markdown } from './markdown.js';
import type { ParityFormat } from './parity/format.js';
import { parityJson } from './parity/json.js';
import { parityJunit } from './parity/junit.js';
import { parityMarkdown } from './parity/markdown.js';
import { parityText } from './parity/text.js';
import { text } from './text.js';

export const REPORT_FORMATS: readonly ReportFormat[] = [text, json, junit, markdown];

export const GATE_FORMATS: readonly GateFormat[] = [
  gateText,
  gateJson,
  gateJunit,
  gateMarkdown,
  gateSarif,
  gateGithub,
];

export const PARITY_FORMATS: readonly ParityFormat[] = [parityText, parityJson, parityMarkdown, parityJunit];

/** Of what people read, such as a game day's report. */
export const DOCUMENT_FORMATS: readonly DocumentFormat[] = [documentMarkdown, documentHtml];

/**
 * @param pointer JSON pointer or flag that named the format
 * @throws InputError with the known formats for an unknown name
 */
export function reportFormat(name: string, pointer = ''): ReportFormat {
  return formatOf(REPORT_FORMATS, name, `unknown report format "${name}"`, pointer);
}

/** @throws InputError with the known formats for an unknown name */
export function gateFormat(name: string, pointer = ''): GateFormat {
  return formatOf(GATE_FORMATS, name, `unknown format "${name}" for a gate`, pointer);
}

/** @throws InputError with the known formats for an unknown name */
export function parityFormat(name: string, pointer = ''): ParityFormat {
  return formatOf(PARITY_FORMATS, name, `unknown format "${name}" for a parity check`, pointer);
}

function formatOf<T extends { name: string }>(
  formats: readonly T[],
  name: string,
  problem: string,
  pointer: string,
): T {
  const found = formats.find((format) => format.name === name);
  if (found !== undefined) return found;
  const names = formats.map((format) => format.name);
  throw InputError.at(pointer, `${problem}; known: ${listChoices(names)}`, nearestHint(name, names));
}
