import { BadRequestException, NotFoundException } from '@nestjs/common';
import { describe, expect, test } from '@jest/globals';
import { QueryFailedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { EnvironmentError, InputError } from '../../../core/problem.js';
import { ConflictError, NotFoundError } from '../../../system/errors.js';
import { toProblem } from './problem.js';

const problem = (error: unknown) => toProblem(error, '/v1/things', 'incident-1');

describe('a problem', () => {
  test('keeps every issue of an input error with pointer, line and hint', () => {
    const issues = [
      {
        pointer: '/spec/faults/0/kind',
        message: 'unknown fault kind "link-dwn"',
        hint: 'did you mean "link-down"?',
        line: 7,
      },
      { pointer: '/spec/seed', message: 'must be an integer' },
    ];
    expect(problem(new InputError(issues))).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: '2 things are wrong with the input',
      instance: '/v1/things',
      errors: issues,
    });
  });

  test.each([
    [404, new NotFoundError('there is no run 7', 'GET /v1/runs lists them')],
    [409, new ConflictError('the run has ended', 'start another')],
    [503, new EnvironmentError('the database is gone', 'set DATABASE_URL')],
  ])('has status %i and the hint of the error', (status, error) => {
    expect(problem(error)).toMatchObject({ status, detail: error.message, hint: error.hint });
  });

  test('covers what the framework and the body parser refuse', () => {
    expect(problem(new NotFoundException('Cannot GET /x'))).toMatchObject({
      status: 404,
      detail: 'Cannot GET /x',
    });
    expect(problem(new BadRequestException(['a is wrong', 'b is wrong']))).toMatchObject({
      status: 400,
      errors: [
        { pointer: '', message: 'a is wrong' },
        { pointer: '', message: 'b is wrong' },
      ],
    });
    const tooLarge = Object.assign(new Error('request entity too large'), { status: 413, expose: true });
    expect(problem(tooLarge)).toMatchObject({ status: 413, detail: 'request entity too large' });
  });

  const coded = (code: string, message = 'secret') => Object.assign(new Error(message), { code });

  test.each([
    ['a refused connection', coded('ECONNREFUSED'), /ECONNREFUSED/],
    ['a reset connection', coded('ECONNRESET'), /ECONNRESET/],
    [
      'one refusal per address of a host',
      new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')]),
      /ECONNREFUSED/,
    ],
    ['a server that shuts down', coded('57P01'), /57P01/],
    ['a server that starts', coded('57P03'), /57P03/],
    ['a failed connection', coded('08006'), /08006/],
    ['a broken connection', new Error('Connection terminated unexpectedly'), /Connection terminated/],
    [
      'a client without a connection',
      new Error('Client has encountered a connection error and is not queryable'),
      /not queryable/,
    ],
    ['a transaction whose connection went', new QueryRunnerProviderAlreadyReleasedError(), /transaction/],
    ['a query that was under way', new QueryFailedError('SELECT secret', [], coded('57P01')), /57P01/],
    [
      'a query whose connection broke',
      new QueryFailedError('SELECT secret', [], new Error('Connection terminated')),
      /Connection terminated/,
    ],
  ])('says that the database is lost: %s', (_, error, reason) => {
    const told = problem(error);
    expect(told).toMatchObject({ status: 503, instance: '/v1/things' });
    expect(told.detail).toMatch(reason);
    expect(told.hint).toMatch(/DATABASE_URL/);
    expect(JSON.stringify(told)).not.toMatch(/secret/);
  });

  test.each([
    ['a bug', new TypeError("Cannot read properties of undefined (reading 'secret')")],
    ['a database error', Object.assign(new Error('duplicate key: secret'), { code: '23505' })],
    ['an error that hides itself', Object.assign(new Error('secret'), { status: 400, expose: false })],
    ['a thrown text', 'secret'],
  ])('tells nothing of %s but an id for the log', (_, error) => {
    const told = problem(error);
    expect(told).toMatchObject({
      status: 500,
      title: 'Internal Server Error',
      instance: 'urn:uuid:incident-1',
    });
    expect(told.detail).toMatch(/incident-1/);
    expect(JSON.stringify(told)).not.toMatch(/secret/);
  });
});
