/**
 * Laying out text for a terminal: wrapping, bars and colour.
 *
 * Width is counted in code points. Not modelled: double-width (CJK) and combining characters, which the names of
 * fabrics and metrics do not use; such a line may stick out.
 */

export type Colour = 'red' | 'green' | 'yellow' | 'bold' | 'dim';
export type Paint = (colour: Colour, text: string) => string;

const CODES: Record<Colour, number> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** Paints with SGR codes, or leaves text alone. */
export const painter =
  (enabled: boolean): Paint =>
  (colour, text) =>
    enabled ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;

export const textWidth = (text: string): number => [...text].length;

export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - textWidth(text)));

/** Cuts a word that is longer than a line, so that no line ever exceeds the width. */
function splitLong(word: string, width: number): string[] {
  const characters = [...word];
  if (characters.length <= width) return [word];
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += width) {
    pieces.push(characters.slice(start, start + width).join(''));
  }
  return pieces;
}

/**
 * Wraps at blanks; the first line starts with `first`, the others with blanks of the same width (or `hang`).
 * @param width columns of the whole line, prefix included
 */
export function wrap(text: string, width: number, first = '', hang = ' '.repeat(textWidth(first))): string[] {
  const lines: string[] = [];
  let line = first;
  let empty = true;
  const room = Math.max(1, width - Math.max(textWidth(first), textWidth(hang)));
  for (const word of text.split(' ').flatMap((part) => (part === '' ? [] : splitLong(part, room)))) {
    if (!empty && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line);
      line = hang;
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  lines.push(line.trimEnd());
  return lines;
}

/** A bar of `columns` cells for a score of 0 to 100; dotted when the score is not known. */
export function bar(score: number | null, columns: number): string {
  if (score === null) return '·'.repeat(columns);
  const full = Math.floor((Math.min(100, Math.max(0, score)) / 100) * columns);
  return '█'.repeat(full) + '░'.repeat(columns - full);
}
