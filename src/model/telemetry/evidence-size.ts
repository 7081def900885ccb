/**
 * How large the evidence of a run gets: known before it starts, since polls come at fixed intervals.
 *
 * A sample is a row of the evidence file: 25 bytes before compression (metric 4, element 4, time 8, value 8, quality
 * 1). Compressed files took 0.3 to 0.7 bytes a row in clusters of 64 to 256 GPUs; 2 leaves room for fabrics in
 * which fewer counters stand still or move in step. Not counted: lines and changes, a few in a second.
 */

export interface EvidenceSize {
  series: number;
  /** Rows of the evidence file. */
  samples: number;
}

/** Room that a compressed row is planned with, bytes. */
export const PLANNED_ROW_BYTES = 2;

/** Bytes that the evidence file is planned with. */
export const plannedBytes = ({ samples }: EvidenceSize): number => samples * PLANNED_ROW_BYTES;
