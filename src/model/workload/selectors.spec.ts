import { describe, expect, it } from '@jest/globals';
import { InputError } from '../../core/problem.js';
import { selectNames } from './selectors.js';

const names = ['llm-a', 'llm-b', 'etl'];

describe('selectNames', () => {
  it('picks by name and pattern, each once, in the order of the patterns', () => {
    expect(selectNames(['etl', 'llm-*', 'llm-a'], names, 'job', '/jobs')).toEqual(['etl', 'llm-a', 'llm-b']);
  });

  it('a name that matches nothing is refused with the nearest one', () => {
    expect(() => selectNames(['llm-*', 'lmm-a'], names, 'job', '/spec/jobs')).toThrow(
      '/spec/jobs/1: no job is called "lmm-a"; there are llm-a, llm-b, etl (did you mean "llm-a"?)',
    );
    expect(() => selectNames(['x*'], [], 'job', '')).toThrow(InputError);
  });
});
