/**
 * A schedule named on the command line, with the experiment and the fabric that it names: beside it, in other files, or
 * stored. What can be read is read and checked, and each mistake told at the line that it is on.
 */
import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { GameDay } from '../../documents/game-day.js';
import type { Loaded, LoadedFile } from '../../documents/load.js';
import type { Schedule } from '../../documents/schedule.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import { readGameDay, type GameDayFile } from './game-day-file.js';
import {
  looksLikePath,
  pick,
  readDefinitions,
  resolveFabric,
  splitReference,
  type ExperimentFile,
  type FabricReference,
  readNamed,
  type NamedFile,
} from './definitions.js';

export interface ScheduleFile {
  /** As the user named it, `#name` included. */
  reference: string;
  schedule: Loaded<Schedule>;
  work: ScheduledExperiment | GameDayFile;
}

export interface ScheduledExperiment {
  experiment: ExperimentFile | { stored: string };
  /** What a run goes to; undefined for the own one of a stored experiment. */
  fabric: FabricReference | undefined;
}

type ToPath = (path: string) => string;

/** `FILE` or `FILE#name` to a schedule. @throws InputError with the line of what can't be found or is wrong */
export function readScheduleFile(
  reference: string,
  toPath: ToPath,
  { file, name, loaded }: NamedFile = readNamed(reference, toPath),
): ScheduleFile {
  const schedule = pick(loaded.schedules, name, file, 'Schedule', loaded);
  const { experimentRef, gameDayRef } = schedule.value.spec;
  if (experimentRef === undefined) {
    const own = loaded.gameDays.some(({ value }) => value.metadata.name === gameDayRef);
    const day = own ? `${file}#${gameDayRef}` : gameDayRef!;
    const fromSchedule: ToPath = (path) => resolve(dirname(toPath(file)), path);
    const work = at(schedule, '/spec/gameDayRef', () => {
      if (!own && !looksLikePath(splitReference(day, fromSchedule).file))
        throw noGameDay(day, loaded.gameDays);
      return readGameDay(day, own ? toPath : fromSchedule);
    });
    return { reference, schedule, work };
  }
  return {
    reference,
    schedule,
    work: scheduledExperiment(schedule, experimentRef, { file, loaded, toPath }),
  };
}

function noGameDay(named: string, there: readonly Loaded<GameDay>[]): InputError {
  const names = there.map(({ value }) => value.metadata.name);
  const found = names.length === 0 ? 'this file has none' : `this file has ${listChoices(names)}`;
  const hint = nearestHint(named, names) ?? 'name a file, such as ../gamedays/autumn.yaml';
  return InputError.at('', `there is no game day "${named}"; ${found}`, hint);
}

function scheduledExperiment(
  schedule: Loaded<Schedule>,
  experimentRef: string,
  { file, loaded, toPath }: { file: string; loaded: LoadedFile; toPath: ToPath },
): ScheduledExperiment {
  const { fabric } = schedule.value.spec;
  const beside = loaded.experiments.find(({ value }) => value.metadata.name === experimentRef);
  const fromSchedule: ToPath = (path) => resolve(dirname(toPath(file)), path);
  const experiment =
    beside === undefined
      ? at(schedule, '/spec/experimentRef', () => experimentElsewhere(experimentRef, fromSchedule, toPath))
      : { reference: `${file}#${experimentRef}`, file, experiment: beside, fabrics: loaded.fabrics };
  return {
    experiment,
    fabric: at(schedule, fabric === undefined ? '/spec/experimentRef' : '/spec/fabric', () =>
      fabricOf(experiment, fabric, { fabrics: loaded.fabrics, fromSchedule, toPath }),
    ),
  };
}

function experimentElsewhere(
  named: string,
  fromSchedule: ToPath,
  toPath: ToPath,
): ExperimentFile | { stored: string } {
  const reference = splitReference(named, fromSchedule);
  if (!looksLikePath(reference.file)) return { stored: named };
  const path = fromSchedule(reference.file);
  if (!existsSync(path)) throw missingFile(reference.file, path);
  const shown = relative(toPath('.'), path);
  const { experiments, fabrics, suites } = readDefinitions(path, shown);
  if (suites.length > 0 && reference.name === undefined && experiments.length !== 1) {
    const names = listChoices(experiments.map(({ value }) => value.metadata.name));
    throw InputError.at(
      '',
      `"${named}" is a suite, and a schedule runs one experiment; it has ${names}`,
      `choose one with ${named}#NAME, or take several through the stages of a game day (gameDayRef)`,
    );
  }
  const experiment = pick(experiments, reference.name, shown, 'Experiment');
  return { reference: `${shown}#${experiment.value.metadata.name}`, file: shown, experiment, fabrics };
}

function fabricOf(
  experiment: ScheduledExperiment['experiment'],
  named: string | undefined,
  here: { fabrics: readonly Loaded<FabricDocument>[]; fromSchedule: ToPath; toPath: ToPath },
): FabricReference | undefined {
  if (named === undefined) {
    return 'stored' in experiment ? undefined : resolveFabric(experiment, undefined, here.toPath);
  }
  const beside = here.fabrics.find(({ value }) => value.metadata.name === named);
  if (beside !== undefined) return { document: beside };
  const { file, name } = splitReference(named, here.fromSchedule);
  if (!looksLikePath(file)) return { stored: named };
  const path = here.fromSchedule(file);
  if (!existsSync(path)) throw missingFile(file, path);
  const shown = relative(here.toPath('.'), path);
  return { document: pick(readDefinitions(path, shown).fabrics, name, shown, 'Fabric') };
}

const missingFile = (file: string, path: string): InputError =>
  InputError.at('', `there is no file "${file}"`, `looked for ${path}`);

/** A mistake in another file keeps its place there; any other is one of the line that names it. */
function at<T>(schedule: Loaded<Schedule>, pointer: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(
      error.issues.flatMap((issue): InputIssue[] =>
        issue.line === undefined && issue.file === undefined
          ? schedule.locate([{ ...issue, pointer }])
          : [issue],
      ),
    );
  }
}

/** Whether a file (or `file#name`) is meant as a schedule: it has one, of that name where one is given. */
export function isSchedule({ name, loaded: { schedules, experiments, suites } }: NamedFile): boolean {
  if (name === undefined) return schedules.length > 0 && suites.length === 0;
  const others = [...experiments, ...suites].some(({ value }) => value.metadata.name === name);
  return schedules.some(({ value }) => value.metadata.name === name) && !others;
}
