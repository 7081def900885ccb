/**
 * The naive reading of a cron expression, to compare with: walk through every minute, look at the clock on the wall, and
 * ask whether its digits match. Shares no code with what it checks; the clock is read as text.
 */

const MINUTE_MS = 60_000;
/** Longer than any repeated stretch. */
const LOOK_BACK_MS = 4 * 3_600_000;
const FIELD_SIZES = [60, 24, 32, 13, 7];

/** What clocks of a zone show, minute by minute; read once, since many expressions are walked through the same month. */
class WallClock {
  private readonly clock: Intl.DateTimeFormat;
  private readonly walls = new Map<number, number>();

  constructor(zone: string) {
    this.clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  }

  /** The shown time as milliseconds of a calendar without zones. */
  at(ms: number): number {
    let wall = this.walls.get(ms);
    if (wall === undefined) {
      wall = Date.parse(`${this.clock.format(ms).replace(' ', 'T')}:00Z`);
      this.walls.set(ms, wall);
    }
    return wall;
  }
}

const clocks = new Map<string, WallClock>();

export function wallClockOf(zone: string): WallClock {
  const clock = clocks.get(zone) ?? new WallClock(zone);
  clocks.set(zone, clock);
  return clock;
}

export class NaiveCron {
  private readonly clock: WallClock;
  private readonly everyHour: boolean;
  private readonly either: boolean;
  /** Of each field, whether a value fits. */
  private readonly fits: boolean[][];
  private readonly shownAt = new Map<number, number>();
  private lastWall: number;

  /** Walks must begin at `fromMs` and go on minute by minute. */
  constructor(text: string, zone: string, fromMs: number) {
    const fields = text.split(' ');
    this.everyHour = fields[1] === '*';
    this.either = !fields[2].startsWith('*') && !fields[4].startsWith('*');
    this.fits = fields.map((field, at) =>
      Array.from({ length: FIELD_SIZES[at] }, (_, value) =>
        field.split(',').some((part) => fitsPart(value, part)),
      ),
    );
    this.clock = wallClockOf(zone);
    for (let ms = fromMs - LOOK_BACK_MS; ms < fromMs; ms += MINUTE_MS)
      this.shownAt.set(this.clock.at(ms), ms);
    this.lastWall = this.clock.at(fromMs - MINUTE_MS);
  }

  happens(ms: number): boolean {
    const wall = this.clock.at(ms);
    const left = wall - this.lastWall - MINUTE_MS;
    this.lastWall = wall;
    if (this.everyHour) return this.matches(wall);
    const before = this.shownAt.get(wall);
    this.shownAt.set(wall, ms);
    for (let skipped = MINUTE_MS; skipped <= left; skipped += MINUTE_MS)
      if (this.matches(wall - skipped)) return true;
    return this.matches(wall) && (before === undefined || ms - before > LOOK_BACK_MS);
  }

  private matches(wall: number): boolean {
    const date = new Date(wall);
    const [minutes, hours, days, months, weekDays] = this.fits;
    if (!minutes[date.getUTCMinutes()] || !hours[date.getUTCHours()] || !months[date.getUTCMonth() + 1])
      return false;
    const [byDate, byWeek] = [days[date.getUTCDate()], weekDays[date.getUTCDay()]];
    return this.either ? byDate || byWeek : byDate && byWeek;
  }
}

/** All occurrences from `fromMs` to `untilMs`, neither included. */
export function naiveOccurrences(text: string, zone: string, fromMs: number, untilMs: number): number[] {
  const naive = new NaiveCron(text, zone, fromMs);
  const found: number[] = [];
  for (let ms = fromMs; ms < untilMs; ms += MINUTE_MS) if (naive.happens(ms) && ms > fromMs) found.push(ms);
  return found;
}

/** Parts are a star (with a step only where values begin at 0), a number, or a range; names and 7 are not read. */
function fitsPart(value: number, part: string): boolean {
  const [range, step = '1'] = part.split('/');
  if (range === '*') return value % Number(step) === 0;
  const [first, last = first] = range.split('-').map(Number);
  return value >= first && value <= last && (value - first) % Number(step) === 0;
}
