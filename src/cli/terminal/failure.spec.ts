/** From errors to lines and exit codes. */
import { describe, expect, it } from '@jest/globals';
import { EnvironmentError, InputError } from '../../core/problem.js';
import { describeFailure, InterruptedError, ProblemError } from './failure.js';

const problem = (status: number, body: ProblemError['problem'] = { detail: 'so it is' }) =>
  describeFailure(new ProblemError(status, body));

describe('a failure', () => {
  it('of the input is a line per mistake and exit code 2', () => {
    const error = new InputError([
      { pointer: '/spec', message: 'wrong', file: 'a.yaml', line: 3, column: 5, hint: 'do that' },
      { pointer: '--seed', message: 'no seed' },
    ]);
    expect(describeFailure(error)).toEqual({
      lines: ['error: a.yaml:3:5 /spec: wrong (do that)', 'error: --seed: no seed'],
      exitCode: 2,
    });
  });

  it('of the environment has its way out below it and exit code 3', () => {
    expect(describeFailure(new EnvironmentError('no database', 'set DATABASE_URL'))).toEqual({
      lines: ['error: no database', '  set DATABASE_URL'],
      exitCode: 3,
    });
  });

  it('of ours shows where it came from and exit code 70', () => {
    const { lines, exitCode } = describeFailure(new TypeError('oops'));
    expect(exitCode).toBe(70);
    expect(lines[0]).toMatch(/^internal error: TypeError: oops\n +at /);
    expect(describeFailure('a string').lines[0]).toBe('internal error: a string');
  });

  it.each([
    [400, 2],
    [404, 2],
    [409, 2],
    [413, 2],
    [401, 3],
    [403, 3],
    [503, 3],
    [500, 70],
    [502, 70],
  ])('that the server answers with %i is exit code %i', (status, exitCode) => {
    expect(problem(status).exitCode).toBe(exitCode);
  });

  it('shows the server’s findings with place and hint', () => {
    const errors = [{ pointer: '/spec/seed', message: 'no', line: 4, hint: 'yes' }];
    expect(problem(400, { detail: 'not shown', errors }).lines).toEqual([
      'error: line 4 /spec/seed: no (yes)',
    ]);
  });

  it('shows the id under which the server logged its own bug, once', () => {
    const instance = 'urn:uuid:0b1c';
    expect(problem(500, { detail: 'oops', instance }).lines).toEqual(['error: oops', '  log entry 0b1c']);
    expect(problem(500, { detail: 'oops, see 0b1c', instance }).lines).toEqual(['error: oops, see 0b1c']);
    expect(problem(500, { detail: 'oops', instance: '/v1/runs' }).lines).toEqual(['error: oops']);
  });

  it('turns routes in hints into commands', () => {
    const hint = (text: string) => problem(404, { detail: 'gone', hint: text }).lines[1];
    expect(hint('GET /v1/runs lists them')).toBe('  to see what is there: fabricdrill runs list');
    expect(hint('GET /v1/fabrics lists them')).toBe('  to see what is there: fabricdrill fabrics list');
    expect(hint('GET /v1/game-days lists them')).toMatch(/: fabricdrill game-days list$/);
    expect(hint('GET /v1/schedules lists them')).toMatch(/: fabricdrill schedules list$/);
    expect(hint('follow /v1/runs/7/events')).toBe('  to wait for it: fabricdrill runs watch 7');
    expect(hint('how it ended is sealed; follow /v1/runs/7/events')).toBe(
      '  how it ended is sealed; follow it: fabricdrill runs watch 7',
    );
    expect(hint('GET /v1/game-days/d-1 shows them')).toBe('  fabricdrill game-days show d-1 shows them');
    expect(hint('GET /v1/runs/7/evidence has all of it')).toBe('  fabricdrill runs evidence 7 has all of it');
    expect(hint('try again')).toBe('  try again');
    const run = '0b1c0b1c-0000-4000-8000-000000000000';
    const sealed = {
      pointer: '/run',
      message: `the seal of run ${run} holds`,
      hint: 'POST /v1/game-days/d-1/commit breaks it',
    };
    expect(problem(409, { errors: [sealed] }).lines).toEqual([
      `error: /run: ${sealed.message} (fabricdrill game-days commit d-1 --run ${run} --verdict FILE breaks it)`,
    ]);
  });

  it('says nothing more when the user stopped it', () => {
    expect(describeFailure(new InterruptedError(4))).toEqual({ lines: [], exitCode: 4 });
  });
});
