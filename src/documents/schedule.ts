/**
 * The schedule file's schema: when an experiment is run by itself, and when it is not.
 *
 * Words are those of Kubernetes' CronJob where it has them (`concurrencyPolicy`, `startingDeadline`, `suspend`). A time
 * zone is required: a drill that starts an hour off in summer starts in somebody's working day. What a cron expression,
 * a zone or a window says is checked in schedule-rules.ts.
 */
import { z } from 'zod';
import { durationNs, NS_PER } from '../core/units.js';
import { API_VERSION, confirmSchema, metadataSchema } from './experiment.js';

const MOST_BLACKOUTS = 20;
const LONGEST_BLACKOUT_NS = 31 * NS_PER.d;
const LONGEST_DEADLINE_NS = 7 * NS_PER.d;
const LONGEST_JITTER_NS = NS_PER.d;

export const WEEK_DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time of day is written 00:00 to 23:59');

export const blackoutSchema = z.strictObject({
  from: timeOfDay.optional().describe('time of day at which it begins, such as "22:00"'),
  to: timeOfDay
    .optional()
    .describe('time of day at which it ends; on the next day where it is not after from'),
  days: z
    .array(z.enum(WEEK_DAYS))
    .min(1)
    .optional()
    .describe('days on which it begins; every day when left out'),
  cron: z.string().max(200).optional().describe('instead of from and to: when it begins'),
  duration: durationNs
    .refine((ns) => ns >= NS_PER.m && ns <= LONGEST_BLACKOUT_NS, 'a blackout lasts 1m to 31d')
    .optional()
    .describe('with cron: how long it lasts'),
  timeZone: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('IANA name, where the window goes by other clocks than the schedule'),
  onEnter: z
    .enum(['finish', 'abort'])
    .default('finish')
    .describe('runs under way when it begins: let them finish, or revert and abort them'),
});
export type BlackoutSpec = z.output<typeof blackoutSchema>;

export const scheduleSpecSchema = z.strictObject({
  description: z.string().max(2000).optional(),
  experimentRef: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'name or id of a stored experiment; in a file also a name in the same file, a path, or path#name',
    ),
  gameDayRef: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe(
      'instead of an experiment: name of a GameDay document that comes along; in a file also a path, or path#name',
    ),
  fabric: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('another fabric than the experiment’s: a stored one’s name; in a file also a path'),
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('another seed than the experiment’s'),
  cron: z.string().max(200).optional().describe('minute, hour, day of month, month, day of week'),
  once: z
    .string()
    .regex(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d$/,
      'write a local date and time, as in 2027-03-01T04:00; timeZone says where',
    )
    .optional()
    .describe('instead of cron: one local date and time'),
  timeZone: z.string().min(1).max(100).describe('IANA name, such as Asia/Tokyo'),
  concurrencyPolicy: z
    .enum(['Forbid', 'Allow', 'Replace'])
    .default('Forbid')
    .describe(
      'while the run before has not ended: skip the tick, start beside it, or abort that run and start',
    ),
  startingDeadline: durationNs
    .refine((ns) => ns >= NS_PER.s && ns <= LONGEST_DEADLINE_NS, 'a starting deadline is 1s to 7d')
    .prefault('5m')
    .describe('how late a run may still start; later ones are missed'),
  missedRunPolicy: z
    .enum(['skip', 'runOnce'])
    .default('skip')
    .describe('after an outage: skip what was missed, or make up for the last of it with one run'),
  jitter: durationNs
    .refine((ns) => ns <= LONGEST_JITTER_NS, 'jitter is at most 1d')
    .prefault('0s')
    .describe('starts are spread over this long after the nominal time'),
  blackouts: z.array(blackoutSchema).max(MOST_BLACKOUTS).default([]).describe('when no run starts'),
  suspend: z.boolean().default(false).describe('stored, but no run starts until it is resumed'),
});
export type ScheduleSpec = z.output<typeof scheduleSpecSchema>;

export const scheduleSchema = z
  .strictObject({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal('Schedule'),
    metadata: metadataSchema,
    confirm: confirmSchema,
    spec: scheduleSpecSchema,
  })
  .meta({ title: 'Schedule', description: 'when an experiment is run, or a game day begun, by itself' });
export type Schedule = z.output<typeof scheduleSchema>;
