/**
 * How a series changed when a fault was at work, in words with numbers; null when it did not.
 *
 * Only what stands out from the series' own past is called a change: evidence that does not differ is no evidence. The
 * past is everything before the onset, or everything outside the fault where nothing lies before it.
 */
import { metricDefinition } from '../../model/telemetry/catalog.js';
import type { MetricDefinition } from '../../model/telemetry/catalog.js';
import type { Series } from '../../model/telemetry/series.js';
import type { CitedEvidence } from '../verdict.js';
import { overlaps } from './context.js';
import type { Context, Interval } from './context.js';
import { freshSamples, increments, samplesWithin, stateSpans } from './samples.js';
import { median, robustSpread } from './statistics.js';

/** Status messages and polls come late; a change this long after the end of a fault still belongs to it. */
const LATE_NS = 2e9;
const RATE_CHANGE = 0.25;
const GAUGE_CHANGE = 0.02;
const SPREADS = 6;

export interface Change {
  text: string;
  during: Interval;
}

/** Citation of a series that changed while a fault was at work. */
export function cite(context: Context, series: Series | undefined, during: Interval): CitedEvidence | null {
  const change = describeChange(context, series, during);
  if (series === undefined || change === null) return null;
  return {
    metric: series.metric,
    element: series.element,
    change: change.text,
    window: [seconds(change.during.fromNs), seconds(change.during.toNs)],
  };
}

export function describeChange(
  context: Context,
  series: Series | undefined,
  during: Interval,
): Change | null {
  const definition = series === undefined ? undefined : metricDefinition(series.metric);
  if (series === undefined || definition === undefined) return null;
  const reach = { fromNs: during.fromNs, toNs: Math.min(context.window.toNs, during.toNs + LATE_NS) };
  if (definition.kind === 'state') {
    return series.metric.startsWith('host_')
      ? schedulerChange(context, series, reach)
      : stateChange(context, series, reach);
  }
  if (definition.kind === 'gauge') return gaugeChange(series, definition, reach);
  return definition.unit === 'bytes' ? rateChange(series, during) : countChange(series, definition, reach);
}

function stateChange(context: Context, series: Series, reach: Interval): Change | null {
  const spans = stateSpans(series, context.window.toNs).filter((span) => !Number.isNaN(span.value));
  const drops = spans.filter((span) => span.value === 0 && overlaps(span, reach));
  if (drops.length === 0) return null;
  const first = spans.indexOf(drops[0]);
  const text = first === 0 ? '0 from the start' : `${spans[first - 1].value} → 0`;
  return {
    text: drops.length === 1 ? text : `${text}, ${drops.length} times`,
    during: { fromNs: drops[0].fromNs, toNs: drops[drops.length - 1].toNs },
  };
}

/** What the scheduler says of a host differs from what it said before; neither value is good or bad by itself. */
function schedulerChange(context: Context, series: Series, reach: Interval): Change | null {
  const spans = stateSpans(series, context.window.toNs).filter((span) => !Number.isNaN(span.value));
  const at = spans.findIndex(
    ({ fromNs }, index) => index > 0 && fromNs >= reach.fromNs && fromNs <= reach.toNs,
  );
  if (at < 0) return null;
  const { fromNs, toNs, value } = spans[at];
  return { text: `${spans[at - 1].value} → ${value}`, during: { fromNs, toNs } };
}

function gaugeChange(series: Series, definition: MetricDefinition, reach: Interval): Change | null {
  const samples = freshSamples(series);
  const before = samples.filter((sample) => sample.timeNs < reach.fromNs).map((sample) => sample.value);
  const outside = samples.filter(({ timeNs }) => timeNs < reach.fromNs || timeNs > reach.toNs);
  const past = before.length > 0 ? before : outside.map((sample) => sample.value);
  const inside = samplesWithin(series, reach);
  if (past.length === 0 || inside.length === 0) return null;
  const normal = median(past);
  const extreme = inside.reduce((one, other) =>
    Math.abs(other.value - normal) > Math.abs(one.value - normal) ? other : one,
  );
  const noise = Math.max(SPREADS * robustSpread(past), GAUGE_CHANGE * Math.abs(normal));
  if (Math.abs(extreme.value - normal) <= noise) return null;
  const last = inside[inside.length - 1];
  // What is told when it changes holds until the next word.
  const lasts = series.metric.startsWith('route_') && last.value !== normal;
  return {
    text: `${number(normal)} → ${number(extreme.value)} ${definition.unit}`,
    during: { fromNs: reach.fromNs, toNs: lasts ? reach.toNs : last.timeNs },
  };
}

function rateChange(series: Series, during: Interval): Change | null {
  const steps = increments(series);
  const inside = steps.filter((step) => overlaps(step, during));
  const before = steps.filter((step) => step.toNs <= during.fromNs);
  const past = before.length > 0 ? before : steps.filter((step) => !overlaps(step, during));
  const rates = past.map(rateOf);
  if (rates.length === 0 || inside.length === 0) return null;
  const normal = median(rates);
  const now = median(inside.map(rateOf));
  const noise = Math.max(RATE_CHANGE * Math.max(normal, now), SPREADS * robustSpread(rates));
  if (Math.abs(now - normal) <= Math.min(noise, Math.max(normal, now) * 0.9) || now === normal) return null;
  return {
    text: `${number(normal)} → ${number(now)} GB/s`,
    during: { fromNs: inside[0].fromNs, toNs: inside[inside.length - 1].toNs },
  };
}

/** Bytes per ns are GB/s. */
const rateOf = (step: { fromNs: number; toNs: number; gain: number }): number =>
  step.gain / (step.toNs - step.fromNs);

function countChange(series: Series, definition: MetricDefinition, reach: Interval): Change | null {
  const steps = increments(series);
  const inside = steps.filter((step) => overlaps(step, reach) && step.gain > 0);
  const gain = inside.reduce((sum, step) => sum + step.gain, 0);
  if (gain === 0) return null;
  const outside = steps.filter((step) => !overlaps(step, reach));
  const quietNs = outside.reduce((sum, step) => sum + step.toNs - step.fromNs, 0);
  const usual = outside.reduce((sum, step) => sum + step.gain, 0);
  const expected = quietNs === 0 ? 0 : (usual / quietNs) * (reach.toNs - reach.fromNs);
  if (gain <= 2 * expected) return null;
  return {
    text: `+${number(gain)} ${definition.unit}`,
    during: { fromNs: inside[0].fromNs, toNs: inside[inside.length - 1].toNs },
  };
}

/** ns to seconds with whole microseconds. */
export const seconds = (ns: number): number => Math.round(ns / 1e3) / 1e6;

/** Three significant digits, whole numbers whole. */
export function number(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}
