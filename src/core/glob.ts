/**
 * Name patterns as operators write them: `host-*`, `leaf-?`, `host-[1-4,9]` (the ranges of Slurm host lists).
 *
 * `*` is any run of characters, `?` one character, `[a-b,c]` a whole decimal number in one of the ranges. Matching is
 * case-sensitive, covers the whole name and takes time proportional to name × pattern at worst, so that a hostile
 * pattern can't stall a server (a regular expression could). Not supported: character classes, `**`, escapes.
 */

import { InputError } from './problem.js';

type Token =
  | { kind: 'literal'; text: string }
  | { kind: 'one' }
  | { kind: 'many' }
  | { kind: 'number'; ranges: Range[] };
type Range = readonly [from: number, to: number];

function parseRanges(text: string): Range[] | undefined {
  const ranges: Range[] = [];
  for (const part of text.split(',')) {
    const match = /^\s*(\d{1,9})(?:-(\d{1,9}))?\s*$/.exec(part);
    if (match === null) return undefined;
    const from = Number(match[1]);
    const to = match[2] === undefined ? from : Number(match[2]);
    if (to < from) return undefined;
    ranges.push([from, to]);
  }
  return ranges;
}

function tokenize(pattern: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index];
    if (character === '*') tokens.push({ kind: 'many' });
    else if (character === '?') tokens.push({ kind: 'one' });
    else if (character === '[') {
      const end = pattern.indexOf(']', index);
      const ranges = end < 0 ? undefined : parseRanges(pattern.slice(index + 1, end));
      if (ranges === undefined) return undefined;
      tokens.push({ kind: 'number', ranges });
      index = end;
    } else tokens.push({ kind: 'literal', text: character });
  }
  return tokens;
}

const isDigit = (character: string): boolean => character >= '0' && character <= '9';

/** Characters that the token takes at this place of the name; -1 when it does not fit. */
function take(token: Token, name: string, at: number): number {
  if (token.kind === 'one') return at < name.length ? 1 : -1;
  if (token.kind === 'literal') return name[at] === token.text ? 1 : -1;
  if (token.kind === 'many') return 0;
  let end = at;
  while (end < name.length && isDigit(name[end])) end++;
  if (end === at) return -1;
  const value = Number(name.slice(at, end));
  return token.ranges.some(([from, to]) => value >= from && value <= to) ? end - at : -1;
}

function matches(tokens: readonly Token[], name: string): boolean {
  let at = 0;
  let token = 0;
  let starToken = -1;
  let starAt = 0;
  for (;;) {
    if (token === tokens.length && at === name.length) return true;
    if (token < tokens.length && tokens[token].kind === 'many') {
      starToken = token++;
      starAt = at;
      continue;
    }
    const taken = token < tokens.length ? take(tokens[token], name, at) : -1;
    if (taken > 0) {
      at += taken;
      token++;
    } else {
      // Only the last star needs to be tried again: an earlier one could not reach further than this one does.
      if (starToken < 0 || starAt >= name.length) return false;
      token = starToken + 1;
      at = ++starAt;
    }
  }
}

/** A matcher for the pattern, or undefined when a bracket is not a list of number ranges. */
export function compileGlob(pattern: string): ((name: string) => boolean) | undefined {
  const tokens = tokenize(pattern);
  return tokens === undefined ? undefined : (name) => matches(tokens, name);
}

/** Whether the text has anything that makes it more than a plain name. */
export const isGlob = (text: string): boolean => /[*?[]/.test(text);

/** What each of many elements is compared with. */
const MOST_PATTERNS = 256;
const LONGEST_PATTERN = 1000;

/**
 * Refuses lists that would take minutes to compare with the elements of a large fabric; plain names may be many.
 * @throws InputError with the pointer of the list, or of the pattern that is too long
 */
export function checkPatternCount(names: readonly string[], pointer: string): void {
  const long = names.findIndex((name) => name.length > LONGEST_PATTERN);
  if (long >= 0) {
    const message = `a name or pattern has at most ${LONGEST_PATTERN} characters; this one has ${names[long].length}`;
    throw InputError.at(`${pointer}/${long}`, message);
  }
  const patterns = names.filter(isGlob).length;
  if (patterns <= MOST_PATTERNS) return;
  const message = `${patterns} patterns; at most ${MOST_PATTERNS} are possible`;
  throw InputError.at(pointer, message, 'brackets hold many numbers, as in host-[1-4,9]');
}
