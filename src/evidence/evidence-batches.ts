/**
 * Evidence as Arrow record batches, some rows at a time: what a large evidence takes of memory is one batch.
 *
 * Rows keep the order of the series and of their samples whatever the size of a batch, and both dictionaries are
 * written once, before the first batch, so equal evidence gives equal bytes. Series are read only when their turn comes.
 */
import {
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Uint8,
  Utf8,
  vectorFromArray,
  type Data,
  type Vector,
} from 'apache-arrow';
import { QUALITY, type Evidence, type Series } from '../model/telemetry/series.js';

export const FABRIC_KEY = 'fabricdrill.fabric';

/** A dictionary-encoded text column: every text once, numbered in order of appearance. */
class Texts {
  readonly type: Dictionary<Utf8, Int32>;
  private readonly numbers = new Map<string, number>();
  private vector?: Vector<Utf8>;

  constructor(id: number) {
    this.type = new Dictionary(new Utf8(), new Int32(), id, false);
  }

  add(text: string): void {
    if (!this.numbers.has(text)) this.numbers.set(text, this.numbers.size);
  }

  number(text: string): number {
    return this.numbers.get(text)!;
  }

  column(rows: Int32Array<ArrayBuffer>): Data {
    this.vector ??= vectorFromArray([...this.numbers.keys()], new Utf8());
    return makeData({
      type: this.type,
      length: rows.length,
      nullCount: 0,
      data: rows,
      dictionary: this.vector,
    });
  }
}

/** Part of a series that goes into a batch. */
interface Stretch {
  series: Series;
  from: number;
  to: number;
}

export class EvidenceBatches {
  readonly schema: Schema;
  private readonly metrics = new Texts(1);
  private readonly elements = new Texts(2);

  /** @param fabric Fabric document, jobs included, that the evidence is of */
  constructor(
    private readonly evidence: Evidence,
    fabric: unknown,
    private readonly rowsPerBatch: number,
  ) {
    for (const { metric, element } of evidence.series) {
      this.metrics.add(metric);
      this.elements.add(element);
    }
    const fields = [
      new Field('metric', this.metrics.type, false),
      new Field('element', this.elements.type, false),
      new Field('time_ns', new Int64(), false),
      new Field('value', new Float64(), true),
      new Field('quality', new Uint8(), false),
    ];
    const metadata = new Map([
      ['fabricdrill.evidence', '1'],
      ['fabricdrill.from_ns', String(evidence.fromNs)],
      ['fabricdrill.to_ns', String(evidence.toNs)],
      ...(fabric === undefined ? [] : [[FABRIC_KEY, JSON.stringify(fabric)] as const]),
    ]);
    this.schema = new Schema(fields, metadata);
  }

  /** At least one batch, be it empty. */
  *[Symbol.iterator](): Generator<RecordBatch> {
    let stretches: Stretch[] = [];
    let rows = 0;
    for (const series of this.evidence.series) {
      const { length } = series.timesNs;
      for (let from = 0; from < length;) {
        const to = Math.min(length, from + this.rowsPerBatch - rows);
        stretches.push({ series, from, to });
        rows += to - from;
        from = to;
        if (rows < this.rowsPerBatch) continue;
        yield this.batch(stretches, rows);
        stretches = [];
        rows = 0;
      }
    }
    if (rows > 0 || this.evidence.series.every(({ timesNs }) => timesNs.length === 0)) {
      yield this.batch(stretches, rows);
    }
  }

  private batch(stretches: readonly Stretch[], rows: number): RecordBatch {
    const timesNs = new BigInt64Array(rows);
    const values = new Float64Array(rows);
    const valid = new Uint8Array((rows + 7) >> 3);
    const quality = new Uint8Array(rows);
    const metrics = new Int32Array(rows);
    const elements = new Int32Array(rows);
    let row = 0;
    let nulls = 0;
    for (const { series, from, to } of stretches) {
      metrics.fill(this.metrics.number(series.metric), row, row + to - from);
      elements.fill(this.elements.number(series.element), row, row + to - from);
      const samples = { timesNs: series.timesNs, values: series.values, quality: series.quality };
      for (let at = from; at < to; at++, row++) {
        timesNs[row] = BigInt(Math.round(samples.timesNs[at]));
        quality[row] = samples.quality[at];
        if (quality[row] === QUALITY.notAvailable) nulls++;
        else {
          values[row] = samples.values[at];
          valid[row >> 3] |= 1 << (row & 7);
        }
      }
    }
    const children = [
      this.metrics.column(metrics),
      this.elements.column(elements),
      makeData({ type: new Int64(), length: rows, nullCount: 0, data: timesNs }),
      makeData({ type: new Float64(), length: rows, nullCount: nulls, data: values, nullBitmap: valid }),
      makeData({ type: new Uint8(), length: rows, nullCount: 0, data: quality }),
    ];
    return new RecordBatch(
      this.schema,
      makeData({ type: new Struct(this.schema.fields), length: rows, nullCount: 0, children }),
    );
  }
}
