/**
 * Queues of switch ports: how deep, how full their link, how much marked and dropped, and when.
 *
 * Polls see a second, queues live for microseconds, so that the watermark and the marks count and not the depth at the
 * poll. A port that sends at its speed for a whole poll is full whatever its queue says. Counters: SONiC
 * SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS, watermarks cleared on read. "No" and "not known" are kept apart.
 */
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Series } from '../../../model/telemetry/series.js';
import type { Context, Interval } from '../../series/context.js';
import { overlaps } from '../../series/context.js';
import { gainWithin, increments, rises, samplesWithin } from '../../series/samples.js';
import type { Increment } from '../../series/samples.js';

/** A port that sends so much of its speed over a whole poll is full. */
const FULL = 0.9;
/** Keepalives and protocols send less than this part of its speed. */
const IDLE = 1e-3;
const BYTES_PER_NS_PER_GBPS = 0.125;

/** Classes of which anything of a port's queues is told. */
export function classesOf(context: Context, port: number): number[] {
  return context
    .once(classesTold)
    .filter((priority) =>
      QUEUE_METRICS.some((metric) => readQueue(context, metric, port, priority) !== undefined),
    );
}

const QUEUE_METRICS = ['queue_tx_bytes', 'queue_depth_max_bytes', 'queue_ecn_marked_packets'] as const;
const OTHER_QUEUE_METRICS = ['queue_depth_bytes', 'queue_drop_packets', 'queue_watchdog_detected'] as const;

export const readQueue = (
  context: Context,
  metric: MetricName,
  port: number,
  priority: number,
): Series | undefined => context.readQueue(metric, port, priority);

export const allQueues = (context: Context, metric: MetricName, port: number): Series[] =>
  context.once(classesTold).flatMap((priority) => readQueue(context, metric, port, priority) ?? []);

const NEVER: readonly Increment[] = [];

/** Polls in which a counter of any queue of a port rose. */
export function queueRises(context: Context, metric: MetricName, port: number): readonly Increment[] {
  let found = NEVER;
  for (const priority of context.once(classesTold)) {
    const own = rises(readQueue(context, metric, port, priority));
    if (own.length > 0) found = [...found, ...own];
  }
  return found;
}

/** Traffic classes of which any queue is told, in rising order: few of the eight (IEEE 802.1p). */
function classesTold(context: Context): number[] {
  const told = [...QUEUE_METRICS, ...OTHER_QUEUE_METRICS].flatMap((metric) => context.classesOf(metric));
  return [...new Set(told)].sort((one, other) => one - other);
}

/** Greatest watermark of a port's queues in a stretch, bytes; null when none was read. */
export function deepest(context: Context, port: number, during: Interval): number | null {
  const samples = allQueues(context, 'queue_depth_max_bytes', port).flatMap((series) =>
    samplesWithin(series, during),
  );
  return samples.length === 0 ? null : Math.max(...samples.map(({ value }) => value));
}

/** Packets marked by a port's queues in a stretch; null when nobody counted. */
export function marked(context: Context, port: number, during: Interval): number | null {
  const counters = allQueues(context, 'queue_ecn_marked_packets', port);
  if (counters.every((series) => samplesWithin(series, during).length === 0)) return null;
  return counters.reduce((sum, series) => sum + gainWithin(series, during), 0);
}

/** Greatest part of its speed that a port sent at over a poll in a stretch; null when it was not read. */
export function busiest(context: Context, port: number, during: Interval): number | null {
  const { rateGbps } = context.topology.links[context.topology.ports[port].link];
  const polls = increments(context.readPort('port_tx_bytes', port)).filter((poll) => overlaps(poll, during));
  if (polls.length === 0) return null;
  const most = Math.max(...polls.map(({ fromNs, toNs, gain }) => gain / (toNs - fromNs)));
  return most / (rateGbps * BYTES_PER_NS_PER_GBPS);
}

/** Whether a port sent hardly anything in a stretch; null when it was not read. */
export function movedNothing(context: Context, port: number, during: Interval): boolean | null {
  const load = busiest(context, port, during);
  return load === null ? null : load < IDLE;
}

/** Whether more came for a port than it could send; null when nothing tells. */
export function isContended(context: Context, port: number, during: Interval): boolean | null {
  const [marks, depth, load] = [
    marked(context, port, during),
    deepest(context, port, during),
    busiest(context, port, during),
  ];
  if ((marks ?? 0) > 0 || (depth ?? 0) > 0 || (load ?? 0) >= FULL) return true;
  return marks === null && depth === null && load === null ? null : false;
}

/** The class of a port whose queue was deepest, marked or sent most in a stretch; null when none was read. */
export function busiestClass(context: Context, port: number, during: Interval): number | null {
  let best: { priority: number; weight: readonly number[] } | null = null;
  for (const priority of classesOf(context, port)) {
    const gain = (metric: MetricName): number =>
      gainWithin(readQueue(context, metric, port, priority), during);
    const depths = samplesWithin(readQueue(context, 'queue_depth_max_bytes', port, priority), during);
    const weight = [
      gain('queue_ecn_marked_packets'),
      Math.max(0, ...depths.map(({ value }) => value)),
      gain('queue_tx_bytes'),
    ];
    const differs = best?.weight.findIndex((value, index) => value !== weight[index]) ?? 0;
    if (best === null || (differs >= 0 && weight[differs] > best.weight[differs]))
      best = { priority, weight };
  }
  return best?.priority ?? null;
}
