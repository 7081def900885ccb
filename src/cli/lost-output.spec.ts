import { expect, it, jest } from '@jest/globals';
import { EXIT } from '../scoring/exit-codes.js';
import { settleOutput, surviveLostOutput } from './lost-output.js';

const failing = (code: string): Error => Object.assign(new Error(`${code}: a write failed`), { code });

it.each([
  ['a result that was lost is no pass', 'ENOSPC', EXIT.passed, EXIT.inconclusive],
  ['a result that was lost hides nothing worse', 'ENOSPC', EXIT.failed, EXIT.failed],
  ['a reader that has read enough loses nothing', 'EPIPE', EXIT.passed, EXIT.passed],
])('%s', async (_, code, exitCode, left) => {
  let said = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((said += String(text)), true));
  const lost = surviveLostOutput();
  process.stdout.emit('error', failing(code));
  process.stderr.emit('error', failing(code));
  expect(await settleOutput(exitCode, lost)).toBe(left);
  expect(said.includes('error: the result could not be written: ENOSPC: a write failed\n')).toBe(
    code !== 'EPIPE',
  );
  jest.restoreAllMocks();
});
