/**
 * The scoring profile of an experiment, from a file that several of them share.
 *
 * The file is checked by itself first, so that its mistakes are told with its own name and lines; then what stands in
 * the experiment is laid over it, key by key. What is stored has the file's content in it and no path.
 */
import { InputError, toPointer } from '../core/problem.js';
import { describeIssues } from '../core/schema-issues.js';
import { scoringProfileSchema } from '../scoring/profile.js';
import { parseDocuments } from './document.js';

/** Reads a text file named in a document, relative to that document. */
export type ReadText = (path: string) => string;

type Plain = Record<string, unknown>;

const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const overlay = (below: Plain, above: Plain): Plain => {
  const result = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = result[key];
    result[key] = isPlain(under) && isPlain(value) ? overlay(under, value) : value;
  }
  return result;
};

/**
 * @param scoring with a `profile`
 * @throws InputError when the file can't be read or is no profile
 */
export function inlineProfile({ profile, ...own }: Plain, readText: ReadText): Plain {
  const file = String(profile);
  const shared = readProfile(file, () => pointed(() => readText(file)));
  return overlay(shared, own);
}

function readProfile(file: string, read: () => string): Plain {
  const documents = parseDocuments(read(), file);
  const [document] = documents;
  if (documents.length !== 1 || !isPlain(document.value)) {
    const message =
      'a scoring profile is one mapping with recovery, isolation, explainability, baseline or targets';
    throw new InputError([{ pointer: '', file, message }]);
  }
  const parsed = scoringProfileSchema.safeParse(document.value);
  if (!parsed.success) {
    const place = {
      file,
      document: { locate: (path: readonly PropertyKey[], onKey?: boolean) => document.locate(path, onKey) },
    };
    throw new InputError(describeIssues(parsed.error, scoringProfileSchema, document.value, place));
  }
  return document.value;
}

/** A file that can't be read is a mistake of the line that names it. */
function pointed<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const pointer = toPointer(['spec', 'scoring', 'profile']);
    throw new InputError(error.issues.map((issue) => ({ ...issue, pointer })));
  }
}
