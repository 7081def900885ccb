/**
 * Files named on the command line: `FILE`, `FILE#name`, and fabric references.
 *
 * A fabric REF is a path (it has a slash or ends in .yaml, .yml or .json), `path#name`, the name of a Fabric document
 * in the same file, or the name of a stored fabric. Files are read here and sent along; a server never reads paths.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { loadDefinitions, type Loaded, type LoadedFile } from '../experiments/definition/load.js';
import type { Experiment } from '../experiments/definition/experiment.js';
import type { FabricDocument } from '../experiments/definition/fabric-document.js';
import { listChoices, nearestHint } from '../kernel/nearest.js';
import { InputError } from '../kernel/problem.js';

export interface ExperimentFile {
  /** As shown in errors. */
  file: string;
  experiment: Loaded<Experiment>;
  fabrics: Loaded<FabricDocument>[];
}

/** A fabric sent along with its document, or a stored one by name. */
export type FabricReference = { document: Loaded<FabricDocument> } | { stored: string };

const looksLikePath = (reference: string): boolean =>
  /[/\\]/.test(reference) || /\.(ya?ml|json)$/i.test(reference);

/** Reads and checks a definition file. @throws InputError when it can't be read or is invalid */
export function readDefinitions(path: string, shown: string): LoadedFile {
  const folder = dirname(path);
  const readText = (inner: string): string => {
    const innerPath = isAbsolute(inner) ? inner : resolve(folder, inner);
    return readText_(innerPath, inner);
  };
  return loadDefinitions(readText_(path, shown), readText, shown);
}

function readText_(path: string, shown: string): string {
  if (!existsSync(path)) {
    throw new InputError([
      { pointer: '', file: shown, message: 'there is no such file', hint: `looked for ${path}` },
    ]);
  }
  if (statSync(path).isDirectory()) {
    throw new InputError([{ pointer: '', file: shown, message: 'this is a folder; a file is needed' }]);
  }
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InputError([
      { pointer: '', file: shown, message: `can't be read: ${(error as Error).message}` },
    ]);
  }
}

/** `FILE` or `FILE#name` to one experiment. */
export function readExperiment(reference: string, toPath: (path: string) => string): ExperimentFile {
  const { file, name } = splitReference(reference);
  const loaded = readDefinitions(toPath(file), file);
  const experiment = pick(loaded.experiments, name, file, 'Experiment');
  return { file, experiment, fabrics: loaded.fabrics };
}

/**
 * What an experiment runs on.
 * @param override the --fabric flag; relative to the working folder, the file's own reference to the file's folder
 */
export function resolveFabric(
  source: ExperimentFile,
  override: string | undefined,
  toPath: (path: string) => string,
): FabricReference {
  const reference = override ?? source.experiment.value.spec.fabric;
  const { file, name } = splitReference(reference);
  if (looksLikePath(file)) {
    const path = override === undefined ? resolve(dirname(toPath(source.file)), file) : toPath(file);
    const shown = override === undefined ? relative(toPath('.'), path) : file;
    try {
      return { document: pick(readDefinitions(path, shown).fabrics, name, shown, 'Fabric') };
    } catch (error) {
      throw missingFile(error, path) && override === undefined
        ? new InputError(
            source.experiment.locate([
              { pointer: '/spec/fabric', message: `there is no file "${file}"`, hint: `looked for ${path}` },
            ]),
          )
        : error;
    }
  }
  const beside = source.fabrics.find((fabric) => fabric.value.metadata.name === reference);
  return beside === undefined ? { stored: reference } : { document: beside };
}

const missingFile = (error: unknown, path: string): boolean =>
  error instanceof InputError && !existsSync(path);

function splitReference(reference: string): { file: string; name?: string } {
  const at = reference.lastIndexOf('#');
  return at <= 0 ? { file: reference } : { file: reference.slice(0, at), name: reference.slice(at + 1) };
}

function pick<Kind extends Experiment | FabricDocument>(
  loaded: readonly Loaded<Kind>[],
  name: string | undefined,
  file: string,
  kind: Kind['kind'],
): Loaded<Kind> {
  const names = loaded.map((one) => one.value.metadata.name);
  const found = name === undefined ? loaded : loaded.filter((one) => one.value.metadata.name === name);
  if (found.length === 1) return found[0];
  const there = names.length === 0 ? `the file has none` : `the file has ${listChoices(names)}`;
  const message =
    name === undefined
      ? `one document of kind ${kind} is needed; ${there}`
      : `there is no document of kind ${kind} named "${name}"; ${there}`;
  const hint =
    names.length > 1 && name === undefined
      ? `choose one: ${file}#${names[0]}`
      : nearestHint(name ?? '', names);
  throw new InputError([{ pointer: '', file, message, ...(hint === undefined ? {} : { hint }) }]);
}
