import { describe, expect, it } from '@jest/globals';
import { ackTimeoutNs, fabricSettingsSchema } from '../settings.js';
import { RetransmissionSchedule } from './retransmission.js';

const settings = (overrides: object) => fabricSettingsSchema.parse(overrides);

describe('retransmission schedule', () => {
  it.each([
    [14, 0.067],
    [18, 1.07],
    [20, 4.29],
    [22, 17.2],
  ])('waits 4.096 µs × 2^%i for one try', (ackTimeoutExponent, seconds) => {
    const timeoutS = ackTimeoutNs(settings({ ackTimeoutExponent })) / 1e9;
    expect(Math.abs(timeoutS - seconds) / seconds).toBeLessThan(0.005);
  });

  it('counts the first transmission too before a QP errs with a fixed timer', () => {
    const schedule = new RetransmissionSchedule(settings({ adaptiveRetransmission: false }));
    expect(schedule.patienceNs / 1e9).toBeCloseTo(8 * 4.294967296, 9);
  });

  it('ends after retries × timeout with the adaptive timer', () => {
    const schedule = new RetransmissionSchedule(settings({}));
    expect(schedule.patienceNs / 1e9).toBeCloseTo(7 * 4.294967296, 9);
  });

  it('doubles the adaptive interval up to the full timeout', () => {
    const schedule = new RetransmissionSchedule(settings({ adaptiveBase: '4096us', ackTimeoutExponent: 14 }));
    const intervalsMs = [1, 2, 3, 4, 5, 6].map((attempt) => schedule.intervalNs(attempt) / 1e6);
    expect(intervalsMs).toEqual([4.096, 8.192, 16.384, 32.768, 65.536, 67.108864]);
    expect([1, 5, 6].map((attempt) => schedule.isAdaptive(attempt))).toEqual([true, true, false]);
  });
});
