/**
 * From a file's text to checked documents: the one way in, for the command line and for REST.
 *
 * A file may hold several documents of several kinds. Every mistake of every document is reported in one go, each
 * with file, line, JSON pointer and the valid choices. `source` keeps what the user wrote (files inlined), which is
 * what gets stored: defaults may improve, a definition must not change under its owner.
 */
import type { z } from 'zod';
import { listChoices, nearestHint } from '../core/nearest.js';
import { describeIssues } from '../core/schema-issues.js';
import { InputError, toPointer, type InputIssue } from '../core/problem.js';
import { planLooks } from '../comparison/looks.js';
import { INDEPENDENT } from '../comparison/samples.js';
import { parseObjectives } from '../scoring/objectives.js';
import { parseSuiteObjectives } from '../comparison/suite-objective.js';
import { parseDocuments, type LocatedDocument } from './document.js';
import { experimentSchema, type Experiment } from './experiment.js';
import {
  fabricDocumentSchema,
  inlineFiles,
  refuseFiles,
  type FabricDocument,
  type ReadText,
} from './fabric-document.js';
import { checkGameDay } from './game-day-rules.js';
import { gameDaySchema, type GameDay } from './game-day.js';
import { refuseMovedSettings } from './moved-settings.js';
import { rulesOf } from './schedule-rules.js';
import { scheduleSchema, type Schedule } from './schedule.js';
import { suiteSchema, type Suite } from './suite.js';

export interface Loaded<Kind> {
  /** Plain JSON as written, with files inlined. */
  source: unknown;
  value: Kind;
  /** Adds file, line and column to issues found later, such as a target that matches nothing. */
  locate: (issues: readonly InputIssue[]) => InputIssue[];
}

export interface LoadedFile {
  experiments: Loaded<Experiment>[];
  fabrics: Loaded<FabricDocument>[];
  suites: Loaded<Suite>[];
  schedules: Loaded<Schedule>[];
  gameDays: Loaded<GameDay>[];
}

export type Definition = Experiment | FabricDocument | Suite | Schedule | GameDay;

const SCHEMAS = {
  Experiment: experimentSchema,
  Fabric: fabricDocumentSchema,
  Suite: suiteSchema,
  Schedule: scheduleSchema,
  GameDay: gameDaySchema,
} as const;
type Kind = keyof typeof SCHEMAS;
const KINDS = Object.keys(SCHEMAS) as Kind[];

/**
 * @param file name to show in errors
 * @throws InputError with all issues of all documents
 */
export function loadDefinitions(text: string, readText: ReadText, file?: string): LoadedFile {
  const result: LoadedFile = { experiments: [], fabrics: [], suites: [], schedules: [], gameDays: [] };
  const issues: InputIssue[] = [];
  for (const document of parseDocuments(text, file)) {
    try {
      const kind = kindOf(document.value);
      const loaded = loadDocument(document, kind, readText, file);
      if (kind === 'Experiment') result.experiments.push(loaded as Loaded<Experiment>);
      else if (kind === 'Fabric') result.fabrics.push(loaded as Loaded<FabricDocument>);
      else if (kind === 'Suite') result.suites.push(loaded as Loaded<Suite>);
      else if (kind === 'Schedule') result.schedules.push(loaded as Loaded<Schedule>);
      else result.gameDays.push(loaded as Loaded<GameDay>);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      issues.push(...locatorOf(document, file)(error.issues));
    }
  }
  for (const same of Object.values(result)) issues.push(...repeatedNames(same as Loaded<Definition>[]));
  if (issues.length > 0) throw new InputError(issues);
  return result;
}

/** Checks one plain value, for definitions that arrive as JSON or come from the store. */
export function loadExperiment(value: unknown, readText: ReadText): Loaded<Experiment> {
  return loadDocument(plainDocument(value), expectKind(value, 'Experiment'), readText) as Loaded<Experiment>;
}

/** Checks one plain value, for definitions that arrive as JSON or come from the store. */
export function loadSuite(value: unknown, readText: ReadText): Loaded<Suite> {
  return loadDocument(plainDocument(value), expectKind(value, 'Suite'), readText) as Loaded<Suite>;
}

