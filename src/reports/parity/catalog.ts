/** The formats of a parity check. */
import type { ParityFormat } from './format.js';
import { parityJson } from './json.js';
import { parityJunit } from './junit.js';
import { parityMarkdown } from './markdown.js';
import { parityText } from './text.js';

export const PARITY_FORMATS: readonly ParityFormat[] = [parityText, parityJson, parityMarkdown, parityJunit];
