/**
 * One line of a published benchmark: a measured value beside a named reference, a floor and an aim.
 *
 * Shared by all benches and printed as a table or as JSON. A case that can't be measured still gets a row, with
 * `value: null` and the reason: a bench skips nothing in silence.
 */

import type { BenchRow } from '../src/cli/commands/bench-row.js';

export type { BenchRow };

/** Reference and limits of a measure whose smaller values are better, unless it says otherwise. */
export interface Yardstick {
  unit: string;
  reference?: string;
  referenceValue?: number | null;
  floor?: number;
  aim?: number;
  better?: 'higher';
}

/** A measured row; `time` makes the ratio say how many times faster than the reference it is. */
export function measured(
  name: string,
  measure: string,
  value: number,
  yardstick: Yardstick,
  time = false,
): BenchRow {
  const referenceValue = yardstick.referenceValue ?? null;
  const comparable = referenceValue !== null && value !== 0 && referenceValue !== 0;
  return {
    case: name,
    measure,
    value,
    unit: yardstick.unit,
    reference: yardstick.reference ?? '',
    referenceValue,
    ratio: comparable ? (time ? referenceValue / value : value / referenceValue) : null,
    floor: yardstick.floor ?? null,
    aim: yardstick.aim ?? null,
    meetsFloor: yardstick.floor === undefined ? null : reaches(value, yardstick.floor, yardstick.better),
  };
}

const reaches = (value: number, floor: number, better?: 'higher'): boolean =>
  better === 'higher' ? value >= floor : value <= floor;

/** A row that says why nothing was measured. */
export function unmeasured(name: string, measure: string, unit: string, reason: string): BenchRow {
  return {
    case: name,
    measure,
    value: null,
    unit,
    reference: '',
    referenceValue: null,
    ratio: null,
    floor: null,
    aim: null,
    meetsFloor: null,
    reason,
  };
}
