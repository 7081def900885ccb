/**
 * The mutants of one source file: each is a small change that a good suite should notice.
 *
 * Not made: changes of strings (most are sentences for people), of types, and of imports. A mutant need not compile under
 * TypeScript, since the tests are compiled without type checks; one that means the same as the original counts as
 * survived, which makes the rate of killed ones a lower bound.
 */
import ts from 'typescript';

const SWAPS = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+=': '-=',
  '-=': '+=',
};
const METHODS = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
]);

/**
 * @param {string} file name, for the parser
 * @param {string} source
 * @returns {{ start: number, end: number, line: number, operator: string, text: string }[]} replacements, lines from 1
 */
export function mutantsOf(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ES2023, true);
  const found = [];
  const add = (node, operator, text) => {
    const start = node.getStart(tree);
    const line = tree.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ start, end: node.end, line, operator, text });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isTypeAliasDeclaration(node)) return;
    mutate(node, add, tree);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function mutate(node, add, tree) {
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText(tree);
    if (SWAPS[operator] !== undefined)
      add(node.operatorToken, `${operator} to ${SWAPS[operator]}`, SWAPS[operator]);
  } else if (ts.isPrefixUnaryExpression(node) && /[!-]/.test(node.getText(tree)[0])) {
    add(node, `${node.getText(tree)[0]} left out`, `(${node.operand.getText(tree)})`);
  } else if (ts.isNumericLiteral(node)) {
    add(node, 'number plus one', String(Number(node.text.replaceAll('_', '')) + 1));
  } else if (node.kind === ts.SyntaxKind.TrueKeyword) {
    add(node, 'true to false', 'false');
  } else if (node.kind === ts.SyntaxKind.FalseKeyword) {
    add(node, 'false to true', 'true');
  } else if (ts.isIfStatement(node)) {
    add(node.expression, 'condition always true', 'true');
    add(node.expression, 'condition always false', 'false');
  } else if (ts.isConditionalExpression(node)) {
    add(node.condition, 'choice always first', 'true');
    add(node.condition, 'choice always second', 'false');
  } else if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
    if (node.expression.expression.kind !== ts.SyntaxKind.SuperKeyword) add(node, 'call left out', ';');
  } else if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) {
    if (!isAssignmentTarget(node)) add(node, 'list emptied', '[]');
  } else if (ts.isPropertyAccessExpression(node) && METHODS.has(node.name.text)) {
    const other = METHODS.get(node.name.text);
    add(node.name, `${node.name.text} to ${other}`, other);
  }
}

const isAssignmentTarget = (node) =>
  ts.isBinaryExpression(node.parent) &&
  node.parent.left === node &&
  node.parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
