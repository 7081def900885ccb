import { describe, expect, it } from '@jest/globals';
import { yamlOf, type Json } from '../../test/support/definitions.js';
import { InputError, type InputIssue } from '../core/problem.js';
import { refuseFiles } from './fabric-document.js';
import { loadDefinitions } from './load.js';

const suite = (spec: Json): string =>
  yamlOf({
    apiVersion: 'fabricdrill/v1',
    kind: 'Suite',
    metadata: { name: 'pre-upgrade' },
    spec: {
      experiments: ['link-down.yaml'],
      objectives: [{ metric: 'recovery.score', margin: 5 }],
      ...(spec as object),
    },
  });

function issuesOf(text: string): InputIssue[] {
  try {
    loadDefinitions(text, refuseFiles, 'suite.yaml');
  } catch (error) {
    if (error instanceof InputError) return [...error.issues];
    throw error;
  }
  return [];
}

describe('a suite file', () => {
  it('takes sixteen seeds from 1 on at a level of five per cent, unless it says otherwise', () => {
    const { suites } = loadDefinitions(suite({}), refuseFiles, 'suite.yaml');
    expect(suites[0].value.spec).toMatchObject({ seeds: 16, firstSeed: 1, alpha: 0.05 });
  });

  it.each([
    ['no objective', { objectives: [] }, /a gate without an objective decides nothing/, '/spec/objectives'],
    ['no experiment', { experiments: [] }, /nothing to run/, '/spec/experiments'],
    ['no seed', { seeds: 0 }, /at least one seed/, '/spec/seeds'],
    ['no objectives key', { objectives: undefined }, /a gate without an objective/, '/spec/objectives'],
    ['a seed 0', { firstSeed: 0 }, /from 1 on/, '/spec/firstSeed'],
    ['a level of nothing', { alpha: 0 }, /from 0.001 to 0.2/, '/spec/alpha'],
    ['fewer than no seeds', { seeds: -3 }, /at least one seed/, '/spec/seeds'],
    ['too few seeds', { seeds: 2 }, /a gate needs at least 3/, '/spec/seeds'],
    ['half a seed', { seeds: 7.5 }, /expected an int/, '/spec/seeds'],
    [
      'six objectives',
      { objectives: [1, 2, 3, 4, 5, 6].map((limit) => `recovery.score >= ${limit}`) },
      /at most 5 objectives/,
      '/spec/objectives',
    ],
    ['a key misspelt', { experiment: [] }, /unknown key "experiment"/, '/spec/experiment'],
    [
      'a margin of nothing',
      { objectives: [{ metric: 'recovery.score', margin: 0 }] },
      /more than 0/,
      '/spec/objectives/0/margin',
    ],
  ] as [string, Json, RegExp, string][])(
    'with %s is refused, with file and line',
    (_, spec, message, pointer) => {
      const [issue, ...others] = issuesOf(suite(spec));
      expect(others).toEqual([]);
      expect(issue).toMatchObject({ pointer, file: 'suite.yaml' });
      expect(issue.message).toMatch(message);
      expect(issue.line).toBeGreaterThan(1);
    },
  );
});
