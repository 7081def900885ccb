/**
 * zod's findings in the words of the user: JSON pointer, YAML line, valid choices, nearest key.
 *
 * zod names an unknown key but not the known ones, so these are looked up in the JSON Schema made from the same
 * schema: one source for validation, publication and hints.
 */
import { z } from 'zod';
import { listChoices, nearestHint } from './nearest.js';
import { MOST_ISSUES_TOLD, toPointer, type InputIssue } from './problem.js';

type JsonSchema = {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
  additionalProperties?: JsonSchema | boolean;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  const?: unknown;
};

/** JSON Schema 2020-12 of what a user may write for this schema. */
export function inputJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-2020-12',
  }) as JsonSchema;
}

/** Where an issue is to be reported: pointer prefix, file, and the document for line numbers. */
export interface IssuePlace {
  /** Path of the checked value within the document. */
  prefix?: readonly PropertyKey[];
  file?: string;
  /** Knows the line of a path; `onKey` asks for the key rather than its value. */
  document?: { locate(path: readonly PropertyKey[], onKey?: boolean): { line: number; column: number } };
}

/** One more than an InputError tells, so that it says that there are more; each costs a search for what was meant. */
const MOST_ISSUES = MOST_ISSUES_TOLD + 1;

/** The findings of a failed parse, at most 101, unions narrowed to the alternative that was meant. */
export function describeIssues(
  error: z.ZodError,
  schema: z.ZodType,
  value: unknown,
  place: IssuePlace = {},
): InputIssue[] {
  const root = inputJsonSchema(schema);
  const found = new Map<string, InputIssue>();
  for (const issue of error.issues) {
    // a number that is none for two reasons is wrong once
    for (const one of describe(issue, [], root, value, place))
      found.set(`${one.pointer} ${one.message}`, one);
    if (found.size >= MOST_ISSUES) break;
  }
  return [...found.values()].slice(0, MOST_ISSUES);
}

function describe(
  issue: z.core.$ZodIssue,
  base: readonly PropertyKey[],
  root: JsonSchema,
  value: unknown,
  place: IssuePlace,
): InputIssue[] {
  const path = [...base, ...issue.path];
  const at = (full: readonly PropertyKey[], message: string, hint?: string, onKey = false): InputIssue => {
    const inDocument = [...(place.prefix ?? []), ...full];
    return {
      pointer: toPointer(inDocument),
      message,
      ...(hint === undefined ? {} : { hint }),
      ...(place.file === undefined ? {} : { file: place.file }),
      ...(place.document?.locate(inDocument, onKey) ?? {}),
    };
  };
  const actual = valueAt(value, path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(root, path, value);
      return issue.keys
        .slice(0, MOST_ISSUES)
        .map((key) =>
          at(
            [...path, key],
            `unknown key "${key}"; known here: ${listChoices(known, 30)}`,
            nearestHint(key, known),
            true,
          ),
        );
    }
    case 'invalid_value':
      return [
        at(
          path,
          choiceMessage(actual, issue.values.map(String)),
          choiceHint(actual, issue.values.map(String)),
        ),
      ];
    case 'invalid_union': {
      const options = (issue as { options?: unknown[] }).options?.map(String);
      if (options !== undefined && issue.errors.length === 0) {
        return [at(path, choiceMessage(actual, options), choiceHint(actual, options))];
      }
      return closestAlternative(issue.errors)
        .slice(0, MOST_ISSUES)
        .flatMap((inner) => describe(inner, path, root, value, place));
    }
    case 'invalid_type':
      return [at(path, typeMessage(issue, path, actual))];
    case 'invalid_format':
      if (issue.format !== 'uuid') return [at(path, issue.message)];
      return [at(path, `${shown(actual)} is no id`, 'an id is 36 characters, as lists and answers show it')];
    case 'too_small':
    case 'too_big':
      return [at(path, boundMessage(issue, actual) ?? issue.message)];
    default:
      return [at(path, issue.message.replace(/^Invalid input: /, ''))];
  }
}

