import { describe, expect, it } from '@jest/globals';
import { SeriesBuilder } from '../../model/telemetry/series.js';
import type { Series } from '../../model/telemetry/series.js';
import { freshSamples, isStateKnown, stateSpans } from './samples.js';

const seriesOf = (metric: string, values: readonly number[]): Series => {
  const builder = new SeriesBuilder(metric, 'port:leaf-1/p1');
  values.forEach((value, second) => builder.push(second * 1e9, value));
  return builder.build();
};

describe('a sample that is no number, or an infinite one', () => {
  it('is lost where values are compared', () => {
    for (const odd of [NaN, Infinity, -Infinity]) {
      expect(freshSamples(seriesOf('port_rx_errors', [1, odd, 3])).map(({ value }) => value)).toEqual([1, 3]);
    }
  });

  it('makes a state unknown until the next one', () => {
    for (const odd of [NaN, Infinity, -Infinity]) {
      const spans = stateSpans(seriesOf('port_oper_status', [1, odd, odd, 0]), 5e9);
      expect(spans.map(({ value }) => value)).toEqual([1, NaN, 0]);
      expect(isStateKnown(seriesOf('port_oper_status', [odd]))).toBe(false);
    }
  });
});
