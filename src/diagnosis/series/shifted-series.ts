/**
 * A series as another clock would have stamped it, worked out when somebody asks.
 *
 * Most series of a large fabric are never looked at, or are constant; to rewrite them all would cost many times what a
 * diagnosis does. A state that held when the window began held then by any clock; what falls out of the window is left out.
 */
import { metricDefinition } from '../../model/telemetry/catalog.js';
import type { Series } from '../../model/telemetry/series.js';
import type { Interval } from './context.js';

type Samples = Pick<Series, 'timesNs' | 'values' | 'quality'>;

export class ShiftedSeries implements Series {
  readonly metric: string;
  readonly element: string;
  private samples: Samples | undefined = undefined;

  /** @param offsetNs by how much its own clock is ahead */
  constructor(
    private readonly source: Series,
    private readonly offsetNs: number,
    private readonly window: Interval,
  ) {
    this.metric = source.metric;
    this.element = source.element;
  }

  get timesNs(): Float64Array {
    return (this.samples ??= this.shift()).timesNs;
  }

  get values(): Float64Array {
    return (this.samples ??= this.shift()).values;
  }

  get quality(): Uint8Array {
    return (this.samples ??= this.shift()).quality;
  }

  get regular(): boolean | undefined {
    return this.source.regular;
  }

  get constant(): boolean | undefined {
    return this.source.constant;
  }

  private shift(): Samples {
    const { timesNs: own, values, quality } = this.source;
    const { fromNs, toNs } = this.window;
    const isState = metricDefinition(this.metric)?.sampling !== 'poll';
    const timesNs = new Float64Array(own.length);
    const keptValues = new Float64Array(own.length);
    const codes = new Uint8Array(own.length);
    let count = 0;
    let lastNs = -Infinity;
    for (let at = 0; at < own.length; at++) {
      const timeNs = isState && own[at] === fromNs ? own[at] : own[at] - this.offsetNs;
      const isAfter = timeNs > lastNs;
      lastNs = timeNs;
      if (timeNs < fromNs || timeNs > toNs || !isAfter) continue;
      timesNs[count] = timeNs;
      keptValues[count] = values[at];
      codes[count++] = quality[at];
    }
    return {
      timesNs: timesNs.subarray(0, count),
      values: keptValues.subarray(0, count),
      quality: codes.subarray(0, count),
    };
  }
}
