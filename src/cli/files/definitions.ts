/**
 * Files named on the command line: `FILE`, `FILE#name`, and fabric references.
 *
 * A fabric REF is a path (it has a slash or ends in .yaml, .yml or .json), `path#name`, the name of a Fabric document
 * in the same file, or the name of a stored fabric. Files are read here and sent along; a server never reads paths.
 */
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { loadDefinitions, type Loaded, type LoadedFile } from '../../documents/load.js';
import type { Experiment } from '../../documents/experiment.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { GameDay } from '../../documents/game-day.js';
import type { Schedule } from '../../documents/schedule.js';
import type { Suite } from '../../documents/suite.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import { quoteArgument } from '../../reports/common/report.js';
import { readTextFile } from './text-file.js';

export interface ExperimentFile {
  /** As the user named it, `#name` included: what replays the experiment. */
  reference: string;
  /** As shown in errors. */
  file: string;
  experiment: Loaded<Experiment>;
  fabrics: Loaded<FabricDocument>[];
}

/** A fabric sent along with its document, or a stored one by name. */
export type FabricReference = { document: Loaded<FabricDocument> } | { stored: string };

type ToPath = (path: string) => string;

export const looksLikePath = (reference: string): boolean =>
  /[/\\]/.test(reference) || /\.(ya?ml|json)$/i.test(reference);

/** Reads and checks a definition file. @throws InputError when it can't be read or is invalid */
export function readDefinitions(path: string, shown: string): LoadedFile {
  const folder = dirname(path);
  // a file named in a file is shown as found from here, so that an editor opens it from the error
  const readText = (inner: string): string =>
    readTextFile(isAbsolute(inner) ? inner : resolve(folder, inner), shownBeside(shown, inner));
  return loadDefinitions(readTextFile(path, shown), readText, shown);
}

const shownBeside = (shown: string, inner: string): string =>
  isAbsolute(inner) || dirname(shown) === '.' ? inner : `${dirname(shown)}/${inner}`;

/** A file with the name that was asked for in it. */
export interface NamedFile {
  file: string;
  name?: string;
  loaded: LoadedFile;
}

/** Reads `FILE` or `FILE#name`, whatever it holds. */
export function readNamed(reference: string, toPath: ToPath): NamedFile {
  const { file, name } = splitReference(reference, toPath);
  return { file, name, loaded: readDefinitions(toPath(file), file) };
}

/** `FILE` or `FILE#name` to one experiment. @param read where it has been read already */
export function readExperiment(
  reference: string,
  toPath: ToPath,
  { file, name, loaded }: NamedFile = readNamed(reference, toPath),
): ExperimentFile {
  const experiment = pick(loaded.experiments, name, file, 'Experiment', loaded);
  return { reference, file, experiment, fabrics: loaded.fabrics };
}

/**
 * What an experiment runs on.
 * @param override the --fabric flag; relative to the working folder, the file's own reference to the file's folder
 */
export function resolveFabric(
  source: ExperimentFile,
  override: string | undefined,
  toPath: ToPath,
): FabricReference {
  const base: ToPath =
    override === undefined ? (path) => resolve(dirname(toPath(source.file)), path) : toPath;
  const reference = override ?? source.experiment.value.spec.fabric;
  const { file, name } = splitReference(reference, base);
  if (looksLikePath(file)) {
    const path = base(file);
    const shown = override === undefined ? relative(toPath('.'), path) : file;
    if (!existsSync(path)) throw missingFabricFile(source, override, file, path);
    return { document: pick(readDefinitions(path, shown).fabrics, name, shown, 'Fabric') };
  }
  const beside = source.fabrics.find((fabric) => fabric.value.metadata.name === reference);
  return beside === undefined ? { stored: reference } : { document: beside };
}

/**
 * A fabric named by a flag or an argument alone, without an experiment beside it.
 * @param where that flag or argument
 * @throws InputError there when the file is missing; at the file when it has no such fabric
 */
