import { expect, test } from '@jest/globals';
import { compileProgram, startProgram } from '../../test/support/child-program.js';

test('logs go to stderr and never to stdout, which belongs to results', async () => {
  const program = compileProgram(`
import { createLogger } from './src/system/logger.js';
createLogger({ logLevel: 'info' }).info('to stderr');
console.log('to stdout');
`);
  try {
    const child = startProgram(program, []);
    let errors = '';
    child.process.stderr!.on('data', (chunk: string) => (errors += chunk));
    expect(await child.line()).toBe('to stdout');
    await child.ended;
    expect(JSON.parse(errors)).toMatchObject({ level: 'info', msg: 'to stderr' });
  } finally {
    program.remove();
  }
});
