/**
 * Time zones by their IANA names: what the clocks on the wall show at an instant, and when they are changed.
 *
 * Rules come from the time zone database that the runtime's Intl brings along (ICU), so that no copy of ours grows old.
 * Instants and wall times are milliseconds; a wall time is counted in a calendar that knows no zones. Changes less than a
 * week apart that cancel each other are not seen; no zone has had such in this century.
 */
const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 86_400_000;

/** Making one takes longer than using it a hundred times. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  let clock = clocks.get(zone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    clocks.set(zone, clock);
  }
  return clock;
}

/** Offsets at the beginnings of weeks (counted from 1970), by zone: a search asks the same weeks again and again. */
const offsetsOfWeeks = new Map<string, Map<number, number>>();
/** Centuries; a search that goes on for longer begins anew. */
const MOST_WEEKS = 20_000;

/** What has to be added to the instant to get what clocks on the wall show then. */
export function offsetMs(zone: string, instantMs: number): number {
  const week = Math.floor(instantMs / WEEK_MS);
  const offset = offsetOfWeek(zone, week);
  return offset === offsetOfWeek(zone, week + 1) ? offset : readOffsetMs(zone, instantMs);
}

function offsetOfWeek(zone: string, week: number): number {
  let offsets = offsetsOfWeeks.get(zone);
  if (offsets === undefined || offsets.size > MOST_WEEKS) {
    offsets = new Map();
    offsetsOfWeeks.set(zone, offsets);
  }
  let offset = offsets.get(week);
  if (offset === undefined) {
    offset = readOffsetMs(zone, week * WEEK_MS);
    offsets.set(week, offset);
  }
  return offset;
}

function readOffsetMs(zone: string, instantMs: number): number {
  const wholeMs = Math.floor(instantMs / 1000) * 1000;
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of clockOf(zone).formatToParts(wholeMs)) shown[type] = Number(value);
  const { year, month, day, hour, minute, second } = shown as Record<string, number>;
  return Date.UTC(year, month - 1, day, hour, minute, second) - wholeMs;
}

export const wallMs = (zone: string, instantMs: number): number => instantMs + offsetMs(zone, instantMs);

/** The first instant after `fromMs`, up to `toMs`, at which the clocks are changed; whole minutes. */
export function nextChangeMs(zone: string, fromMs: number, toMs: number): number | undefined {
  const before = offsetMs(zone, fromMs);
  let known = fromMs;
  while (known < toMs) {
    const probe = Math.min(known + WEEK_MS, toMs);
    if (offsetMs(zone, probe) !== before) return changeBetween(zone, known, probe, before);
    known = probe;
  }
  return undefined;
}

/** @param sameMs still has the offset `before`, `otherMs` has not */
function changeBetween(zone: string, sameMs: number, otherMs: number, before: number): number {
  let [low, high] = [Math.floor(sameMs / MINUTE_MS), Math.ceil(otherMs / MINUTE_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(zone, middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

/** All instants at which the wall shows this: none in a gap, two where an hour is repeated. */
export function instantsOf(zone: string, wall: number): number[] {
  const offsets = new Set([wall - WEEK_MS / 7, wall + WEEK_MS / 7].map((near) => offsetMs(zone, near)));
  return [...offsets]
    .map((offset) => wall - offset)
    .filter((instant) => wallMs(zone, instant) === wall)
    .sort((a, b) => a - b);
}

/** Whether the runtime has rules for a zone of this name. */
export function isKnown(zone: string): boolean {
  try {
    clockOf(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** An instant as a clock there shows it, with its offset: `2026-12-01 04:00 +09:00`. */
export function formatWall(zone: string, instantMs: number): string {
  const offset = offsetMs(zone, instantMs);
  const shown = new Date(instantMs + offset).toISOString();
  const minutes = Math.round(Math.abs(offset) / MINUTE_MS);
  const two = (value: number): string => String(value).padStart(2, '0');
  const seconds = shown.slice(17, 19) === '00' ? '' : shown.slice(16, 19);
  const sign = offset < 0 ? '-' : '+';
  return `${shown.slice(0, 10)} ${shown.slice(11, 16)}${seconds} ${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
