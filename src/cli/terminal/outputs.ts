/**
 * `--output FORMAT[=PATH]`, repeatable: to stdout, or to a file. What no output claims, stdout, gets text.
 *
 * Whether a file can be written is looked at before the run, and nothing is created before there is something to
 * write: a typing slip in a path must not cost a drill.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, parse, sep } from 'node:path';
import { Option } from 'commander';
import { InputError, type InputIssue } from '../../core/problem.js';
import { REPORT_FORMATS, reportFormat } from '../../reports/catalog.js';
import type { ReportFormat, ReportOptions } from '../../reports/common/report.js';
import type { Scorecard } from '../../scoring/scorecard.js';
import type { CommandContext } from '../context.js';
import { collect } from './flags.js';

export interface Output<Format = ReportFormat> {
  format: Format;
  /** Absolute; absent: stdout. */
  path?: string;
}

/** The option itself, as `run` and `runs report` take it. */
export const reportOption = (): Option =>
  new Option(
    '--output <format[=path]>',
    `${REPORT_FORMATS.map((format) => format.name).join(', ')}; with =path into a file; repeatable; text unless another goes to stdout`,
  ).argParser(collect);

/** @throws InputError for an unknown format, a path that can't be written, or two outputs in one place */
export const parseReportOutputs = (
  specifications: readonly string[] | undefined,
  toPath: (path: string) => string,
): Output[] => parseOutputs(specifications, toPath, (name) => reportFormat(name, '--output'));

/**
 * @param toFormat the format of a name; throws for an unknown one
 * @param otherwise what goes to stdout when nothing else does
 * @throws InputError for a path that can't be written, or two outputs in one place
 */
export function parseOutputs<Format>(
  specifications: readonly string[] | undefined,
  toPath: (path: string) => string,
  toFormat: (name: string) => Format,
  otherwise = 'text',
): Output<Format>[] {
  const outputs = (specifications ?? []).map((specification): Output<Format> => {
    const at = specification.indexOf('=');
    if (at < 0) return { format: toFormat(specification) };
    const format = toFormat(specification.slice(0, at));
    const written = specification.slice(at + 1);
    if (written === '') {
      const message = `"${specification}" has no path after "="`;
      throw InputError.at('--output', message, 'as in --output json=result.json');
    }
    const path = toPath(written);
    requireWritable(path, written);
    return { format, path };
  });
  if (outputs.every((output) => output.path !== undefined)) outputs.unshift({ format: toFormat(otherwise) });
  refuseSamePlace(outputs);
  return outputs;
}

function refuseSamePlace(outputs: readonly Output<unknown>[]): void {
  const places = outputs.map((output) => output.path);
  if (places.filter((path) => path === undefined).length > 1) {
    const hint = 'give the others a file, as in --output junit=result.xml';
    throw InputError.at('--output', 'only one format can go to stdout', hint);
  }
  const twice = places.find((path, index) => path !== undefined && places.indexOf(path) !== index);
  if (twice !== undefined) throw InputError.at('--output', `two formats would be written to ${twice}`);
}

/** Looks at the file, or at the folder that it and its missing parents would be made in. Creates nothing. */
function requireWritable(path: string, written: string): void {
  const fail = (why: string): never => {
    throw InputError.at('--output', `${written} can't be written: ${why}`);
  };
  if (path.endsWith(sep)) fail('this names a folder; a file is needed');
  let place = path;
  while (!existsSync(place) && place !== parse(place).root) place = dirname(place);
  const isFolder = statSync(place).isDirectory();
  if (place === path && isFolder) fail('this is a folder; a file is needed');
  if (place !== path && !isFolder) fail(`${place} is no folder`);
  try {
    accessSync(place, constants.W_OK);
  } catch (error) {
    fail((error as Error).message);
  }
}

/** Renders a scorecard to all outputs. @throws InputError when a file can't be written, after the others are */
export const writeOutputs = (
  outputs: readonly Output[],
  scorecard: Scorecard,
  options: ReportOptions,
  context: Pick<CommandContext, 'out' | 'note'>,
): void =>
  deliverAll(
    outputs,
    (format, atTerminal) =>
      format.render(scorecard, atTerminal ? options : { ...options, colour: false, width: undefined }),
    context,
  );

/**
 * Each result to its place: what one file can not take is no loss for the others.
 * @param render the text of a format; told whether it goes to stdout, which may be a terminal
 * @throws InputError when a file can't be written, after the others are
 */
export function deliverAll<Format extends string | { name: string }>(
  outputs: readonly Output<Format>[],
  render: (format: Format, atTerminal: boolean) => string,
  context: Pick<CommandContext, 'out' | 'note'>,
): void {
  const issues: InputIssue[] = [];
  for (const { format, path } of outputs) {
    const text = render(format, path === undefined);
    if (path === undefined) {
      context.out(text);
      continue;
    }
    try {
      makeFolder(dirname(path));
      writeFileSync(path, text);
      context.note(`${typeof format === 'string' ? format : format.name} report: ${path}`);
    } catch (error) {
      const message = `${path} can't be written: ${(error as Error).message}`;
      issues.push({ pointer: '--output', message });
    }
  }
  if (issues.length > 0) throw new InputError(issues);
}

/** Level by level: where a file system refuses new folders (/proc), Node 20's recursive mkdir never returns. */
function makeFolder(folder: string): void {
  const { root } = parse(folder);
  let made = root;
  for (const part of folder.slice(root.length).split(sep)) {
    made = join(made, part);
    try {
      if (!existsSync(made)) mkdirSync(made);
    } catch (error) {
      // another process may have made it meanwhile
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** How a page is to look on stdout: coloured, and as wide as the window, for a person at a terminal only. */
export const terminalLook = ({
  config,
}: Pick<CommandContext, 'config'>): Pick<ReportOptions, 'colour' | 'width'> =>
  process.stdout.isTTY ? { colour: config.colour, width: process.stdout.columns } : {};
