import { expect, test } from '@jest/globals';
import { EnvironmentError } from '../../../core/problem.js';
import { createLogger } from '../../../system/logger.js';
import { NestLogger } from './nest-logger.js';

function collect(logLevel: 'info' | 'debug'): { lines: () => Record<string, unknown>[]; nest: NestLogger } {
  const written: string[] = [];
  const logger = createLogger({ logLevel }, { write: (line) => void written.push(line) });
  return {
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
    nest: new NestLogger(logger),
  };
}

test('the start-up chatter of the framework is for debugging', () => {
  const [quiet, verbose] = [collect('info'), collect('debug')];
  for (const { nest } of [quiet, verbose]) nest.log('AppModule dependencies initialized', 'InstanceLoader');
  expect(quiet.lines()).toEqual([]);
  expect(verbose.lines()).toMatchObject([{ level: 'debug', context: 'InstanceLoader' }]);
});

test('a service that can not be had is left to whoever starts the program', () => {
  const { nest, lines } = collect('info');
  nest.error(new EnvironmentError('no connection to the queue'), 'ExceptionHandler');
  expect(lines()).toEqual([]);
});

test('an error keeps its stack and who spoke', () => {
  const { nest, lines } = collect('info');
  nest.error('it broke', 'Error: it broke\n    at somewhere', 'problem');
  nest.error(new Error('as an object'), 'problem');
  expect(lines()).toMatchObject([
    { level: 'error', msg: 'it broke', context: 'problem', stack: 'Error: it broke\n    at somewhere' },
    {
      level: 'error',
      msg: 'as an object',
      context: 'problem',
      error: { type: 'Error', message: 'as an object' },
    },
  ]);
});