/** Checks one plain value, for definitions that arrive as JSON or come from the store. */
export function loadFabric(value: unknown, readText: ReadText): Loaded<FabricDocument> {
  return loadDocument(plainDocument(value), expectKind(value, 'Fabric'), readText) as Loaded<FabricDocument>;
}

/** Checks one plain value, for definitions that arrive as JSON or come from the store. */
export function loadSchedule(value: unknown): Loaded<Schedule> {
  return loadDocument(plainDocument(value), expectKind(value, 'Schedule'), refuseFiles) as Loaded<Schedule>;
}

/** Checks one plain value, for definitions that come from the store. */
export function loadGameDay(value: unknown): Loaded<GameDay> {
  return loadDocument(plainDocument(value), expectKind(value, 'GameDay'), refuseFiles) as Loaded<GameDay>;
}

const plainDocument = (value: unknown): PlainDocument => ({ value });
type PlainDocument = Pick<LocatedDocument, 'value'> & Partial<Pick<LocatedDocument, 'locate'>>;

function loadDocument(
  document: PlainDocument,
  kind: Kind,
  readText: ReadText,
  file?: string,
): Loaded<Definition> {
  const source = inlineFiles(document.value, readText);
  if (kind === 'Fabric') refuseMovedSettings(source);
  const schema: z.ZodType<Definition> = SCHEMAS[kind];
  const parsed = schema.safeParse(source);
  const place = document.locate === undefined ? { file } : { file, document: { locate: document.locate } };
  if (!parsed.success) throw new InputError(describeIssues(parsed.error, schema, source, place));
  checkMeaning(parsed.data);
  return { source, value: parsed.data, locate: locatorOf(document, file) };
}

/** What the shape alone does not say. */
function checkMeaning(definition: Definition): void {
  const { kind, spec } = definition;
  if (kind === 'GameDay') checkGameDay(definition);
  if (kind === 'Experiment') parseObjectives(spec.objectives, '/spec/objectives');
  if (kind === 'Schedule') rulesOf(spec);
  if (kind === 'Fabric' && spec.pace !== undefined && spec.driver !== 'simulated') {
    throw InputError.at(
      '/spec/pace',
      `a fabric of the driver ${spec.driver} has the pace it has`,
      'remove it',
    );
  }
  if (kind !== 'Suite') return;
  parseSuiteObjectives(spec.objectives, undefined);
  // drills on real fabrics need fewest; what simulated ones need is checked beside their fabrics
  planLooks(spec.seeds, spec.alpha, '/spec/seeds', INDEPENDENT);
}

function kindOf(value: unknown): Kind {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw InputError.at('', 'a document must be a mapping with apiVersion, kind, metadata and spec');
  }
  const { kind } = value as { kind?: unknown };
  if (typeof kind !== 'string' || !KINDS.includes(kind as Kind)) {
    const message = kind === undefined ? '"kind" is missing' : `${JSON.stringify(kind)} is no kind`;
    const hint = typeof kind === 'string' ? nearestHint(kind, KINDS) : undefined;
    throw InputError.at('/kind', `${message}; the kinds are ${listChoices(KINDS)}`, hint);
  }
  return kind as Kind;
}

function expectKind(value: unknown, expected: Kind): Kind {
  const kind = kindOf(value);
  if (kind !== expected)
    throw InputError.at('/kind', `expected a document of kind ${expected}, found ${kind}`);
  return kind;
}

/** Adds file, line and column to issues found in a document. */
export const locatorOf =
  (document: PlainDocument, file?: string) =>
  (issues: readonly InputIssue[]): InputIssue[] =>
    issues.map((issue) => ({
      ...(file === undefined ? {} : { file }),
      ...document.locate?.(pathOf(issue.pointer)),
      ...issue,
    }));

/** The keys of a JSON pointer; array indices become numbers. */
function pathOf(pointer: string): PropertyKey[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((token) => (/^\d+$/.test(token) ? Number(token) : token));
}

function repeatedNames(loaded: readonly Loaded<Definition>[]): InputIssue[] {
  const seen = new Set<string>();
  return loaded.flatMap(({ value, locate }) => {
    const { name } = value.metadata;
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const pointer = toPointer(['metadata', 'name']);
    return locate([
      { pointer, message: `this file has two documents of kind ${value.kind} named "${name}"` },
    ]);
  });
}
