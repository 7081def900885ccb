/** Errors that cross to another process stay what they are. */
import { expect, it } from '@jest/globals';
import { EnvironmentError, InputError } from '../../core/problem.js';
import { FabricError } from '../plan/fabric-error.js';
import { errorOf, thrownOf } from './task.js';

const issues = [{ pointer: '/spec/faults/0', message: 'no such link', hint: 'take another' }];
const across = (error: unknown): Error => errorOf(structuredClone(thrownOf(error)));

it('bad input keeps its issues, and whether the fabric’s document has them', () => {
  const input = across(new InputError(issues));
  expect(input).toBeInstanceOf(InputError);
  expect(input).not.toBeInstanceOf(FabricError);
  expect((input as InputError).issues).toEqual(issues);
  const fabric = across(new FabricError(issues));
  expect(fabric).toBeInstanceOf(FabricError);
  expect((fabric as FabricError).issues).toEqual(issues);
});

it('a missing service keeps its message and the next step', () => {
  const error = across(new EnvironmentError('no database', 'start one'));
  expect(error).toBeInstanceOf(EnvironmentError);
  expect(error).toMatchObject({ message: 'no database', hint: 'start one' });
});

it('a bug keeps the place where it happened; what is no error is told in words', () => {
  const bug = new RangeError('out of range');
  const told = across(bug);
  expect(told).not.toBeInstanceOf(InputError);
  expect(told).toMatchObject({ message: 'out of range', stack: bug.stack });
  expect(thrownOf('just words')).toEqual({ kind: 'bug', message: 'just words', stack: undefined });
  expect(across('just words').message).toBe('just words');
});
