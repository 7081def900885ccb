/** Tables of GitHub-flavoured Markdown; cells are escaped by whoever fills them. */
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Lines of a table, and an empty one after it. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  row(head),
  row(head.map(() => '---')),
  ...rows.map(row),
  '',
];
