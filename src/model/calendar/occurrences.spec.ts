import { describe, expect, test } from '@jest/globals';
import { getNextMillis } from 'bullmq';
import fc from 'fast-check';
import { parseCron } from './cron.js';
import { nextOccurrence } from './occurrences.js';
import { cronTexts, zonesAndNoons } from './testing/cron-texts.js';
import { NaiveCron } from './testing/minute-by-minute.js';

const at = (text: string): number => Date.parse(text);

function occurrences(text: string, zone: string, fromMs: number, untilMs: number): number[] {
  const cron = parseCron(text);
  const found: number[] = [];
  for (let ms = nextOccurrence(cron, zone, fromMs); ms !== undefined && ms < untilMs;) {
    found.push(ms);
    ms = nextOccurrence(cron, zone, ms);
  }
  return found;
}

const firstOf = (text: string, zone: string, from: string, count: number): string[] => {
  const cron = parseCron(text);
  const found: string[] = [];
  for (let ms = nextOccurrence(cron, zone, at(from)); ms !== undefined && found.length < count;) {
    found.push(new Date(ms).toISOString().slice(0, 16));
    ms = nextOccurrence(cron, zone, ms);
  }
  return found;
};

describe('a cron expression in a time zone', () => {
  test('does not happen at the instant that it is asked from', () => {
    expect(firstOf('0 4 * * *', 'UTC', '2027-01-01T04:00Z', 1)).toEqual(['2027-01-02T04:00']);
    expect(firstOf('0 0 * * *', 'UTC', '2027-01-01T14:00Z', 1)).toEqual(['2027-01-02T00:00']);
  });

  test.each([
    [
      'a time of day that is left out: when the clocks jump',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00', '2027-03-29T00:30'],
    ],
    [
      'midnight that is left out: when the clocks jump',
      '0 0 * * *',
      'America/Santiago',
      '2026-09-05T12:00Z',
      ['2026-09-06T04:00', '2026-09-07T03:00'],
    ],
    [
      'a change of half an hour',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-02T16:00Z',
      ['2026-10-03T15:30', '2026-10-04T15:15'],
    ],
    [
      'several that are left out: once',
      '*/15 2 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      ['2027-03-28T01:00', '2027-03-29T00:00'],
    ],
    [
      'a time of day that is shown twice: the first time',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-10-30T12:00Z',
      ['2027-10-31T00:30', '2027-11-01T01:30'],
    ],
    [
      'every hour, on the day that is an hour short',
      '30 * * * *',
      'Europe/Berlin',
      '2027-03-27T23:45Z',
      ['2027-03-28T00:30', '2027-03-28T01:30', '2027-03-28T02:30'],
    ],
    [
      'every hour, on the day that is an hour longer',
      '30 * * * *',
      'Europe/Berlin',
      '2027-10-30T23:45Z',
      ['2027-10-31T00:30', '2027-10-31T01:30', '2027-10-31T02:30'],
    ],
    [
      'a leap day',
      '0 12 29 2 *',
      'Asia/Tokyo',
      '2027-01-01T00:00Z',
      ['2028-02-29T03:00', '2032-02-29T03:00'],
    ],
    [
      'a leap day that is a Sunday',
      '0 12 29 2 */7',
      'UTC',
      '2032-03-01T00:00Z',
      ['2060-02-29T12:00', '2088-02-29T12:00', '2128-02-29T12:00'],
    ],
    [
      'either day, where both are named',
      '0 0 13 * 5',
      'UTC',
      '2027-08-01T00:00Z',
      ['2027-08-06T00:00', '2027-08-13T00:00', '2027-08-20T00:00'],
    ],
    ['both days, where one begins with *', '0 0 */10 * 5', 'UTC', '2027-01-01T00:00Z', ['2027-05-21T00:00']],
  ])('knows %s', (_what, text, zone, from, expected) => {
    expect(firstOf(text, zone, from, expected.length)).toEqual(expected);
  });

  test('is not looked for after a time that is given', () => {
    const daily = parseCron('0 4 * * *');
    const fourMs = at('2027-01-01T04:00Z');
    expect(nextOccurrence(daily, 'UTC', fourMs - 1, fourMs)).toBe(fourMs);
    expect(nextOccurrence(daily, 'UTC', fourMs - 1, fourMs - 1)).toBeUndefined();
    const jumpMs = at('2027-03-28T01:00Z');
    expect(nextOccurrence(parseCron('30 2 * * *'), 'Europe/Berlin', jumpMs - 1, jumpMs)).toBe(jumpMs);
  });

  test('is looked at in the minute in which the clocks jump', () => {
    expect(firstOf('59 1 * * *', 'Europe/Berlin', '2027-03-28T00:59Z', 1)).toEqual(['2027-03-28T23:59']);
    expect(firstOf('30 2 * * *', 'Europe/Berlin', '2027-03-28T00:59Z', 1)).toEqual(['2027-03-28T01:00']);
  });

  test('happens when a walk through every minute finds it', () => {
    fc.assert(
      fc.property(cronTexts, zonesAndNoons, (text, [zone, fromMs]) => {
        const untilMs = fromMs + 2 * 86_400_000;
        const naive = new NaiveCron(text, zone, fromMs);
        const expected: number[] = [];
        for (let ms = fromMs; ms < untilMs; ms += 60_000)
          if (naive.happens(ms) && ms > fromMs) expected.push(ms);
        expect(occurrences(text, zone, fromMs, untilMs)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  test('agrees with another parser where no clocks are changed', () => {
    fc.assert(
      fc.property(cronTexts, fc.integer({ min: 0, max: 4e9 }), (text, second) => {
        const ours = nextOccurrence(parseCron(text), 'UTC', second * 1000);
        expect(ours).toBe(getNextMillis(second * 1000, { pattern: text, tz: 'UTC' }));
      }),
      { numRuns: 300 },
    );
  });
});
