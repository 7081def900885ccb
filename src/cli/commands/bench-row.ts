/**
 * One row of a published benchmark, in the shape that users read. Benches fill it, the command line prints it; it stands
 * here because the product may not import benches.
 */

/** A value per case and measure. Ratios are reference ÷ value for times (bigger is better), value ÷ reference else. */
export interface BenchRow {
  /** Name of the case file without its last extension. */
  case: string;
  /** What was measured, unit last: `solve_s`, `worst_flow_error`. */
  measure: string;
  value: number | null;
  unit: string;
  /** Who the reference is, with machine and date where it is a time; '' where there is none. */
  reference: string;
  referenceValue: number | null;
  ratio: number | null;
  floor: number | null;
  aim: number | null;
  /** Null only where no floor exists, or nothing could be measured. */
  meetsFloor: boolean | null;
  reason?: string;
}

/** A table of a bench's text: a heading, column names, lines. */
export interface BenchSection {
  heading: string;
  columns: readonly string[];
  lines: readonly (readonly string[])[];
}

/** What a bench gives that has more to say than rows. */
export interface BenchOutcome {
  rows: readonly BenchRow[];
  /** Rows for JSON alone: too many to read. */
  details?: readonly BenchRow[];
  /** Printed below the rows. */
  sections?: readonly BenchSection[];
  /** Further keys of the JSON document. */
  extra?: Readonly<Record<string, unknown>>;
  /** Why the measurement itself is no good; any of these fails the command. */
  failures?: readonly string[];
}
