/**
 * A table of RS(544,514): pre-FEC bit-error ratio to codeword and frame loss, beside our closed form.
 */
import { z } from 'zod';
import { codewordErrorRatio, frameLossRatio } from '../src/model/telemetry/fec.js';
import { measured, type BenchRow } from './row.js';

const fecTable = z.object({
  rows: z
    .array(
      z.object({
        pre_fec_ber: z.number(),
        codeword_fail: z.number().positive(),
        frame_loss_1068B: z.number().positive(),
      }),
    )
    .min(1),
});

export type FecTable = z.infer<typeof fecTable>;

export function isFecTable(document: unknown): document is FecTable {
  return fecTable.safeParse(document).success;
}

/** Largest relative error over the table; the frame's span in codewords is given there to three decimals. */
export function fecRows(name: string, { rows }: FecTable): BenchRow[] {
  const worst = (
    ours: (row: FecTable['rows'][number]) => number,
    field: 'codeword_fail' | 'frame_loss_1068B',
  ) => rows.reduce((most, row) => Math.max(most, Math.abs(ours(row) / row[field] - 1)), 0);
  const reference = 'binomial tail of independent symbol errors';
  const codeword = worst((row) => codewordErrorRatio(row.pre_fec_ber), 'codeword_fail');
  const frame = worst((row) => frameLossRatio(row.pre_fec_ber, 1068), 'frame_loss_1068B');
  return [
    measured(name, 'worst_codeword_error', codeword, { unit: 'ratio', reference, floor: 1e-6, aim: 1e-9 }),
    measured(name, 'worst_frame_loss_error', frame, { unit: 'ratio', reference, floor: 1e-3, aim: 5e-4 }),
  ];
}
