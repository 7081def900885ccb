import { describe, expect, it } from '@jest/globals';
import { assertAmount, assertClock, InternalError } from './assertion.js';

describe('assertions', () => {
  it.each([0, 1e-300, 1, Number.MAX_VALUE])('take %p for an amount', (value) => {
    expect(() => assertAmount(value, 'a rate', 'flow')).not.toThrow();
  });

  it.each([NaN, -1e-300, -1, Infinity, -Infinity])('refuse %p with what, where and the value', (value) => {
    const attempt = (): void => assertAmount(value, 'a rate', 'flow', 7);
    expect(attempt).toThrow(InternalError);
    expect(attempt).toThrow(
      `internal error: a rate must be finite and not negative (flow 7, value = ${value})`,
    );
  });

  it.each([
    [5, 4],
    [5, NaN],
    [5, Infinity],
    [NaN, 5],
  ])('refuse a clock that goes from %p to %p', (nowNs, nextNs) => {
    expect(() => assertClock(nowNs, nextNs, 'advance')).toThrow(
      `internal error: simulated time must go on (advance, nowNs = ${nowNs}, nextNs = ${nextNs})`,
    );
  });

  it('let a clock stand or go on', () => {
    expect(() => assertClock(5, 5, 'advance')).not.toThrow();
    expect(() => assertClock(5, 6, 'advance')).not.toThrow();
  });
});
