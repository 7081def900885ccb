/**
 * Counters of 32 bits start again at zero when they are full; readers add what they have lost.
 *
 * A counter that falls has wrapped or was reset by a restart, and nothing in it says which. By the usual rule a fall from
 * the upper half of 32 bits by more than half of them is a wrap, everything else a reset. Not covered: a counter that
 * wraps more than once between two samples, which no reader can know (it is polled too seldom).
 */
import { metricDefinition } from './catalog.js';

const FULL = 2 ** 32;
const HALF = FULL / 2;

const isWrap = (before: number, after: number): boolean =>
  before >= HALF && before < FULL && before - after > HALF;

/** Values of fresh samples as a counter without a limit would have shown them; the same array where none wrapped. */
export function unwrapped(metric: string, values: Float64Array): Float64Array {
  if (metricDefinition(metric)?.kind !== 'counter') return values;
  let first = 1;
  while (first < values.length && !isWrap(values[first - 1], values[first])) first++;
  if (first >= values.length) return values;
  const whole = values.slice();
  let lost = 0;
  for (let at = first; at < values.length; at++) {
    if (isWrap(values[at - 1], values[at])) lost += FULL;
    whole[at] = values[at] + lost;
  }
  return whole;
}
