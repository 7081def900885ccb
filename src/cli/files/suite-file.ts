/**
 * A suite named on the command line, with the experiments and fabrics that it names: all read, and each mistake told at
 * the line that it is on.
 */
import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Experiment } from '../../documents/experiment.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { Loaded } from '../../documents/load.js';
import type { Suite } from '../../documents/suite.js';
import { parseSuiteObjectives } from '../../comparison/suite-objective.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import {
  looksLikePath,
  pick,
  readDefinitions,
  readNamed,
  splitReference,
  type FabricReference,
  type NamedFile,
} from './definitions.js';

export interface SuiteFile {
  /** As the user named it, `#name` included. */
  reference: string;
  file: string;
  suite: Loaded<Suite>;
  /** In the order of the suite. */
  experiments: Loaded<Experiment>[];
  /** Fabric documents in the suite's own file. */
  fabrics: Loaded<FabricDocument>[];
}

type ToPath = (path: string) => string;

/**
 * `FILE` or `FILE#name` to a suite with its experiments.
 * @throws InputError with the lines of what can't be found or does not fit together
 */
export function readSuite(
  reference: string,
  toPath: ToPath,
  { file, name, loaded }: NamedFile = readNamed(reference, toPath),
): SuiteFile {
  const suite = pick(loaded.suites, name, file, 'Suite', loaded);
  const issues: InputIssue[] = [];
  const experiments = suite.value.spec.experiments.flatMap((named, at) => {
    try {
      return [experimentOf(named, loaded.experiments, file, toPath)];
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      issues.push(...located(suite, `/spec/experiments/${at}`, error));
      return [];
    }
  });
  if (issues.length > 0) throw new InputError(issues);
  const names = experiments.map(({ value }) => value.metadata.name);
  try {
    parseSuiteObjectives(suite.value.spec.objectives, names);
  } catch (error) {
    throw error instanceof InputError ? new InputError(suite.locate(error.issues)) : error;
  }
  return { reference, file, suite, experiments, fabrics: loaded.fabrics };
}

/** A mistake in another file keeps its place there; any other is one of the line that names it, or the file of it. */
const located = (suite: Loaded<Suite>, pointer: string, error: InputError): InputIssue[] =>
  error.issues.flatMap((issue) => {
    if (issue.line !== undefined) return [issue];
    const { file, message, ...rest } = issue;
    const about = file === undefined || file === '' ? message : `${file}: ${message}`;
    return suite.locate([{ ...rest, message: about, pointer }]);
  });

function experimentOf(
  named: string,
  beside: readonly Loaded<Experiment>[],
  file: string,
  toPath: ToPath,
): Loaded<Experiment> {
  const own = beside.find(({ value }) => value.metadata.name === named);
  if (own !== undefined) return own;
  const fromSuite: ToPath = (path) => resolve(dirname(toPath(file)), path);
  const reference = splitReference(named, fromSuite);
  const path = fromSuite(reference.file);
  if (looksLikePath(reference.file) && existsSync(path)) {
    const shown = relative(toPath('.'), path);
    return pick(readDefinitions(path, shown).experiments, reference.name, shown, 'Experiment');
  }
  const names = beside.map(({ value }) => value.metadata.name);
  const there = names.length === 0 ? 'this file has no experiment' : `this file has ${listChoices(names)}`;
  const message = looksLikePath(reference.file)
    ? `there is no file "${reference.file}"`
    : `unknown experiment "${named}"; ${there}`;
  const hint = looksLikePath(reference.file)
    ? `looked for ${path}`
    : (nearestHint(named, names) ?? 'a path of an experiment file ends in .yaml, as in ../link-down.yaml');
  throw InputError.at('', message, hint);
}

/** Whether a file (or `file#name`) is meant as a suite: it has one, of that name where one is given. */
export function isSuite({ name, loaded: { suites, experiments } }: NamedFile): boolean {
  if (name === undefined) return suites.length > 0;
  const named = ({ value }: Loaded<Suite | Experiment>): boolean => value.metadata.name === name;
  return suites.some(named) && !experiments.some(named);
}

/**
 * The fabric of one side: the flag's, relative to the working folder, or the suite's own, relative to its file.
 * @throws InputError when neither names one, or it can't be read
 */
export function sideFabric(
  source: SuiteFile,
  side: 'baseline' | 'candidate',
  flag: string | undefined,
  toPath: ToPath,
): FabricReference {
  const reference = flag ?? source.suite.value.spec[side];
  if (reference === undefined) {
    throw InputError.at(
      `--${side}`,
      `the suite names no ${side}`,
      `add --${side} with a fabric's file or name`,
    );
  }
  const own = source.fabrics.find(({ value }) => value.metadata.name === reference);
  if (own !== undefined) return { document: own };
  const base: ToPath = flag === undefined ? (path) => resolve(dirname(toPath(source.file)), path) : toPath;
  const { file, name } = splitReference(reference, base);
  if (!looksLikePath(file)) return { stored: reference };
  const path = base(file);
  const issue = { message: `there is no file "${file}"`, hint: `looked for ${path}` };
  if (!existsSync(path)) {
    throw new InputError(
      flag === undefined
        ? source.suite.locate([{ pointer: `/spec/${side}`, ...issue }])
        : [{ pointer: `--${side}`, ...issue }],
    );
  }
  const shown = flag === undefined ? relative(toPath('.'), path) : file;
  return { document: pick(readDefinitions(path, shown).fabrics, name, shown, 'Fabric') };
}
