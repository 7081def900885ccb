/**
 * Whether, and when, a series truly changed after the injection, judged against its own baseline.
 *
 * States change when their value does. Event counters that stood still change with the first event. Rates and gauges
 * change when they leave their baseline by six of its standard deviations and a tenth (a hundredth for gauges) of
 * its centre, or when traffic that never paused stops. A polled series that falls silent has changed as well:
 * missing is not zero, but it is not normal either. Not modelled: slow drifts that stay inside the noise.
 */
import { metricDefinition } from '../../model/telemetry/catalog.js';
import type { Series } from '../../model/telemetry/series.js';
import { SILENCE_INTERVALS, freshSamples, spacingNs } from './samples.js';
import type { Sample } from './samples.js';
import { deviation, mean, median } from './statistics.js';

const NOISE_DEVIATIONS = 6;
export const RATE_TOLERANCE = 0.1;
export const GAUGE_TOLERANCE = 0.01;
/** Smallest change that means something, by unit: a hundredth of a level in dB is nothing, nor are healthy bit errors. */
export const MEANINGFUL: Readonly<Record<string, number>> = { dBm: 0.5, '°C': 2, 'errors/bit': 1e-8 };
/** Units of traffic and work: where these never paused, a stop is news. Rare events pause all the time. */
const PAUSES_NOTABLY = new Set(['bytes', 'steps']);
/** Samples or intervals that a spread needs. */
const BASELINE_MIN = 3;

function firstStateChange(samples: readonly Sample[], injectedNs: number): number | null {
  const last = samples.findLastIndex(({ timeNs }) => timeNs <= injectedNs);
  if (last === -1) return null;
  return samples.slice(last + 1).find(({ value }) => value !== samples[last].value)?.timeNs ?? null;
}

const stoodStill = (samples: readonly Sample[], untilNs: number): boolean =>
  samples.every(({ timeNs, value }) => timeNs > untilNs || value === samples[0].value);

function firstOutlier(
  points: readonly Sample[],
  injectedNs: number,
  tolerance: number,
  centreOf: (values: readonly number[]) => number,
  unit = '',
): number | null {
  const baseline = points.filter(({ timeNs }) => timeNs <= injectedNs).map(({ value }) => value);
  if (baseline.length < BASELINE_MIN) return null;
  const centre = centreOf(baseline);
  const limit = Math.max(
    NOISE_DEVIATIONS * deviation(baseline),
    tolerance * Math.abs(centre),
    MEANINGFUL[unit] ?? 0,
  );
  const neverPaused = PAUSES_NOTABLY.has(unit) && Math.min(...baseline) > 0;
  const outlier = points.find(
    ({ timeNs, value }) =>
      timeNs > injectedNs && (Math.abs(value - centre) > limit || (neverPaused && value === 0)),
  );
  return outlier?.timeNs ?? null;
}

function firstSilence(samples: readonly Sample[], injectedNs: number, endNs: number): number | null {
  const limitNs = SILENCE_INTERVALS * spacingNs(samples.filter(({ timeNs }) => timeNs <= injectedNs));
  for (let at = 0; at < samples.length; at++) {
    const nextNs = samples[at + 1]?.timeNs ?? endNs;
    if (nextNs > injectedNs && nextNs - samples[at].timeNs > limitNs) return samples[at].timeNs + limitNs;
  }
  return null;
}

const rates = (samples: readonly Sample[]): Sample[] =>
  samples.slice(1).map((sample, at) => ({
    timeNs: sample.timeNs,
    value: Math.max(0, sample.value - samples[at].value) / (sample.timeNs - samples[at].timeNs),
  }));

/**
 * The first instant after injection at which the evidence shows that a series truly changed.
 * @returns null when it did not, or when its metric is not in the catalogue
 */
export function changedAtNs(series: Series, injectedNs: number, endNs: number): number | null {
  const definition = metricDefinition(series.metric);
  if (definition === undefined) return null;
  const samples = freshSamples(series).filter(({ timeNs }) => timeNs <= endNs);
  const found: (number | null)[] = [];
  if (definition.kind === 'state' || (definition.kind === 'gauge' && definition.sampling === 'on-change')) {
    // Training gauges are logged at every step and jitter; routes and states change only when something does.
    const jitters = definition.element === 'job' && definition.kind === 'gauge';
    found.push(
      jitters
        ? firstOutlier(samples, injectedNs, RATE_TOLERANCE, median)
        : firstStateChange(samples, injectedNs),
    );
  } else if (definition.kind === 'counter') {
    found.push(firstOutlier(rates(samples), injectedNs, RATE_TOLERANCE, mean, definition.unit));
    // A log of rare events has no rate before the first of them.
    if (definition.sampling === 'on-change' && stoodStill(samples, injectedNs)) {
      found.push(firstStateChange(samples, injectedNs));
    }
  } else {
    found.push(firstOutlier(samples, injectedNs, GAUGE_TOLERANCE, median, definition.unit));
  }
  if (definition.sampling === 'poll') found.push(firstSilence(samples, injectedNs, endNs));
  const times = found.filter((time): time is number => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}
