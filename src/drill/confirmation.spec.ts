/** Whoever drills a real fabric names it; whoever names one gets it or nothing. */
import { expect, it } from '@jest/globals';
import { confirmationIssue, isReal } from './confirmation.js';

const simulated = { name: 'twin', driver: 'simulated' };
const lab = { name: 'lab', driver: 'linux' };
const other = { name: 'other', driver: 'linux' };

it('only a simulated fabric is not real', () => {
  expect([simulated, lab].map(isReal)).toEqual([false, true]);
});

it('a real fabric must be named, each of several', () => {
  expect(confirmationIssue([lab], undefined)).toEqual({
    code: 'confirmation-required',
    fabric: 'lab',
    message: '"lab" is a real fabric',
  });
  expect(confirmationIssue([lab], 'lba')).toMatchObject({ code: 'confirmation-required', fabric: 'lab' });
  expect(confirmationIssue([lab], 'lab')).toBeUndefined();
  expect(confirmationIssue([lab, lab], 'lab')).toBeUndefined();
  expect(confirmationIssue([lab, other], 'lab')).toMatchObject({ fabric: 'other' });
  expect(confirmationIssue([simulated, lab], 'twin')).toMatchObject({ fabric: 'lab' });
});

it('a name that is not drilled is refused on simulations alone, and none is needed there', () => {
  expect(confirmationIssue([simulated], undefined)).toBeUndefined();
  expect(confirmationIssue([simulated], 'twin')).toBeUndefined();
  expect(confirmationIssue([simulated], 'lab')).toEqual({
    code: 'confirmation-mismatch',
    fabric: 'lab',
    message: '"lab" is not what this runs on, which is the simulated "twin"',
  });
  expect(confirmationIssue([], 'lab')).toBeUndefined();
});
