/** Cron expressions, and times near changes of the clocks, for property tests. */
import fc from 'fast-check';

/** Zones whose clocks are changed by an hour, by half an hour, by two, at midnight, for a month, and never: with the days. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  'Europe/Berlin': ['2026-03-29', '2026-10-25'],
  'America/New_York': ['2026-03-08', '2026-11-01'],
  'America/Santiago': ['2026-04-05', '2026-09-06'],
  'Australia/Lord_Howe': ['2026-04-05', '2026-10-04'],
  'Antarctica/Troll': ['2026-03-29', '2026-10-25'],
  'Africa/Casablanca': ['2026-02-15', '2026-03-22'],
  'Asia/Kathmandu': ['2026-05-05'],
  UTC: ['2026-12-31'],
};

const DAY_MS = 86_400_000;

/** A zone and the noon (UTC) before one of its changes, or one or two days before that. */
export const zonesAndNoons: fc.Arbitrary<readonly [string, number]> = fc
  .tuple(
    fc.constantFrom(
      ...Object.entries(CHANGES).flatMap(([zone, days]) => days.map((day) => [zone, day] as const)),
    ),
    fc.constantFrom(0, 0, 0, 1, 2),
  )
  .map(([[zone, day], before]) => [zone, Date.parse(`${day}T12:00Z`) - (1 + before) * DAY_MS] as const);

const field = (from: number, to: number) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    { weight: 3, arbitrary: fc.integer({ min: from, max: to }).map(String) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.integer({ min: from, max: to }),
          fc.integer({ min: from, max: to }),
          fc.integer({ min: 1, max: 6 }),
        )
        .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .uniqueArray(fc.integer({ min: from, max: to }), { minLength: 2, maxLength: 4 })
        .map((some) => some.join(',')),
    },
  );

/** Expressions that fire at least once in a while; hours lean towards those in which clocks are changed. */
export const cronTexts: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(field(0, 59), fc.constantFrom('*/15', '*/7')),
    fc.oneof(field(0, 23), fc.constantFrom('0', '1', '2', '3', '0-3', '*/2')),
    fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: field(1, 28) }),
    fc.oneof({ weight: 4, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: field(1, 12) }),
    fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: field(0, 6) }),
  )
  .map((fields) => fields.join(' '));
