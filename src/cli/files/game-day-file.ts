/**
 * A game day named on the command line, with the experiments and fabrics that it names: read here and sent along, so that
 * a blind day needs nothing that others could read from the store.
 */
import { dirname, resolve } from 'node:path';
import { labelOf, type GameDay, type StageExperimentSpec } from '../../documents/game-day.js';
import type { Loaded, LoadedFile } from '../../documents/load.js';
import { canonicalJson } from '../../system/digest.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import {
  looksLikePath,
  pick,
  readExperiment,
  readFabricReference,
  resolveFabric,
  splitReference,
  type ExperimentFile,
  type FabricReference,
  readNamed,
  type NamedFile,
} from './definitions.js';

type ToPath = (path: string) => string;

export interface GameDayFile {
  gameDay: Loaded<GameDay>;
  /** The documents to send, YAML. @param members added to the game day's own document */
  textWith: (members?: object) => string;
}

/** `FILE` or `FILE#name` to a game day. @throws InputError with the line of what can't be found or is wrong */
export function readGameDay(
  reference: string,
  toPath: ToPath,
  { file, name, loaded }: NamedFile = readNamed(reference, toPath),
): GameDayFile {
  const gameDay = pick(loaded.gameDays, name, file, 'GameDay', loaded);
  const fromDay: ToPath = (path) => resolve(dirname(toPath(file)), path);
  const along = new Map<string, Loaded<{ kind: string; metadata: { name: string } }>>();
  const issues: InputIssue[] = [];
  const stages = gameDay.value.spec.stages.map((stage, at) =>
    stage.experiments.map((item, index) => {
      const pointer = `/spec/stages/${at}/experiments/${index}`;
      try {
        return bringAlong(item, { file, loaded, toPath, fromDay, along });
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        issues.push(...atLine(gameDay, pointer, error));
        return {};
      }
    }),
  );
  if (issues.length > 0) throw new InputError(issues);
  const brought = [...along.values()].map(({ source }) => source);
  const day = rewritten(gameDay, stages);
  return {
    gameDay,
    textWith: (members = {}) =>
      [{ ...day, ...members }, ...brought]
        .map((document) => JSON.stringify(document, null, 2))
        .join('\n---\n'),
  };
}

interface Around {
  file: string;
  loaded: LoadedFile;
  toPath: ToPath;
  fromDay: ToPath;
  along: Map<string, Loaded<{ kind: string; metadata: { name: string } }>>;
}

/** What the item says once its documents stand beside it. */
function bringAlong(item: StageExperimentSpec, around: Around): Partial<StageExperimentSpec> {
  const source = experimentOf(item.experiment, around);
  if (source !== undefined) add(around.along, source.file.experiment);
  const fabric = fabricOf(item, source, around);
  if (fabric !== undefined && 'document' in fabric) add(around.along, fabric.document);
  const named =
    fabric === undefined
      ? undefined
      : 'stored' in fabric
        ? fabric.stored
        : fabric.document.value.metadata.name;
  return {
    name: labelOf(item),
    experiment: source?.file.experiment.value.metadata.name ?? item.experiment,
    ...(named === undefined ? {} : { fabric: named }),
  };
}

/** @returns undefined for a stored one */
function experimentOf(
  named: string,
  { file, loaded, toPath, fromDay }: Around,
): { file: ExperimentFile; toPath: ToPath } | undefined {
  const beside = loaded.experiments.find(({ value }) => value.metadata.name === named);
  if (beside !== undefined) {
    const own = { reference: `${file}#${named}`, file, experiment: beside, fabrics: loaded.fabrics };
    return { file: own, toPath };
  }
  if (!looksLikePath(splitReference(named, fromDay).file)) return undefined;
  return { file: readExperiment(named, fromDay), toPath: fromDay };
}

function fabricOf(
  { fabric }: StageExperimentSpec,
  source: { file: ExperimentFile; toPath: ToPath } | undefined,
  { loaded, fromDay }: Around,
): FabricReference | undefined {
  if (fabric === undefined) {
    return source === undefined ? undefined : resolveFabric(source.file, undefined, source.toPath);
  }
  const beside = loaded.fabrics.find(({ value }) => value.metadata.name === fabric);
  return beside === undefined ? readFabricReference(fabric, fromDay) : { document: beside };
}

/** @throws InputError where two files have different documents of one name */
function add(along: Around['along'], document: Loaded<{ kind: string; metadata: { name: string } }>): void {
  const { kind, metadata } = document.value;
  const key = `${kind} ${metadata.name}`;
  const known = along.get(key);
  if (known !== undefined && canonicalJson(known.source) !== canonicalJson(document.source)) {
    throw InputError.at(
      '',
      `two different documents of kind ${kind} are named "${metadata.name}"`,
      'rename one',
    );
  }
  along.set(key, document);
}

function rewritten({ source }: Loaded<GameDay>, stages: readonly Partial<StageExperimentSpec>[][]): object {
  const day = source as { spec: { stages: { experiments: object[] }[] } };
  return {
    ...day,
    spec: {
      ...day.spec,
      stages: day.spec.stages.map((stage, at) => ({
        ...stage,
        experiments: stage.experiments.map((item, index) => ({ ...item, ...stages[at][index] })),
      })),
    },
  };
}

/** A mistake in another file keeps its place there; any other, such as a file that is not there, is one of the item that names it. */
const atLine = (gameDay: Loaded<GameDay>, pointer: string, { issues }: InputError): InputIssue[] =>
  issues.flatMap(({ file, ...issue }) => {
    if (issue.line !== undefined) return [{ ...issue, file }];
    const message = file === undefined ? issue.message : `${file}: ${issue.message}`;
    const key = issue.pointer === '--fabric' ? 'fabric' : 'experiment';
    return gameDay.locate([{ ...issue, message, pointer: `${pointer}/${key}` }]);
  });
