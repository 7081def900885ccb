/** Schedules drawn by seed: every policy, zones whose clocks change in the month, windows of both kinds, outages, people. */
import { scheduleSpecSchema, type ScheduleSpec } from '../../src/documents/schedule.js';
import { rulesOf } from '../../src/documents/schedule-rules.js';
import { InputError } from '../../src/core/problem.js';
import { Prng } from '../../src/core/prng.js';

/** The clocks are put forward in Berlin and Troll on 28 March, in New York on 14 March, in Casablanca twice; back in Santiago. */
export const MONTH_FROM_MS = Date.UTC(2027, 2, 6);

/** Name of the experiment that no plan is found for. */
export const GONE = 'gone';

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Antarctica/Troll',
  'Africa/Casablanca',
  'Asia/Kathmandu',
  'UTC',
];

export interface Drawn {
  name: string;
  /** As it would stand in a file. */
  written: Record<string, unknown>;
  spec: ScheduleSpec;
  lengthMs: number;
  refused: boolean;
}

const two = (value: number): string => String(value).padStart(2, '0');

function drawCron(random: Prng): string {
  const minute = random.below(60);
  const kind = random.uniform();
  if (kind < 0.6) return `${minute} ${random.below(24)} * * *`;
  if (kind < 0.75) return `${minute} ${random.below(4)} * * ${random.below(7)}`;
  if (kind < 0.93) return `${minute} ${random.below(8)}-23/${4 + random.below(5)} * * *`;
  if (kind < 0.97) return `${minute} * * * *`;
  return `*/${random.uniform() < 0.5 ? 15 : 20} ${random.below(6)}-${8 + random.below(8)} * * 1-5`;
}

function drawBlackouts(random: Prng, zones: Prng): Record<string, unknown>[] {
  const count = random.uniform() < 0.5 ? 0 : 1 + random.below(2);
  return Array.from({ length: count }, () => {
    const onEnter = random.uniform() < 0.5 ? 'abort' : 'finish';
    const timeZone = zones.uniform() < 0.25 ? { timeZone: pick(zones, ZONES) } : {};
    if (random.uniform() < 0.5) {
      return {
        cron: `${random.below(60)} ${random.below(24)} * * ${random.below(7)}`,
        duration: `${1 + random.below(60)}h`,
        onEnter,
        ...timeZone,
      };
    }
    const hour = random.below(24);
    return {
      from: `${two(hour)}:${two(random.below(60))}`,
      to: `${two((hour + 1 + random.below(9)) % 24)}:00`,
      ...(random.uniform() < 0.5 ? {} : { days: ['Mon', 'Sat', 'Sun'].slice(random.below(3)) }),
      onEnter,
      ...timeZone,
    };
  });
}

const pick = <T>(random: Prng, choices: readonly T[]): T => choices[random.below(choices.length)];

/** @param index of the schedule; the same seed and index give the same one */
export function drawSchedule(seed: number, index: number): Drawn {
  const random = new Prng(seed).stream(`schedule ${index}`);
  for (;;) {
    const refused = random.uniform() < 0.03;
    const written = {
      experimentRef: refused ? GONE : 'drill',
      cron: drawCron(random),
      timeZone: pick(random, ZONES),
      concurrencyPolicy: pick(random, ['Forbid', 'Allow', 'Replace']),
      startingDeadline: pick(random, ['2m', '5m', '30m', '3h']),
      missedRunPolicy: pick(random, ['skip', 'runOnce']),
      jitter: pick(random, ['0s', '0s', '90s', '14m']),
      blackouts: drawBlackouts(random, random.stream('zones of windows')),
    };
    const spec = scheduleSpecSchema.parse(written);
    const lengthMs = pick(random, [2, 20, 90, 400, 1800]) * 60_000;
    try {
      rulesOf(spec);
      return { name: `drawn-${index}`, written, spec, lengthMs, refused };
    } catch (error) {
      // windows that leave no tick are refused, and are no schedule to look at
      if (!(error instanceof InputError)) throw error;
    }
  }
}
