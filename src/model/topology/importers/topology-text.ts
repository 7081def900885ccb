/**
 * Reading the text format in which ns-3 based simulators pass topologies around.
 *
 * A header line of numbers, a line with the ids of the switches, then one line a link: `a b rate delay loss`. The
 * simulators read exactly as many links as the header says, and the HPCC simulator's own `mix/topology.txt` makes use of
 * that: rows of a larger network and an explanation of the format follow. So text and rows that name a node beyond
 * the header's are left unread, with a note. A further row between nodes of this network is a contradiction: either it or
 * the header is wrong, and it is refused. Sources: that file, and SimAI's topology generator.
 */
import { listChoices } from '../../../core/nearest.js';
import { InputError, type InputIssue } from '../../../core/problem.js';
import { parseDurationNs, parseRateGbps } from '../../../core/units.js';
import type { TopologySource } from '../topology-spec.js';

export type ExplicitSource = Extract<TopologySource, { builder: 'explicit' }>;

/** An imported fabric: a description to store, and what a reader should know about the import. */
export interface ImportedTopology {
  spec: ExplicitSource;
  notes: string[];
}

export interface TextLine {
  /** 1-based. */
  number: number;
  fields: string[];
}

/** A link as the file has it; ids are numbers, the rest is text with units, checked. */
export interface LinkRow {
  line: number;
  a: number;
  b: number;
  rate: string;
  delay: string;
  loss: number;
}

const MOST_ISSUES = 20;

/** Non-empty lines, split at white space. */
export function textLines(text: string): TextLine[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((line, index) => ({ number: index + 1, fields: line.trim().split(/\s+/) }))
    .filter(({ fields }) => fields[0] !== '');
}

/** An error about one line of the file. */
export const lineError = (line: number, message: string, hint?: string): InputError =>
  new InputError([
    hint === undefined ? { pointer: '', line, message } : { pointer: '', line, message, hint },
  ]);

/** A whole number, or undefined. */
export const wholeNumber = (text: string): number | undefined =>
  /^\d{1,9}$/.test(text) ? Number(text) : undefined;

/** Refuses a header whose nodes the links could not reach, before anything of that size is made. */
export function checkNodeCount(header: TextLine, nodes: number, links: number): void {
  if (nodes <= 2 * links) return;
  throw lineError(header.number, `${links} links can't connect ${nodes} nodes`);
}

/**
 * The ids on the line that lists the switches.
 *
 * @throws InputError when their number differs from the header's, or one is no node or named twice
 */
export function readSwitchIds(line: TextLine | undefined, expected: number, nodes: number): number[] {
  if (line === undefined)
    throw lineError(1, 'the file ends after the header; the line of switch ids is missing');
  if (line.fields.length !== expected) {
    throw lineError(line.number, `${line.fields.length} switch ids, but the header announces ${expected}`);
  }
  const seen = new Set<number>();
  return line.fields.map((field) => {
    const id = wholeNumber(field);
    if (id === undefined || id >= nodes) {
      throw lineError(line.number, `unknown node "${field}"; ids run from 0 to ${nodes - 1}`);
    }
    if (seen.has(id)) throw lineError(line.number, `switch ${id} is listed twice`);
    seen.add(id);
    return id;
  });
}

/**
 * The link rows, exactly as many as the header announces; a note when text follows.
 *
 * @throws InputError when header and rows contradict each other, else naming up to 20 bad lines
 */
export function readLinkRows(
  lines: readonly TextLine[],
  expected: number,
  nodes: number,
  notes: string[],
): LinkRow[] {
  checkRowCount(lines, expected, nodes);
  const own = lines.slice(0, expected);
  checkNodeIds(own, nodes);
  const issues: InputIssue[] = [];
  const rows: LinkRow[] = [];
  for (const line of own) {
    const row = readLinkRow(line, issues);
    if (row !== undefined) rows.push(row);
    if (issues.length >= MOST_ISSUES) break;
  }
  if (issues.length > 0) throw new InputError(issues);
  const rest = lines.slice(expected);
  if (rest.length > 0) {
    notes.push(
      `ignored ${rest.length} lines from line ${rest[0].number} on: they follow the ${expected} links announced and link none of the ${nodes} nodes`,
    );
  }
  notes.push(...repeatedLinks(rows));
  return rows;
}

