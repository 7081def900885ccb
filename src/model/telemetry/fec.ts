/**
 * RS(544,514) forward error correction: what a bit-error ratio before it leaves behind it. A cliff, not a slope.
 *
 * The "KP4" code of 100G-per-lane and 50G-per-lane Ethernet (IEEE 802.3, clauses 91 and 119): 544 symbols of 10 bits,
 * of which 514 are payload, up to 15 wrong symbols corrected. With independent bit errors the number of wrong symbols
 * is binomial; more than 15 make a codeword uncorrectable, and a frame is lost with any codeword it touches.
 * Switches count corrected and uncorrectable codewords, and codewords by wrong symbols in bins 0 to 15.
 * RS(528,514) ("KR4", IEEE 802.3 clause 91) has fewer check symbols and corrects up to 7: its cliff comes earlier.
 * Not modelled: error bursts and interleaving (which make a given ratio worse), transcoding and alignment overhead.
 */
import { InputError } from '../../core/problem.js';

export const FEC_SYMBOLS = 544;
export const FEC_PAYLOAD_SYMBOLS = 514;
export const FEC_SYMBOL_BITS = 10;
/** Wrong symbols that are corrected. */
export const FEC_CORRECTABLE = 15;
/** A code of 514 payload symbols; `rs544` unless said otherwise. */
export interface FecCode {
  symbols: number;
  /** Wrong symbols that are corrected. */
  correctable: number;
}

/** By the names that switches have for them. */
export const FEC_CODES = {
  rs544: { symbols: FEC_SYMBOLS, correctable: FEC_CORRECTABLE },
  rs528: { symbols: 528, correctable: 7 },
} as const satisfies Record<string, FecCode>;

/** Payload of a codeword, bits. */
export const FEC_PAYLOAD_BITS = FEC_PAYLOAD_SYMBOLS * FEC_SYMBOL_BITS;

/**
 * Probability that a symbol has a wrong bit.
 *
 * @param bitErrorRatio before FEC, 0..0.5
 * @throws InputError outside that range
 */
export function symbolErrorRatio(bitErrorRatio: number): number {
  if (!(bitErrorRatio >= 0 && bitErrorRatio <= 0.5))
    throw InputError.at('', `a bit-error ratio of ${bitErrorRatio}; it lies between 0 and 0.5`);
  return -Math.expm1(FEC_SYMBOL_BITS * Math.log1p(-bitErrorRatio));
}

/** Probability that a codeword can not be corrected; with full relative precision however small it is. */
export function codewordErrorRatio(
  bitErrorRatio: number,
  { symbols, correctable }: FecCode = FEC_CODES.rs544,
): number {
  const ratio = symbolErrorRatio(bitErrorRatio);
  if (ratio === 0) return 0;
  let sum = 0;
  if (ratio * symbols > correctable + 1) {
    for (let count = 0; count <= correctable; count++) sum += symbolCountProbability(ratio, count, symbols);
    return Math.max(0, 1 - sum);
  }
  let term = symbolCountProbability(ratio, correctable + 1, symbols);
  for (let count = correctable + 1; count <= symbols && term > sum * 1e-17; count++) {
    sum += term;
    term *= ((symbols - count) / (count + 1)) * (ratio / (1 - ratio));
  }
  return sum;
}

/** Share of codewords with errors that were all corrected. */
export function correctedCodewordRatio(bitErrorRatio: number, code: FecCode = FEC_CODES.rs544): number {
  const ratio = symbolErrorRatio(bitErrorRatio);
  const wrong = -Math.expm1(code.symbols * Math.log1p(-ratio));
  return Math.max(0, wrong - codewordErrorRatio(bitErrorRatio, code));
}

/** Codewords a frame touches on average, wherever it begins. */
export function codewordsPerFrame(frameBytes: number): number {
  return 1 + (8 * frameBytes) / FEC_PAYLOAD_BITS;
}

/**
 * Probability that a frame is lost.
 *
 * @param bitErrorRatio before FEC, 0..0.5
 * @param frameBytes on the wire, preamble and gap apart
 */
export function frameLossRatio(bitErrorRatio: number, frameBytes: number, code?: FecCode): number {
  return -Math.expm1(codewordsPerFrame(frameBytes) * Math.log1p(-codewordErrorRatio(bitErrorRatio, code)));
}

/** Probability of exactly `count` wrong symbols in a codeword. */
function symbolCountProbability(ratio: number, count: number, symbols = FEC_SYMBOLS): number {
  if (ratio === 0) return count === 0 ? 1 : 0;
  let logWays = 0;
  for (let index = 1; index <= count; index++) logWays += Math.log((symbols - count + index) / index);
  return Math.exp(logWays + count * Math.log(ratio) + (symbols - count) * Math.log1p(-ratio));
}
