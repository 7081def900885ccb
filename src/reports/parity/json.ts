/** A parity check as a machine reads it, raw readings of every run included. */
import type { ParityFormat } from './format.js';

export const parityJson: ParityFormat = {
  name: 'json',
  render: (result, { command } = {}) =>
    `${JSON.stringify({ ...result, command: command ?? null }, null, 2)}\n`,
};
