/**
 * The reference pages show the schemas and catalogues as they are now.
 */
import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { experimentSchema } from '../../src/documents/experiment.js';
import { fabricDocumentSchema } from '../../src/documents/fabric-document.js';
import { gameDaySchema } from '../../src/documents/game-day.js';
import { scheduleSchema } from '../../src/documents/schedule.js';
import { suiteSchema } from '../../src/documents/suite.js';
import { FAULT_KINDS } from '../../src/faults/catalog.js';
import { inputJsonSchema } from '../../src/core/schema-issues.js';
import { METRICS } from '../../src/model/telemetry/catalog.js';
import { CHECKOUT, readSource } from '../support/source-tree.js';

/** A script, not a module of the program, so it is loaded by path. */
const { PAGES, renderPage } = (await import(
  pathToFileURL(join(CHECKOUT, 'docs/write-reference.js')).href
)) as {
  PAGES: readonly string[];
  renderPage(page: string, text: string, sources: Record<string, unknown>): string;
};

const sources = {
  METRICS,
  FAULT_KINDS,
  Experiment: inputJsonSchema(experimentSchema),
  Fabric: inputJsonSchema(fabricDocumentSchema),
  Suite: inputJsonSchema(suiteSchema),
  Schedule: inputJsonSchema(scheduleSchema),
  GameDay: inputJsonSchema(gameDaySchema),
  schemaOf: inputJsonSchema,
};

describe('the reference pages', () => {
  test.each(PAGES)('%s is what npm run docs:reference would write', (page) => {
    const text = readSource(page);
    expect(text).toBe(renderPage(page, text, sources));
  });

  test('name every metric and every fault kind', () => {
    for (const { name } of METRICS) expect(readSource('docs/metrics.md')).toContain(`\`${name}\``);
    for (const { name } of FAULT_KINDS) expect(readSource('docs/faults.md')).toContain(`## ${name}\n`);
  });

  test('are refused when a block is missing or unknown', () => {
    expect(() => renderPage('docs/metrics.md', 'no block', sources)).toThrow('has no block metrics');
    const stray = `${readSource('docs/metrics.md')}\n<!-- other: written by npm run docs:reference -->\n`;
    expect(() => renderPage('docs/metrics.md', stray, sources)).toThrow('nothing writes the block other');
  });
});
