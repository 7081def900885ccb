/**
 * A document as one HTML file with its picture: to send round, to print, to keep. No script, nothing from elsewhere.
 */
import { xmlText } from '../common/escape.js';
import type { Block, ReportDocument } from './document.js';
import type { DocumentFormat } from './format.js';
import { timelineSvg } from './timeline-svg.js';

const STYLE = `
body { font: 15px/1.45 system-ui, sans-serif; color: #1c2430; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .3rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; } ul { padding-left: 1.3rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0; border-bottom: 1px solid #d9dee6; overflow-wrap: anywhere; }
th { font-weight: 600; white-space: nowrap; overflow-wrap: normal; } svg { max-width: 100%; height: auto; }
ul.tasks { list-style: none; padding-left: 0; } ul.tasks li::before { content: "\\2610"; margin-right: .5rem; }
ul.tasks li.done::before { content: "\\2611"; }
@media print { body { margin: 0; max-width: none; } tr { break-inside: avoid; } }
`;

export const documentHtml: DocumentFormat = {
  name: 'html',
  mediaType: 'text/html',
  render,
};

function render({ title, sections }: ReportDocument): string {
  const body = sections.flatMap((section) => [
    ...(section.title === null ? [] : [`<h2>${xmlText(section.title)}</h2>`]),
    ...section.blocks.map(blockHtml),
  ]);
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${xmlText(title)}</title>`,
    `<style>${STYLE}</style></head>`,
    '<body>',
    `<h1>${xmlText(title)}</h1>`,
    ...body,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'text':
      return `<p>${xmlText(block.text)}</p>`;
    case 'table':
      return `<table>\n<thead>${row('th', block.head)}</thead>\n<tbody>\n${block.rows.map((cells) => row('td', cells)).join('\n')}\n</tbody>\n</table>`;
    case 'list':
      return `<ul>\n${block.items.map((item) => `<li>${xmlText(item)}</li>`).join('\n')}\n</ul>`;
    case 'tasks':
      return `<ul class="tasks">\n${block.items
        .map(({ text, done }) => `<li${done ? ' class="done"' : ''}>${xmlText(text)}</li>`)
        .join('\n')}\n</ul>`;
    case 'timeline':
      return timelineSvg(block.picture);
  }
}

const row = (tag: 'th' | 'td', cells: readonly string[]): string =>
  `<tr>${cells.map((cell) => `<${tag}>${xmlText(cell)}</${tag}>`).join('')}</tr>`;
