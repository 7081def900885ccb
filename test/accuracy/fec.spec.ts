import { describe, expect, it } from '@jest/globals';
import {
  codewordErrorRatio,
  codewordsPerFrame,
  frameLossRatio,
  symbolErrorRatio,
} from '../../src/model/telemetry/fec.js';
import { caseJson } from './cases.js';

interface FecRow {
  pre_fec_ber: number;
  symbol_error: number;
  codeword_fail: number;
  frame_span_codewords: number;
  frame_loss_1068B: number;
}

const { rows } = caseJson('fec_rs544_514.json') as { rows: FecRow[] };

describe('RS(544,514) beside the tabulated values', () => {
  it.each(rows)('at a bit-error ratio of $pre_fec_ber', (row) => {
    const frameBytes = 1068;
    // The table gives the frame's span in codewords to three decimals.
    expect(Math.abs(codewordsPerFrame(frameBytes) / row.frame_span_codewords - 1)).toBeLessThan(2e-4);
    expect(Math.abs(symbolErrorRatio(row.pre_fec_ber) / row.symbol_error - 1)).toBeLessThan(1e-9);
    expect(Math.abs(codewordErrorRatio(row.pre_fec_ber) / row.codeword_fail - 1)).toBeLessThan(1e-9);
    expect(Math.abs(frameLossRatio(row.pre_fec_ber, frameBytes) / row.frame_loss_1068B - 1)).toBeLessThan(
      1e-3,
    );
  });
});
