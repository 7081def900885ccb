/**
 * How a fabric is watched: poll intervals per source, loss and noise, from the fabric file's `telemetry`.
 *
 * Defaults follow common practice: switch counters every second, NIC counters every second, optics every five,
 * training-side figures at each step. On-change sources (oper status, routes) report at the instant of the change
 * plus the source's delay. A large fabric is watched with few metrics; what is not watched is no evidence, and what
 * would need it (a figure, a culprit) can't be known.
 */
import { z } from 'zod';
import { durationNs } from '../../core/units.js';
import { METRICS, type MetricName } from './catalog.js';

const ratio = z.number().min(0).max(1);
const metricNames = METRICS.map(({ name }) => name) as [MetricName, ...MetricName[]];
/** Bytes are counted in 64 bits everywhere: in 32 they would wrap several times between two polls, and tell nothing. */
const counterNames = METRICS.filter(
  ({ kind, sampling, unit }) => kind === 'counter' && sampling === 'poll' && unit !== 'bytes',
).map(({ name }) => name) as [MetricName, ...MetricName[]];
const interval = durationNs.refine((ns) => ns >= 1e6, 'must be at least 1ms');

export const telemetrySchema = z
  .strictObject({
    switchInterval: interval.prefault('1s').describe('poll interval of switch port and queue counters'),
    nicInterval: interval.prefault('1s').describe('poll interval of NIC counters'),
    opticInterval: interval.prefault('5s').describe('poll interval of optic sensors'),
    jobInterval: interval.prefault('1s').describe('poll interval of job, rank and edge figures'),
    pollSpread: durationNs
      .optional()
      .describe(
        'time over which one round of polls is spread over the devices; left out: 20ms, and the whole interval where realism is not quiet',
      ),
    eventDelay: durationNs.prefault('10ms').describe('delay of on-change messages'),
    loss: ratio.default(0).describe('share of samples that never arrive'),
    notAvailable: ratio.default(0).describe('share of samples answered N/A'),
    repeated: ratio
      .default(0)
      .describe('share of samples that repeat the last answer, since a cache was stale'),
    late: ratio.default(0).describe('share of polled samples that come late and are stamped when they come'),
    lateBy: durationNs
      .prefault('200ms')
      .describe('most that a late sample is late; it always comes before the next one'),
    clockSkew: durationNs
      .prefault('0s')
      .describe('how far the clock of a device may be off, either way; it stamps what the device tells'),
    clockDrift: z
      .number()
      .min(0)
      .max(1000)
      .default(0)
      .describe('how much faster or slower that clock may run, parts per million'),
    silent: ratio
      .default(0)
      .describe('share of devices, drawn by the seed, of which no telemetry is collected'),
    silentDevices: z
      .array(z.string().min(1))
      .default([])
      .describe('names or patterns of devices of which no telemetry is collected: leaf-[1-4]'),
    unsupported: z
      .array(z.enum(metricNames))
      .default([])
      .describe('polled metrics that no device supports: every answer is N/A'),
    clearOnRead: z
      .array(z.enum(counterNames))
      .default([])
      .describe(
        'counters of events and frames that start again when read: what a lost answer had counted is lost',
      ),
    counters32: z
      .array(z.enum(counterNames))
      .default([])
      .describe('counters of events and frames kept in 32 bits, which wrap'),
    metrics: z
      .array(z.enum(metricNames))
      .min(1)
      .optional()
      .describe('the only metrics watched, on every element that has them; all when left out'),
    noise: ratio.default(0.002).describe('relative noise of analogue sensors (optic power, temperature)'),
  })
  .refine(({ loss, notAvailable, repeated }) => loss + notAvailable + repeated <= 1, {
    path: ['loss'],
    message: 'loss, notAvailable and repeated are shares of the same samples; together they exceed 1',
  })
  .prefault({});

export type TelemetrySettings = z.output<typeof telemetrySchema>;
