/**
 * YAML text to plain values, keeping the way back: every JSON pointer can be traced to its line and column.
 *
 * The `yaml` library parses (YAML 1.2 core schema); this file only adds the file name and position that a person
 * needs to mend a mistake. Aliases and tags beyond the core schema are refused by the parser's defaults.
 */
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml';
import { InputError, type InputIssue } from '../core/problem.js';

/** Larger texts are refused before parsing: no definition is near this size, an attack may be. */
const MOST_BYTES = 16 * 1024 * 1024;

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
  if (text.length > MOST_BYTES) {
    throw new InputError([{ pointer: '', message: `the text is larger than ${MOST_BYTES} bytes`, file }]);
  }
  const lineCounter = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter, prettyErrors: false, maxAliasCount: 100 } as never);
  const documents = (Array.isArray(parsed) ? parsed : []) as Document.Parsed[];
  const position = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  const issues: InputIssue[] = documents.flatMap((document) =>
    document.errors.map((error) => ({
      pointer: '',
      message: syntaxMessage(error, text),
      file,
      ...position(error.pos[0]),
    })),
  );
  if (issues.length > 0) throw new InputError(issues);
  const located = documents
    .map((document, ordinal) => ({ document, ordinal }))
    .filter(({ document }) => !isEmpty(document))
    .map(({ document, ordinal }) => ({
      value: toPlain(document, file),
      ordinal,
      locate: (path: readonly PropertyKey[], onKey = false) => position(offsetOf(document, path, onKey)),
    }));
  if (located.length === 0) {
    throw new InputError([
      { pointer: '', message: 'the file is empty', file, hint: 'see experiments/ for files that run' },
    ]);
  }
  return located;
}

function syntaxMessage(
  error: { code: string; message: string; pos: [number, number] },
  text: string,
): string {
  if (error.code !== 'DUPLICATE_KEY') return `this is no valid YAML: ${error.message}`;
  const key = /^[^\s:,}\]]+/.exec(text.slice(error.pos[0]))?.[0] ?? '';
  return `the key ${key} is written twice in one mapping`;
}

/** Between two `---`, or a comment alone; a written `null` is no definition, but not empty either. */
function isEmpty({ contents }: Document.Parsed): boolean {
  return contents === null || (isScalar(contents) && contents.value === null && contents.source === '');
}

function toPlain(document: Document.Parsed, file?: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // the parser gives up on aliases that multiply, before they fill the memory
    const message = `aliases in this YAML can't be expanded: ${(error as Error).message}`;
    throw new InputError([{ pointer: '', message, file, line: 1, column: 1 }]);
  }
}

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], onKey: boolean): number {
  let node = document.contents as Node | null;
  let offset = node?.range?.[0] ?? 0;
  for (const [depth, key] of path.entries()) {
    let next: Node | null = null;
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => String((item.key as { value?: unknown })?.value) === String(key),
      );
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
}
