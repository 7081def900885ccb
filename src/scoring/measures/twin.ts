/**
 * Whether a series truly differs from the one that the same seed gives without the fault.
 *
 * With a twin nothing has to be told from noise: both runs draw the same noise and lose the same samples, so what
 * differs differs because of the fault. Both are compared at every instant at which either says something new after
 * the injection: states by their value, gauges by more than a hundredth (or the least that means something in their
 * unit), counters by more than a tenth of what they gained since the injection. A series that tells three samples
 * less has fallen silent, which is a difference as well.
 */
import { metricDefinition } from '../../model/telemetry/catalog.js';
import type { Series } from '../../model/telemetry/series.js';
import { GAUGE_TOLERANCE, MEANINGFUL, RATE_TOLERANCE } from './change.js';
import { SILENCE_INTERVALS, freshSamples, type Sample } from './samples.js';

/** Walks two series in step: newest values of both at every instant of either. */
function* inStep(
  one: readonly Sample[],
  other: readonly Sample[],
  fromNs: number,
): Generator<[one: number | undefined, other: number | undefined]> {
  let [a, b] = [0, 0];
  while (a < one.length || b < other.length) {
    const nextNs = Math.min(one[a]?.timeNs ?? Infinity, other[b]?.timeNs ?? Infinity);
    while (a < one.length && one[a].timeNs <= nextNs) a++;
    while (b < other.length && other[b].timeNs <= nextNs) b++;
    if (nextNs > fromNs) yield [one[a - 1]?.value, other[b - 1]?.value];
  }
}

const newestBefore = (samples: readonly Sample[], timeNs: number): number =>
  samples.findLast((sample) => sample.timeNs <= timeNs)?.value ?? 0;

/** @returns false for a metric that is not in the catalogue, and for a series that the twin does not have */
export function differsFromTwin(
  series: Series,
  twin: Series | undefined,
  injectedNs: number,
  endNs: number,
): boolean {
  const definition = metricDefinition(series.metric);
  if (definition === undefined || twin === undefined) return false;
  const [own, calm] = [series, twin].map((one) => freshSamples(one).filter(({ timeNs }) => timeNs <= endNs));
  const told = (samples: readonly Sample[]): number =>
    samples.filter(({ timeNs }) => timeNs > injectedNs).length;
  if (definition.sampling === 'poll' && told(calm) - told(own) >= SILENCE_INTERVALS) return true;
  const counter = definition.kind === 'counter';
  const [ownStart, calmStart] = counter
    ? [newestBefore(own, injectedNs), newestBefore(calm, injectedNs)]
    : [0, 0];
  const logged = definition.sampling === 'on-change' && definition.element === 'job';
  const exact = definition.kind === 'state' || (definition.sampling === 'on-change' && !logged && !counter);
  const tolerance = exact ? 0 : counter ? RATE_TOLERANCE : GAUGE_TOLERANCE;
  const least = exact || counter ? 0 : (MEANINGFUL[definition.unit] ?? 0);
  for (const [mine, theirs] of inStep(own, calm, injectedNs)) {
    if (mine === undefined || theirs === undefined) continue;
    const [a, b] = [mine - ownStart, theirs - calmStart];
    if (Math.abs(a - b) > Math.max(least, tolerance * Math.abs(b))) return true;
  }
  return false;
}
