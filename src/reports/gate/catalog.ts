/** The catalogue of formats of a gate's result: one renderer a file, one line here. */
import { listChoices, nearestHint } from '../../kernel/nearest.js';
import { InputError } from '../../kernel/problem.js';
import type { GateFormat } from './format.js';
import { gateGithub } from './github.js';
import { gateJson } from './json.js';
import { gateJunit } from './junit.js';
import { gateMarkdown } from './markdown.js';
import { gateSarif } from './sarif.js';
import { gateText } from './text.js';

export const GATE_FORMATS: readonly GateFormat[] = [
  gateText,
  gateJson,
  gateJunit,
  gateMarkdown,
  gateSarif,
  gateGithub,
];

/** @throws InputError with the known formats for an unknown name */
export function gateFormat(name: string, pointer = ''): GateFormat {
  const found = GATE_FORMATS.find((format) => format.name === name);
  if (found !== undefined) return found;
  const names = GATE_FORMATS.map((format) => format.name);
  const message = `unknown format "${name}" for a gate; known: ${listChoices(names)}`;
  throw InputError.at(pointer, message, nearestHint(name, names));
}
