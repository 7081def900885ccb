/**
 * The documentation stays true: links lead somewhere, files and npm scripts it names exist, its YAML is accepted.
 */
import { describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { parseDocuments } from '../../src/documents/document.js';
import { experimentSchema } from '../../src/documents/experiment.js';
import { parseObjective } from '../../src/scoring/objectives.js';
import { CHECKOUT, filesBelow, readSource } from '../support/source-tree.js';

const pages = filesBelow('.').filter((file) => file.endsWith('.md'));

const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1]);
/** Blocks fenced with three backticks and this language. */
const blocks = (text: string, language: string): string[] =>
  all(text, new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));

describe('documentation', () => {
  test('has a README with an experiment in it', () => {
    expect(pages).toContain('README.md');
    expect(blocks(readSource('README.md'), 'yaml').length).toBeGreaterThan(0);
  });

  test.each(pages)('%s links only to what is there', (page) => {
    const links = all(readSource(page), /\]\(([^)#\s]+)(?:#[^)]*)?\)/g).filter(
      (link) => !/^[a-z]+:/.test(link),
    );
    const dead = links.filter((link) => !existsSync(join(CHECKOUT, posix.join(dirname(page), link))));
    expect(dead).toEqual([]);
  });

  test.each(pages.filter((page) => page !== 'CHANGELOG.md'))('%s names only files that are there', (page) => {
    const named = all(readSource(page), /`((?:src|test|docs|experiments|migrations|bench|\.ci)\/[\w./-]+)`/g);
    // rooms are called by their path under src
    const present = (file: string): boolean =>
      ['', 'src'].some((base) => existsSync(join(CHECKOUT, base, file)));
    expect(named.filter((file) => !present(file))).toEqual([]);
  });

  test.each(pages)('%s names only npm scripts that there are', (page) => {
    const { scripts } = JSON.parse(readSource('package.json')) as { scripts: Record<string, string> };
    const named = all(readSource(page), /npm run (?:-s )?([\w:-]+)/g);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });

  const definitions = pages.flatMap((page) =>
    blocks(readSource(page), 'yaml')
      .filter((block) => /^kind: Experiment$/m.test(block))
      .map((block, index) => [page, index + 1, block] as const),
  );

  test.each(definitions)('%s, experiment %i, is one that would be accepted', (_page, _number, block) => {
    for (const { value } of parseDocuments(block)) {
      const experiment = experimentSchema.parse(value);
      expect(experiment.spec.objectives.map((line) => parseObjective(line).expression)).toEqual(
        experiment.spec.objectives,
      );
    }
  });
});