/** What is missing, or of the wrong type; a schema may say itself what is amiss. */
function typeMessage(
  { expected, message }: z.core.$ZodIssueInvalidType,
  path: readonly PropertyKey[],
  actual: unknown,
): string {
  if (!message.startsWith('Invalid input')) return message;
  if (actual !== undefined) return `expected ${article(expected)}, found ${shown(actual)}`;
  const key = String(path.at(-1) ?? '');
  return `${key === '' ? 'a value' : `"${key}"`} is missing; it must be ${article(expected)}`;
}

/** What is allowed where a bound was missed; undefined where the schema has words of its own for it. */
function boundMessage(
  issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  actual: unknown,
): string | undefined {
  if (!/^Too (small|big): /.test(issue.message)) return undefined;
  const [bound, edge] = issue.code === 'too_small' ? [issue.minimum, 'at least'] : [issue.maximum, 'at most'];
  const beyond = issue.code === 'too_small' ? 'more than' : 'less than';
  const wanted = issue.code === 'too_small' ? 'needed' : 'allowed';
  const limit = `${issue.inclusive === false ? beyond : edge} ${String(bound)}`;
  if (issue.origin === 'string')
    return bound === 1 ? 'the text must not be empty' : `a text of ${limit} characters is ${wanted}`;
  if (issue.origin === 'array' || issue.origin === 'set')
    return `${limit} ${bound === 1 ? 'entry is' : 'entries are'} ${wanted}`;
  return `${shown(actual)} is not allowed; it must be ${limit}`;
}

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function choiceMessage(actual: unknown, choices: readonly string[]): string {
  const list = choices.length === 1 ? choices[0] : `one of ${listChoices(choices, 30)}`;
  return actual === undefined
    ? `missing; it must be ${list}`
    : `${shown(actual)} is not allowed; it must be ${list}`;
}

const choiceHint = (actual: unknown, choices: readonly string[]): string | undefined =>
  typeof actual === 'string' ? nearestHint(actual, choices) : undefined;

/** Of a union's alternatives, the one whose errors lie deepest (most of it did fit), then the one with fewest. */
function closestAlternative(
  alternatives: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] {
  const depth = (issues: readonly z.core.$ZodIssue[]) =>
    issues.reduce((least, issue) => Math.min(least, issue.path.length), Infinity);
  return [...alternatives].sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? [];
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      inner === null || typeof inner !== 'object' ? undefined : (inner as never)[key as never],
    value,
  );
}

/** Keys that the schema knows for the object at a path. */
function knownKeys(root: JsonSchema, path: readonly PropertyKey[], value: unknown): string[] {
  let nodes = alternatives(root, root, value);
  let inner = value;
  for (const key of path) {
    inner = valueAt(inner, [key]);
    nodes = nodes.flatMap((node) => {
      const child = typeof key === 'number' ? node.items : (node.properties?.[String(key)] ?? extra(node));
      return child === undefined ? [] : alternatives(child, root, inner);
    });
  }
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))];
}

const extra = (node: JsonSchema): JsonSchema | undefined =>
  typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;

/** A node with references and unions opened; where a discriminator fits the value, only that alternative. */
function alternatives(node: JsonSchema, root: JsonSchema, value: unknown): JsonSchema[] {
  if (node.$ref !== undefined) {
    const name = node.$ref.replace(/^#\/\$defs\//, '');
    const target = node.$ref === '#' ? root : root.$defs?.[name];
    return target === undefined ? [] : alternatives(target, root, value);
  }
  const union = node.anyOf ?? node.oneOf;
  if (union === undefined)
    return [node, ...(node.allOf ?? []).flatMap((part) => alternatives(part, root, value))];
  const fitting = union.filter((option) =>
    Object.entries(option.properties ?? {}).some(
      ([key, property]) => property.const !== undefined && property.const === valueAt(value, [key]),
    ),
  );
  return (fitting.length > 0 ? fitting : union).flatMap((option) => alternatives(option, root, value));
}
