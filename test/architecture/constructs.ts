/**
 * Finds constructs that the house bans and that neither the compiler nor an import rule sees.
 *
 * Works on the syntax tree, so a word in a comment or a string is no finding. Not seen: a ban evaded on purpose, such as
 * `globalThis['Da' + 'te']`; the compiler project of the pure rooms, which knows no such globals, stops most of that.
 */
import ts from 'typescript';

export interface Finding {
  line: number;
  construct: string;
}

/** Globals that bring in a clock, entropy, the environment or the machine's locale. */
const IMPURE_GLOBALS = new Set([
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'fetch',
  'globalThis',
  'Intl',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
]);

/** `Object.member` reads that do the same. */
const IMPURE_MEMBERS = new Set(['Date.now', 'Math.random']);

/** Methods whose result depends on the machine's locale and its version of ICU. */
const LOCALE_METHODS = new Set([
  'localeCompare',
  'toLocaleDateString',
  'toLocaleLowerCase',
  'toLocaleString',
  'toLocaleTimeString',
  'toLocaleUpperCase',
]);

function parse(source: string): ts.SourceFile {
  return ts.createSourceFile('source.ts', source, ts.ScriptTarget.ES2023, true);
}

function visit(source: string, name: (node: ts.Node) => string | undefined): Finding[] {
  const tree = parse(source);
  const findings: Finding[] = [];
  const walk = (node: ts.Node): void => {
    const construct = name(node);
    if (construct !== undefined) {
      findings.push({ line: tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1, construct });
    }
    ts.forEachChild(node, walk);
  };
  walk(tree);
  return findings;
}

/** An identifier that names a value of the surroundings, rather than a member, a key or a declaration. */
function isFreeValue(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isQualifiedName(parent) || ts.isTypeNode(parent)) return false;
  return !('name' in parent && parent.name === node);
}

function impureConstruct(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    const read = ts.isIdentifier(node.expression) ? `${node.expression.text}.${node.name.text}` : '';
    if (IMPURE_MEMBERS.has(read)) return read;
    return LOCALE_METHODS.has(node.name.text) ? node.name.text : undefined;
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date') {
    return (node.arguments?.length ?? 0) === 0 ? 'new Date()' : undefined;
  }
  if (ts.isCallExpression(node) && node.expression.getText() === 'Date') return 'Date()';
  if (ts.isIdentifier(node) && IMPURE_GLOBALS.has(node.text) && isFreeValue(node)) return node.text;
  return undefined;
}

/** Uses of a clock, of entropy, of the environment or of the locale: bans for pure rooms. */
export const impureConstructs = (source: string): Finding[] => visit(source, impureConstruct);

const TEST_FUNCTIONS = new Set(['it', 'test', 'describe']);
const TEST_SHORTHANDS = new Set(['fit', 'fdescribe', 'xit', 'xtest', 'xdescribe']);

/** `it.only(…)`, `describe.skip.each(…)(…)`, `xit(…)`, `test.todo(…)` and their kind. */
function disabledTest(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  let callee: ts.Expression = node.expression;
  if (ts.isIdentifier(callee) && TEST_SHORTHANDS.has(callee.text)) return callee.text;
  let modifier: string | undefined;
  while (ts.isPropertyAccessExpression(callee)) {
    if (['only', 'skip', 'todo', 'failing'].includes(callee.name.text)) modifier = callee.name.text;
    callee = callee.expression;
  }
  const isTest = ts.isIdentifier(callee) && TEST_FUNCTIONS.has(callee.text);
  return isTest && modifier !== undefined ? `${callee.getText()}.${modifier}` : undefined;
}

/**
 * Tests that never run, or that keep others from running. `condition ? describe : describe.skip` is no finding: a suite
 * may wait for a program that is not installed, as long as it prints why.
 */
export const disabledTests = (source: string): Finding[] => visit(source, disabledTest);

/** Modules that a file imports or re-exports, types included, as written. */
export const importedModules = (source: string): string[] =>
  ts.preProcessFile(source, true, true).importedFiles.map(({ fileName }) => fileName);
