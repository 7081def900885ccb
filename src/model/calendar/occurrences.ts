/**
 * When a cron expression happens in a time zone, also on days when the clocks are changed.
 *
 * Two kinds, told apart by the hour field. One that names every hour (`*`) goes with the time that passes: a wall time
 * that is left out does not happen, one that is shown twice happens twice. Any other means a time of day: where the clocks
 * leave it out, it happens at the moment they jump (several such moments are one), where they show it twice, the first
 * time only. So a daily time happens once on every day, and an hourly one every hour. The rule is that of Vixie cron,
 * without its limit of three hours. Parsers in common use differ here, and some lose the day when midnight is left out.
 */
import { nextWallMs, type Cron } from './cron.js';
import { nextChangeMs, offsetMs } from './zone.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Each turn of the search passes a change of the clocks or a repeated stretch; forty years have some hundreds at most. */
const MOST_TURNS = 1000;

const goesWithTime = (cron: Cron): boolean => cron.hours.length === 24;

/**
 * The first occurrence after an instant, or undefined when there is none within forty years.
 * @param untilMs later ones are not looked for
 */
export function nextOccurrence(
  cron: Cron,
  zone: string,
  afterMs: number,
  untilMs = Infinity,
): number | undefined {
  const foundMs = search(cron, zone, afterMs, untilMs);
  return foundMs === undefined || foundMs > untilMs ? undefined : foundMs;
}

/** May find one that is later than `untilMs`, but none that is much later. */
function search(cron: Cron, zone: string, afterMs: number, untilMs: number): number | undefined {
  let fromMs = (Math.floor(afterMs / MINUTE_MS) + 1) * MINUTE_MS;
  // the clocks may jump at the very first minute that is looked at
  if (happensAtJump(cron, fromMs, offsetMs(zone, fromMs - MINUTE_MS), offsetMs(zone, fromMs))) return fromMs;
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const offset = offsetMs(zone, fromMs);
    // clocks were never put forward by more than a day
    const wall = nextWallMs(cron, fromMs + offset, untilMs + offset + 2 * DAY_MS);
    if (wall === undefined) return undefined;
    const foundMs = wall - offset;
    const changeMs = foundMs === fromMs ? undefined : nextChangeMs(zone, fromMs, foundMs);
    if (changeMs !== undefined) {
      if (happensAtJump(cron, changeMs, offset, offsetMs(zone, changeMs))) return changeMs;
      fromMs = changeMs;
      continue;
    }
    const repeatedUntilMs = goesWithTime(cron) ? undefined : endOfRepeat(zone, foundMs, offset);
    if (repeatedUntilMs === undefined) return foundMs;
    fromMs = repeatedUntilMs;
  }
  return undefined;
}

/** Whether a matching time of day lies in what the clocks leave out when they are put forward. */
function happensAtJump(cron: Cron, changeMs: number, before: number, after: number): boolean {
  if (after <= before || goesWithTime(cron)) return false;
  const wall = nextWallMs(cron, changeMs + before, changeMs + after);
  return wall !== undefined && wall < changeMs + after;
}

/** Where the wall showed this time before, since the clocks were put back: when that stretch ends. */
function endOfRepeat(zone: string, instantMs: number, offset: number): number | undefined {
  const before = offsetMs(zone, instantMs - DAY_MS);
  if (before <= offset || offsetMs(zone, instantMs + offset - before) !== before) return undefined;
  const changeMs = nextChangeMs(zone, instantMs - DAY_MS, instantMs)!;
  return changeMs + before - offset;
}