/** @throws InputError with both numbers, at the first row too many or at the end of a file with too few */
function checkRowCount(lines: readonly TextLine[], expected: number, nodes: number): void {
  if (lines.length < expected) {
    throw lineError(
      (lines.at(-1)?.number ?? 2) + 1,
      `the file ends after ${lines.length} links, but the header announces ${expected}`,
      'the file is cut off, or the header is wrong',
    );
  }
  const ofTheseNodes = ({ fields }: TextLine): boolean =>
    fields.slice(0, 2).every((field) => (wholeNumber(field) ?? nodes) < nodes) && fields.length > 1;
  const more = lines.slice(expected).filter(ofTheseNodes);
  if (more.length === 0) return;
  throw lineError(
    more[0].number,
    `the header announces ${expected} links, but ${expected + more.length} follow; this is the first too many`,
    'correct the number in the first line, or remove the rows that do not belong here',
  );
}

/** @throws InputError for all nodes that the header does not have, at once: it is the header that is wrong, most likely */
function checkNodeIds(lines: readonly TextLine[], nodes: number): void {
  const beyond = lines.flatMap(({ number, fields }) =>
    fields.slice(0, 2).flatMap((field) => {
      const id = wholeNumber(field);
      return id !== undefined && id < nodes ? [] : [{ number, field }];
    }),
  );
  if (beyond.length === 0) return;
  const named = listChoices(new Set(beyond.map(({ field }) => `"${field}"`)), 4);
  const message = `unknown node ${named}; the header announces ${nodes} nodes: ids run from 0 to ${nodes - 1}`;
  throw lineError(beyond[0].number, message);
}

/** More of these would bury the others. */
const MOST_REPEATS_TOLD = 3;

/** A link that is written twice may be a slip or a second cable; it is taken for a cable, and said. */
function repeatedLinks(rows: readonly LinkRow[]): string[] {
  const firstLine = new Map<string, number>();
  const notes: string[] = [];
  for (const { a, b, line } of rows) {
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    const earlier = firstLine.get(key);
    if (earlier === undefined) firstLine.set(key, line);
    else
      notes.push(`line ${line} links nodes ${a} and ${b} as line ${earlier} does: kept as a parallel link`);
  }
  const left = notes.length - MOST_REPEATS_TOLD;
  return left <= 0 ? notes : [...notes.slice(0, MOST_REPEATS_TOLD), `and ${left} more parallel links`];
}

function readLinkRow(line: TextLine, issues: InputIssue[]): LinkRow | undefined {
  const { number, fields } = line;
  const before = issues.length;
  const fail = (message: string, hint?: string): void => {
    issues.push(
      hint === undefined
        ? { pointer: '', line: number, message }
        : { pointer: '', line: number, message, hint },
    );
  };
  if (fields.length !== 5) {
    fail(
      `${fields.length} fields; a link has 5: node, node, rate, delay, loss`,
      'as in: 0 320 100Gbps 1000ns 0',
    );
    return undefined;
  }
  const [a, b] = fields.slice(0, 2).map(Number);
  const [, , rate, delay, lossText] = fields;
  const gbps = parseRateGbps(rate);
  if (gbps === undefined || gbps <= 0) fail(`"${rate}" is no rate above 0`, 'as in 100Gbps');
  if (parseDurationNs(delay) === undefined) fail(`"${delay}" is no delay`, 'as in 1000ns or 0.001ms');
  const loss = /^[\d.]+(?:[eE]-?\d+)?$/.test(lossText) ? Number(lossText) : NaN;
  if (!(loss >= 0 && loss < 1)) fail(`"${lossText}" is no loss probability from 0 to below 1`);
  if (a === b) fail(`node ${a} is linked to itself`);
  return issues.length > before ? undefined : { line: number, a, b, rate, delay, loss };
}
