/**
 * One everyday property of an untidy fabric, put on evidence that was recorded without it.
 *
 * Nothing is simulated again: the same run is seen once as it was recorded and once with the property, so that every
 * difference between two verdicts is the property's work. Figures are those published of real fabrics, cited in each
 * file; each draw is a hash of seed, trait, element and index, so that none depends on the order of the others.
 */
import { hashText, mix32 } from '../../../src/core/prng.js';
import type { DiagnosisInput } from '../../../src/diagnosis/index.js';
import type { Evidence } from '../../../src/model/telemetry/series.js';

export interface Perturbation {
  /** `rank-scatter`. */
  name: string;
  /** What is added, as a row of a table says it. */
  what: string;
  /** Null where the fabric has no place for it: no port that is idle, say. */
  apply(world: DiagnosisInput, seed: number): Perturbed | null;
}

export interface Perturbed {
  evidence: Evidence;
  /** Elements that have a trouble of their own now, and may be named for it. */
  troubled?: readonly string[];
}

/** 0 to 1, 1 excluded. */
export const uniform = (seed: number, trait: string, element = '', index = 0): number =>
  mix32(hashText(`${trait} ${element}`, seed >>> 0) ^ mix32(index + 0x9e3779b9)) / 2 ** 32;

/** Standard normal (Box and Muller, one of the pair). */
export function normal(seed: number, trait: string, element = '', index = 0): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(seed, `${trait} radius`, element, index)));
  return radius * Math.cos(2 * Math.PI * uniform(seed, `${trait} angle`, element, index));
}

/** Events within an expectation; large ones as a rounded normal. */
export function poisson(mean: number, seed: number, trait: string, element = '', index = 0): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(seed, trait, element, index)));
  let left = uniform(seed, trait, element, index);
  let chance = Math.exp(-mean);
  let count = 0;
  while (left > chance && count < 200) {
    left -= chance;
    chance *= mean / ++count;
  }
  return count;
}

export const pickOne = <T>(choices: readonly T[], seed: number, trait: string, element = ''): T | undefined =>
  choices[Math.floor(uniform(seed, trait, element) * choices.length)];

/** Evenly in the logarithm. */
export const logUniform = (least: number, most: number, at: number): number => least * (most / least) ** at;
