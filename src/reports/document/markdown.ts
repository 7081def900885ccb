/** A document as GitHub-flavoured Markdown: for a wiki, an issue, a terminal. Without its picture. */
import { markdownText } from '../common/escape.js';
import { table } from '../common/markdown-table.js';
import type { Block, ReportDocument } from './document.js';
import type { DocumentFormat } from './format.js';

export const documentMarkdown: DocumentFormat = {
  name: 'markdown',
  mediaType: 'text/markdown',
  render,
};

function render({ title, sections }: ReportDocument): string {
  const lines = [`# ${markdownText(title)}`, ''];
  for (const section of sections) {
    if (section.title !== null) lines.push(`## ${markdownText(section.title)}`, '');
    lines.push(...section.blocks.flatMap(blockLines));
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function blockLines(block: Block): string[] {
  switch (block.kind) {
    case 'text':
      return [markdownText(block.text), ''];
    case 'table':
      return table(
        block.head.map(markdownText),
        block.rows.map((row) => row.map(markdownText)),
      );
    case 'list':
      return [...block.items.map((item) => `- ${markdownText(item)}`), ''];
    case 'tasks':
      return [...block.items.map(({ text, done }) => `- [${done ? 'x' : ' '}] ${markdownText(text)}`), ''];
    case 'timeline':
      return [];
  }
}
