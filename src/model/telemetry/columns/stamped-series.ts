/**
 * A series as an operator's database has it: other times than the fabric's own, and counters of fewer bits.
 *
 * A view of another series, worked out when somebody asks. Times stay strictly rising as long as `stamp` keeps order.
 */
import type { Series } from '../series.js';

/** What changes; both in one object, since most series of a fabric share it. */
export interface Stamping {
  /** The time under which a sample taken at `timeNs` is found. */
  stamp?: (timeNs: number) => number;
  /** The same for all samples at once, so that series taken at one time may share the result. */
  stampAll?: (timesNs: Float64Array) => Float64Array;
  /** Values are kept modulo this. */
  modulus?: number;
}

export class StampedSeries implements Series {
  private times: Float64Array | undefined = undefined;
  private wrapped: Float64Array | undefined = undefined;

  constructor(
    private readonly base: Series,
    private readonly stamping: Stamping,
  ) {}

  get metric(): string {
    return this.base.metric;
  }

  get element(): string {
    return this.base.element;
  }

  get timesNs(): Float64Array {
    const { stamp, stampAll } = this.stamping;
    if (stampAll !== undefined) return (this.times ??= stampAll(this.base.timesNs));
    if (stamp === undefined) return this.base.timesNs;
    return (this.times ??= this.base.timesNs.map((timeNs) => stamp(timeNs)));
  }

  get values(): Float64Array {
    const { modulus } = this.stamping;
    if (modulus === undefined) return this.base.values;
    return (this.wrapped ??= this.base.values.map((value) => value % modulus));
  }

  get quality(): Uint8Array {
    return this.base.quality;
  }

  get regular(): boolean | undefined {
    return this.base.regular;
  }

  get constant(): boolean | undefined {
    return this.base.constant;
  }
}