export function readFabricReference(reference: string, toPath: ToPath, where = '--fabric'): FabricReference {
  const { file, name } = splitReference(reference, toPath);
  if (!looksLikePath(file)) return { stored: reference };
  const path = toPath(file);
  if (!existsSync(path)) {
    throw InputError.at(where, `there is no file "${file}"`, `looked for ${path}`);
  }
  return { document: pick(readDefinitions(path, file).fabrics, name, file, 'Fabric') };
}

/** Points at what named the fabric: the flag, or the line in the experiment's file. */
function fabricIssue(
  source: ExperimentFile,
  override: string | undefined,
  issue: Omit<InputIssue, 'pointer'>,
): InputError {
  if (override !== undefined) return new InputError([{ pointer: '--fabric', ...issue }]);
  return new InputError(source.experiment.locate([{ pointer: '/spec/fabric', ...issue }]));
}

/** @param stored names of the stored fabrics, where they could be asked for */
export function unknownFabric(
  source: ExperimentFile,
  override: string | undefined,
  name: string,
  stored: readonly string[],
): InputError {
  const beside = source.fabrics.map((fabric) => fabric.value.metadata.name);
  const there = [
    stored.length === 0 ? 'none is stored' : `stored are ${listChoices(stored)}`,
    ...(beside.length === 0 ? [] : [`${source.file} has ${listChoices(beside)}`]),
  ];
  return fabricIssue(source, override, {
    message: `there is no fabric "${name}"; ${there.join(', ')}`,
    hint:
      nearestHint(name, [...stored, ...beside]) ??
      'a path of a fabric file has a slash in it or ends in .yaml',
  });
}

function missingFabricFile(
  source: ExperimentFile,
  override: string | undefined,
  file: string,
  path: string,
): InputError {
  return fabricIssue(source, override, {
    message: `there is no file "${file}"`,
    hint: `looked for ${path}`,
  });
}

/** A file whose own name has a `#` is taken for that file. */
export function splitReference(reference: string, toPath: ToPath): { file: string; name?: string } {
  const at = reference.lastIndexOf('#');
  if (at <= 0 || existsSync(toPath(reference))) return { file: reference };
  return { file: reference.slice(0, at), name: reference.slice(at + 1) };
}

/** What a file of another kind is for. */
const COMMANDS: [keyof LoadedFile, string, string][] = [
  ['experiments', 'Experiment', 'run FILE'],
  ['suites', 'Suite', 'gate FILE'],
  ['schedules', 'Schedule', 'schedules create FILE'],
  ['gameDays', 'GameDay', 'game-days start FILE'],
  ['fabrics', 'Fabric', 'run EXPERIMENT --fabric FILE'],
];

function commandOf(all: LoadedFile, file: string): string | undefined {
  const found = COMMANDS.find(([kinds]) => all[kinds].length > 0);
  if (found === undefined) return undefined;
  const [, kind, command] = found;
  return `it has a ${kind}: fabricdrill ${command.replace('FILE', quoteArgument(file))}`;
}

/**
 * The one document of a kind, or the one of a name.
 * @param all what else the file holds, so that whoever took the wrong command is told the right one
 * @throws InputError when there is none, or the choice is open
 */
export function pick<Kind extends Experiment | FabricDocument | Suite | Schedule | GameDay>(
  loaded: readonly Loaded<Kind>[],
  name: string | undefined,
  file: string,
  kind: Kind['kind'],
  all?: LoadedFile,
): Loaded<Kind> {
  const names = loaded.map((one) => one.value.metadata.name);
  const found = name === undefined ? loaded : loaded.filter((one) => one.value.metadata.name === name);
  if (found.length === 1) return found[0];
  const there = names.length === 0 ? `the file has none` : `the file has ${listChoices(names)}`;
  const message =
    name === undefined
      ? `one document of kind ${kind} is needed; ${there}`
      : `there is no document of kind ${kind} named "${name}"; ${there}`;
  const choose = names.length > 1 && name === undefined ? `choose one: ${file}#${names[0]}` : undefined;
  const other = names.length === 0 && all !== undefined ? commandOf(all, file) : undefined;
  const hint = choose ?? other ?? nearestHint(name ?? '', names);
  throw new InputError([{ pointer: '', file, message, ...(hint === undefined ? {} : { hint }) }]);
}
