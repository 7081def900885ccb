import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rulesOf } from './schedule-rules.js';
import { scheduleSpecSchema, WEEK_DAYS } from './schedule.js';
import { blackoutAt, nextAbortMs, type Blackout } from '../model/calendar/blackouts.js';
import { cronTexts, zonesAndNoons } from '../model/calendar/testing/cron-texts.js';
import { stretchesOf } from './testing/tick-model.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Of a schedule that has a tick outside nearly every window. */
function windowsOf(timeZone: string, ...blackouts: object[]): readonly Blackout[] {
  const spec = { experimentRef: 'cut', cron: '* * * * *', timeZone, blackouts };
  return rulesOf(scheduleSpecSchema.parse(spec)).blackouts;
}

const at = (text: string): number => Date.parse(text);

/** The stretches of time, in minutes, in which a window holds. */
function held(windows: readonly Blackout[], fromMs: number, untilMs: number): string[] {
  const found: string[] = [];
  for (let ms = fromMs; ms < untilMs; ms += MINUTE_MS) {
    const entered = blackoutAt(windows, ms);
    if (entered === undefined) continue;
    found.push([ms, entered.untilMs].map((end) => new Date(end).toISOString().slice(5, 16)).join(' to '));
    ms = entered.untilMs - MINUTE_MS;
  }
  return found;
}

describe('a blackout between two times of day', () => {
  test.each([
    ['both left out by the clocks: not at all', '02:15', '02:45', '2027-03-27T22:00Z', []],
    [
      'from one that is left out: from when they jump',
      '02:15',
      '03:30',
      '2027-03-27T22:00Z',
      ['03-28T01:00 to 03-28T01:30'],
    ],
    [
      'to one that is left out: until they jump',
      '01:30',
      '02:15',
      '2027-03-27T22:00Z',
      ['03-28T00:30 to 03-28T01:00'],
    ],
    [
      'both shown twice: twice',
      '02:15',
      '02:45',
      '2027-10-30T21:00Z',
      ['10-31T00:15 to 10-31T00:45', '10-31T01:15 to 10-31T01:45'],
    ],
    [
      'to one that is shown twice: for both',
      '01:30',
      '02:30',
      '2027-10-30T21:00Z',
      ['10-30T23:30 to 10-31T00:30', '10-31T01:00 to 10-31T01:30'],
    ],
    [
      'over the repeated hour: an hour longer',
      '01:00',
      '04:00',
      '2027-10-30T21:00Z',
      ['10-30T23:00 to 10-31T03:00'],
    ],
    [
      'over midnight, and the hour that is left out: an hour shorter',
      '23:00',
      '04:00',
      '2027-03-27T21:00Z',
      ['03-27T22:00 to 03-28T02:00'],
    ],
  ])('holds where the clocks are changed, %s', (_what, from, to, begin, expected) => {
    const windows = windowsOf('Europe/Berlin', { from, to });
    expect(held(windows, at(begin), at(begin) + 8 * 3_600_000)).toEqual(expected);
  });

  test('goes by clocks of its own, where it names them', () => {
    const windows = windowsOf('Asia/Tokyo', {
      from: '09:00',
      to: '17:00',
      days: ['Mon'],
      timeZone: 'America/New_York',
    });
    expect(windows[0].label).toBe('09:00 to 17:00 (Mon) in America/New_York');
    expect(held(windows, at('2027-03-08T00:00Z'), at('2027-03-16T00:00Z'))).toEqual([
      '03-08T14:00 to 03-08T22:00',
      '03-15T13:00 to 03-15T21:00',
    ]);
  });
});

const timeOfDay = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 10, 29, 30, 59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const daily = fc
  .tuple(timeOfDay, timeOfDay, fc.option(fc.subarray([...WEEK_DAYS], { minLength: 1 }), { nil: undefined }))
  .filter(([from, to]) => from !== to)
  .map(([from, to, days]) => ({ from, to, ...(days === undefined ? {} : { days }) }));
const recurring = fc
  .tuple(cronTexts, fc.integer({ min: 1, max: 3000 }))
  .map(([cron, minutes]) => ({ cron, duration: `${minutes}m` }));

describe('a blackout of any kind', () => {
  test('holds, begins and ends when a look at the clocks minute by minute says so', () => {
    fc.assert(
      fc.property(fc.oneof(daily, recurring), zonesAndNoons, (written, [zone, fromMs]) => {
        const spec = scheduleSpecSchema.parse({
          ...{ experimentRef: 'cut', cron: '* * * * *', timeZone: zone },
          blackouts: [{ ...written, onEnter: 'abort' }],
        });
        let windows: readonly Blackout[];
        try {
          windows = rulesOf(spec).blackouts;
        } catch {
          // one that covers everything
          return;
        }
        const untilMs = fromMs + 3 * DAY_MS;
        const stretches = stretchesOf(spec.blackouts[0], zone, fromMs, untilMs);
        const covered = (ms: number): boolean => stretches.some(([start, end]) => start <= ms && ms < end);
        const wrong: string[] = [];
        for (let ms = fromMs; ms < untilMs; ms += 10 * MINUTE_MS) {
          if ((blackoutAt(windows, ms) !== undefined) !== covered(ms)) wrong.push(new Date(ms).toISOString());
        }
        expect(wrong).toEqual([]);
        const first = nextAbortMs(windows, fromMs);
        const starts = stretches.map(([start]) => start).filter((start) => start > fromMs);
        expect(first !== undefined && first < untilMs ? first : undefined).toBe(
          starts.length === 0 ? undefined : Math.min(...starts),
        );
      }),
      { numRuns: 40 },
    );
  });
});
