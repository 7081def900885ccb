/**
 * YAML text to plain values, keeping the way back: every JSON pointer can be traced to its line and column.
 *
 * The `yaml` library parses (YAML 1.2 core schema); this file only adds the file name and position that a person
 * needs to mend a mistake.
 */
import { isMap, isScalar, isSeq, type Document, type Node, type Pair, type YAMLMap } from 'yaml';
import { InputError, type InputIssue } from '../core/problem.js';
import { plainValue } from './plain-value.js';
import { parseYaml } from './yaml-text.js';

export interface LocatedDocument {
  value: unknown;
  /** 0-based place of the document in the file. */
  ordinal: number;
  /** Position of the node at a path, or of the key itself when `onKey`; the nearest parent when it is absent. */
  locate(path: readonly PropertyKey[], onKey?: boolean): { line: number; column: number };
}

/**
 * Parses all documents of a YAML (or JSON) text; empty documents are left out.
 * @throws InputError with file, line and column for each syntax error
 */
export function parseDocuments(text: string, file?: string): LocatedDocument[] {
  const { documents, position } = parseYaml(text, file);
  const issueAt = (offset: number, message: string): InputIssue => ({
    pointer: '',
    message,
    file,
    ...position(offset),
  });
  const issues = documents.flatMap((document) =>
    document.errors.map((error) => issueAt(error.pos[0], `this is no valid YAML: ${error.message}`)),
  );
  if (issues.length > 0) throw new InputError(issues);
  const located: LocatedDocument[] = [];
  for (const [ordinal, document] of documents.entries()) {
    if (isEmpty(document)) continue;
    const { value, faults } = plainValue(document.contents);
    for (const { message, offset } of faults) issues.push(issueAt(offset, message));
    const offsetOf = offsetsOf(document);
    located.push({ value, ordinal, locate: (path, onKey = false) => position(offsetOf(path, onKey)) });
  }
  if (issues.length > 0) throw new InputError(issues);
  if (located.length === 0) {
    throw new InputError([
      { pointer: '', message: 'the file is empty', file, hint: 'see experiments/ for files that run' },
    ]);
  }
  return located;
}

/** Between two `---`, or a comment alone; a written `null` is no definition, but not empty either. */
function isEmpty({ contents }: Document.Parsed): boolean {
  return contents === null || (isScalar(contents) && contents.value === null && contents.source === '');
}

/** Finds nodes by their path. The keys of a mapping are looked up once, however many paths lead through it. */
function offsetsOf(document: Document.Parsed): (path: readonly PropertyKey[], onKey: boolean) => number {
  const known = new Map<YAMLMap, Map<string, Pair>>();
  const pairOf = (map: YAMLMap, key: string): Pair | undefined => {
    let pairs = known.get(map);
    if (pairs === undefined) {
      pairs = new Map(map.items.map((pair) => [String((pair.key as { value?: unknown })?.value), pair]));
      known.set(map, pairs);
    }
    return pairs.get(key);
  };
  return (path, onKey) => {
    let node = document.contents as Node | null;
    let offset = node?.range?.[0] ?? 0;
    for (const [depth, key] of path.entries()) {
      let next: Node | null = null;
      if (isMap(node)) {
        const pair = pairOf(node, String(key));
        if (pair === undefined) return offset;
        const keyOffset = (pair.key as Node).range?.[0] ?? offset;
        next = pair.value as Node | null;
        offset = onKey && depth === path.length - 1 ? keyOffset : (next?.range?.[0] ?? keyOffset);
      } else if (isSeq(node)) {
        next = (node.items[Number(key)] as Node | undefined) ?? null;
        if (next === null) return offset;
        offset = next.range?.[0] ?? offset;
      }
      node = next;
    }
    return offset;
  };
}
