/** What a game day's file may say, and what is refused with its place and the valid choice. */
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { InputError, type InputIssue } from '../core/problem.js';
import { refuseFiles } from './fabric-document.js';
import { loadDefinitions } from './load.js';

type Json = Record<string, unknown>;

const hypothesis = { statement: 'traffic moves on', expect: ['recovery.recovered == 1'] };
const stage = (name: string, more: Json = {}): Json => ({
  name,
  experiments: [{ experiment: 'cut', hypothesis }],
  ...more,
});
const day = (stages: Json[], spec: Json = {}, name = 'autumn'): string =>
  stringify({
    apiVersion: 'fabricdrill/v1',
    kind: 'GameDay',
    metadata: { name },
    spec: { ...spec, stages },
  });

function issuesOf(text: string): readonly InputIssue[] {
  try {
    loadDefinitions(text, refuseFiles, 'day.yaml');
    return [];
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
}

describe('a game day', () => {
  test('is read with its stages in order, unless after says otherwise', () => {
    expect(issuesOf(day([stage('first'), stage('second', { after: [] })]))).toEqual([]);
  });

  test.each<[string, string, Partial<InputIssue>]>([
    ['no stage', day([]), { pointer: '/spec/stages' }],
    [
      'a stage with nothing in it',
      day([stage('first', { experiments: [] })]),
      { pointer: '/spec/stages/0/experiments' },
    ],
    [
      'an unknown stage in after',
      day([stage('first'), stage('second', { after: ['frist'] })]),
      { pointer: '/spec/stages/1/after/0', hint: 'did you mean "first"?', line: 19 },
    ],
    [
      'a circle',
      day([stage('first', { after: ['second'] }), stage('second')]),
      { pointer: '/spec/stages/0/after', message: '"first" would wait for itself' },
    ],
    [
      'a condition on an unknown metric',
      day([
        stage('first'),
        stage('second', { when: [{ stage: 'first', expression: 'recovery.scor >= 80' }] }),
      ]),
      { pointer: '/spec/stages/1/when/0/expression' },
    ],
    [
      'a condition on a stage that need not have ended',
      day([
        stage('first'),
        stage('second', { after: [], when: [{ stage: 'first', expression: 'recovery.score >= 8' }] }),
      ]),
      { pointer: '/spec/stages/1/when/0/stage' },
    ],
    [
      'a condition on an experiment that its stage has not',
      day([
        stage('first'),
        stage('second', { when: [{ stage: 'first', experiment: 'cat', expression: 'recovery.score >= 8' }] }),
      ]),
      { pointer: '/spec/stages/1/when/0/experiment', hint: 'did you mean "cut"?' },
    ],
    [
      'a hypothesis that nothing can refute',
      day([
        stage('first', {
          experiments: [{ experiment: 'cut', hypothesis: { statement: 'fine', expect: [] } }],
        }),
      ]),
      { pointer: '/spec/stages/0/experiments/0/hypothesis/expect' },
    ],
    ['two stages of a name', day([stage('first'), stage('first')]), { pointer: '/spec/stages/1/name' }],
  ])('is refused with %s', (_, text, issue) => {
    expect(issuesOf(text)).toContainEqual(expect.objectContaining({ file: 'day.yaml', ...issue }));
  });

  test('that is blind must not tell in public what it injects, nor by skipping a stage', () => {
    const blind = { blind: true };
    expect(issuesOf(day([stage('first')], blind))).toEqual([]);
    expect(issuesOf(day([stage('first')], blind, 'link-down'))).toMatchObject([
      { pointer: '/metadata/name' },
    ]);
    expect(issuesOf(day([stage('the-cut')], blind))).toMatchObject([{ pointer: '/spec/stages/0/name' }]);
    expect(issuesOf(day([stage('first', { pause: 'A link down comes now.' })], blind))).toMatchObject([
      { pointer: '/spec/stages/0/pause', message: expect.stringContaining('"link-down"') },
    ]);
    const conditional = stage('second', { when: [{ stage: 'first', expression: 'recovery.score >= 8' }] });
    expect(issuesOf(day([stage('first'), conditional], blind))).toMatchObject([
      { pointer: '/spec/stages/1/when' },
    ]);
  });
});
