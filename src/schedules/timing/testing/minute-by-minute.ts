/**
 * The naive reading of a cron expression, for specs to compare with: walk through every minute, look at the clock on the
 * wall, and ask whether its digits match. Shares no code with what it checks; the clock is read as text.
 */
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

const MINUTE_MS = 60_000;
/** Longer than any repeated stretch. */
const LOOK_BACK_MS = 4 * 3_600_000;

export class NaiveCron {
  private readonly clock: Intl.DateTimeFormat;
  private readonly fields: string[];
  private readonly shownAt = new Map<string, number>();
  private lastWall: number;

  /** Walks must begin at `fromMs` and go on minute by minute. */
  constructor(text: string, zone: string, fromMs: number) {
    this.fields = text.split(' ');
    this.clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
    for (let ms = fromMs - LOOK_BACK_MS; ms < fromMs; ms += MINUTE_MS) this.shownAt.set(this.shown(ms), ms);
    this.lastWall = this.wall(fromMs - MINUTE_MS);
  }

  happens(ms: number): boolean {
    const shown = this.shown(ms);
    const wall = this.wall(ms);
    const left = wall - this.lastWall - MINUTE_MS;
    this.lastWall = wall;
    const before = this.shownAt.get(shown);
    this.shownAt.set(shown, ms);
    if (this.fields[1] === '*') return this.matches(wall);
    for (let skipped = MINUTE_MS; skipped <= left; skipped += MINUTE_MS)
      if (this.matches(wall - skipped)) return true;
    return this.matches(wall) && (before === undefined || ms - before > LOOK_BACK_MS);
  }

  private shown(ms: number): string {
    return this.clock.format(ms);
  }

  private wall(ms: number): number {
    return Date.parse(`${this.shown(ms).replace(' ', 'T')}:00Z`);
  }

  private matches(wall: number): boolean {
    const date = new Date(wall);
    const values = [
      date.getUTCMinutes(),
      date.getUTCHours(),
      date.getUTCDate(),
      date.getUTCMonth() + 1,
      date.getUTCDay(),
    ];
    const fits = values.map((value, at) => this.fields[at].split(',').some((part) => fitsPart(value, part)));
    const either = !this.fields[2].startsWith('*') && !this.fields[4].startsWith('*');
    return fits[0] && fits[1] && fits[3] && (either ? fits[2] || fits[4] : fits[2] && fits[4]);
  }
}

/** Parts are those that `cronTexts` writes: a star (with a step only where values begin at 0), a number, a range. */
function fitsPart(value: number, part: string): boolean {
  const [range, step = '1'] = part.split('/');
  if (range === '*') return value % Number(step) === 0;
  const [first, last = first] = range.split('-').map(Number);
  return value >= first && value <= last && (value - first) % Number(step) === 0;
}

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
