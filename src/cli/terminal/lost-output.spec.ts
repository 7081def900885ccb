import { expect, it, jest } from '@jest/globals';
import { EXIT } from '../../scoring/exit-codes.js';
import { settleOutput } from './lost-output.js';

it.each([
  ['a result that was lost is no pass', 'ENOSPC', EXIT.passed, EXIT.inconclusive],
  ['a result that was lost hides nothing worse', 'ENOSPC', EXIT.failed, EXIT.failed],
  ['a reader that has read enough loses nothing', 'EPIPE', EXIT.passed, EXIT.passed],
])('%s', (_, code, exitCode, left) => {
  let said = '';
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((said += String(text)), true));
  expect(settleOutput(exitCode, Object.assign(new Error(`${code}: a write failed`), { code }))).toBe(left);
  jest.restoreAllMocks();
  expect(said).toBe(
    code === 'EPIPE' ? '' : 'error: the result could not be written: ENOSPC: a write failed\n',
  );
});
