import { describe, expect, it } from '@jest/globals';
import { InputError } from '../core/problem.js';
import { experimentDocument, yamlOf } from '../../test/support/definitions.js';
import { statedObjectives } from './experiment.js';
import { refuseFiles } from './fabric-document.js';
import { loadDefinitions } from './load.js';

const files: Record<string, string> = {
  'strict.yaml': 'recovery: { halfLife: 10s, weights: { ettr: 0.5 } }\ntargets: { recovery: 80 }\n',
  'wrong.yaml': 'recovery:\n  halfLive: 10s\n',
  'list.yaml': '- recovery\n',
};
const readText = (path: string): string => {
  if (!(path in files)) throw InputError.at('', 'there is no such file');
  return files[path];
};

const load = (scoring: unknown, read = readText) =>
  loadDefinitions(yamlOf(experimentDocument('x', 'small', { scoring })), read, 'x.yaml').experiments[0];

function issuesOf(work: () => unknown): InputError['issues'] {
  try {
    work();
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
  return [];
}

describe('the scoring of an experiment', () => {
  it('takes a shared file, and what stands in the experiment wins key by key', () => {
    const { value, source } = load({ profile: 'strict.yaml', recovery: { weights: { pace: 1 } } });
    expect(value.spec.scoring!.recovery).toEqual({
      weights: { recover: 0.4, failback: 0.2, pace: 1, ettr: 0.5 },
      halfLife: 10e9,
    });
    expect(JSON.stringify(source)).not.toContain('strict.yaml');
  });

  it('turns targets into objectives beside those that are written', () => {
    const { spec } = load({ profile: 'strict.yaml', targets: { isolation: 95 } }).value;
    expect(statedObjectives(spec)).toEqual([
      'recovery.recovered == 1',
      'recovery.score >= 80',
      'isolation.score >= 95',
    ]);
  });

  it.each([
    [{ profile: 'none.yaml' }, { pointer: '/spec/scoring/profile', message: 'there is no such file' }],
    [
      { profile: 'wrong.yaml' },
      { pointer: '/recovery/halfLive', file: 'wrong.yaml', line: 2, hint: 'did you mean "halfLife"?' },
    ],
    [{ profile: 'list.yaml' }, { file: 'list.yaml', message: expect.stringMatching(/one mapping/) }],
    [{ recovry: {} }, { pointer: '/spec/scoring/recovry', file: 'x.yaml', hint: 'did you mean "recovery"?' }],
    [{ targets: { recovery: 180 } }, { pointer: '/spec/scoring/targets/recovery', file: 'x.yaml' }],
    [{ isolation: { weights: { jobs: 0, flows: 0 } } }, { pointer: '/spec/scoring/isolation/weights' }],
  ])('is refused with its place: %j', (scoring, issue) => {
    expect(issuesOf(() => load(scoring))).toEqual([expect.objectContaining(issue)]);
  });

  it('names no file where a server reads it', () => {
    const [issue] = issuesOf(() => load({ profile: 'strict.yaml' }, refuseFiles));
    expect(issue).toMatchObject({ pointer: '/spec/scoring/profile' });
  });
});
