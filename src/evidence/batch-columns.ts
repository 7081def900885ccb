/**
 * The five columns of a record batch as plain arrays, whoever wrote it and in whichever types it did.
 *
 * Our own files have dictionary-encoded names, int64 times, float64 values and uint8 codes, which are taken as they lie in
 * memory. Other writers may use plain texts, smaller integers or other codes: those are asked value by value.
 */
import type { RecordBatch, Vector } from 'apache-arrow';
import { QUALITY } from '../model/telemetry/series.js';

/** Texts of all batches, numbered in order of appearance; what is no text has the number -1. */
export class Names {
  readonly texts: string[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly dictionaries = new WeakMap<Vector, Int32Array>();

  /** By row: number of its text. */
  numbersOf(column: Vector, rows: number): Int32Array {
    const [data] = column.data;
    const { dictionary } = data ?? {};
    if (dictionary === undefined || data.nullCount > 0 || !(data.values instanceof Int32Array)) {
      return Int32Array.from({ length: rows }, (_, row) => this.numberOf(column.get(row)));
    }
    let known = this.dictionaries.get(dictionary);
    if (known === undefined) {
      known = Int32Array.from({ length: dictionary.length }, (_, at) => this.numberOf(dictionary.get(at)));
      this.dictionaries.set(dictionary, known);
    }
    return data.values.map((index) => known[index]);
  }

  private numberOf(text: unknown): number {
    if (typeof text !== 'string') return -1;
    let number = this.numbers.get(text);
    if (number === undefined) {
      this.numbers.set(text, (number = this.texts.length));
      this.texts.push(text);
    }
    return number;
  }
}

export interface BatchColumns {
  rows: number;
  metrics: Int32Array;
  elements: Int32Array;
  timesNs: Float64Array;
  /** NaN where the answer was N/A. */
  values: Float64Array;
  quality: Uint8Array;
}

export const COLUMN_NAMES = ['metric', 'element', 'time_ns', 'value', 'quality'] as const;

/** @param columns of the batch, in the order of COLUMN_NAMES */
export function columnsOf(
  batch: RecordBatch,
  [metric, element, timeNs, value, quality]: readonly Vector[],
  metrics: Names,
  elements: Names,
): BatchColumns {
  const rows = batch.numRows;
  const values = floats(value, rows);
  return {
    rows,
    metrics: metrics.numbersOf(metric, rows),
    elements: elements.numbersOf(element, rows),
    timesNs: timesOf(timeNs, rows),
    values,
    quality: codesOf(quality, value, rows),
  };
}

function timesOf(column: Vector, rows: number): Float64Array {
  const values: unknown = column.data[0]?.values;
  if (values instanceof BigInt64Array && column.nullCount === 0) return Float64Array.from(values, Number);
  return Float64Array.from({ length: rows }, (_, row) => Number(column.get(row)));
}

/** NaN where there is none. */
function floats(column: Vector, rows: number): Float64Array {
  const values: unknown = column.data[0]?.values;
  if (!(values instanceof Float64Array)) {
    return Float64Array.from({ length: rows }, (_, row) => {
      const value: unknown = column.get(row);
      return value === null ? NaN : Number(value);
    });
  }
  if (column.nullCount === 0) return values;
  const out = values.slice(0, rows);
  for (let row = 0; row < rows; row++) if (!column.isValid(row)) out[row] = NaN;
  return out;
}

function codesOf(column: Vector, value: Vector, rows: number): Uint8Array {
  const codes: unknown = column.data[0]?.values;
  const out =
    codes instanceof Uint8Array && column.nullCount === 0
      ? codes.slice(0, rows)
      : Uint8Array.from({ length: rows }, (_, row) => Number(column.get(row)));
  if (value.nullCount === 0) return out;
  for (let row = 0; row < rows; row++) if (!value.isValid(row)) out[row] = QUALITY.notAvailable;
  return out;
}
