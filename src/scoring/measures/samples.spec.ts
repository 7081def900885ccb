/** Counters between polls: exact at polls, linear between, unknown outside and in silence. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { QUALITY, SeriesBuilder } from '../../model/telemetry/series.js';
import { Counter, freshSamples, newestValue, pollSpans, valueAt } from './samples.js';

const samples = (...pairs: [number, number][]) => pairs.map(([timeNs, value]) => ({ timeNs, value }));

describe('a counter', () => {
  const counter = new Counter(samples([0, 0], [10, 100], [20, 150], [30, 150], [100, 900]));

  it('is exact at a poll and linear between two', () => {
    expect([0, 5, 10, 14, 30].map((timeNs) => counter.at(timeNs))).toEqual([0, 50, 100, 120, 150]);
    expect(counter.rate(0, 20)).toBe(7.5);
  });

  it('is unknown before the first poll, after the last and in a long silence', () => {
    expect([-1, 60, 101].map((timeNs) => counter.at(timeNs))).toEqual([null, null, null]);
    expect(counter.at(100)).toBe(900);
    expect(counter.rate(20, 60)).toBeNull();
  });

  it('has no rate over a reset', () => {
    expect(new Counter(samples([0, 50], [10, 3])).rate(0, 10)).toBeNull();
  });

  it('counts the same in parts as in whole', () => {
    const increments = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 3, maxLength: 30 });
    fc.assert(
      fc.property(increments, fc.double({ min: 0, max: 1, noNaN: true }), (steps, share) => {
        let total = 0;
        const counted = new Counter(steps.map((step, at) => ({ timeNs: at * 10, value: (total += step) })));
        const endNs = (steps.length - 1) * 10;
        const middleNs = endNs * (0.1 + 0.8 * share);
        const parts =
          counted.rate(0, middleNs)! * middleNs + counted.rate(middleNs, endNs)! * (endNs - middleNs);
        expect(parts).toBeCloseTo(total - steps[0], 6);
      }),
    );
  });
});

describe('fresh samples', () => {
  it('leave out N/A and repeated answers', () => {
    const builder = new SeriesBuilder('port_tx_bytes', 'port:a');
    builder.push(0, 1);
    builder.push(1, 1, QUALITY.repeated);
    builder.push(2, NaN, QUALITY.notAvailable);
    builder.push(3, 4);
    expect(freshSamples(builder.build())).toEqual(samples([0, 1], [3, 4]));
    expect(freshSamples(undefined)).toEqual([]);
  });

  it('give the newest value and the poll intervals inside a window', () => {
    const given = samples([0, 1], [10, 2], [20, 3], [30, 4]);
    expect([valueAt(given, -1), valueAt(given, 10), valueAt(given, 29)]).toEqual([undefined, 2, 3]);
    expect(pollSpans(given, 5, 30)).toEqual([
      { fromNs: 10, toNs: 20 },
      { fromNs: 20, toNs: 30 },
    ]);
  });

  it('are read for one instant as the list of them is', () => {
    const answer = fc.record({
      value: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(NaN)),
      quality: fc.constantFrom(...Object.values(QUALITY)),
    });
    fc.assert(
      fc.property(
        fc.array(answer, { maxLength: 12 }),
        fc.integer({ min: -1, max: 13 }),
        (answers, timeNs) => {
          const builder = new SeriesBuilder('port_rate_gbps', 'port:a');
          answers.forEach(({ value, quality }, at) => builder.push(at, value, quality));
          const series = builder.build();
          expect(newestValue(series, timeNs)).toBe(valueAt(freshSamples(series), timeNs));
        },
      ),
    );
    expect(newestValue(undefined, 0)).toBeUndefined();
  });
});
