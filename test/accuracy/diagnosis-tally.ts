/**
 * Counts how often the diagnosis is right over many cases, and prints a row of figures for each kind of case.
 */
import { expect } from '@jest/globals';
import { diagnose } from '../../src/diagnosis/index.js';
import type { Culprit, Verdict } from '../../src/diagnosis/verdict.js';
import { jobId } from '../../src/core/elements.js';
import { EvidenceIndex } from '../../src/model/telemetry/series.js';
import { runCase } from './diagnosis-cases.js';
import type { CaseRequest, DiagnosisCase } from './diagnosis-cases.js';
import { ACCURACY_FAULTS } from './diagnosis-faults.js';
import type { FaultName } from './diagnosis-faults.js';

export interface Tally {
  /** Those whose fault cost a job time, or is named: one that costs nobody anything need not be explained. */
  cases: number;
  /** The hurt element ranks first. */
  element: number;
  /** ... and nothing else is named. */
  alone: number;
  /** ... with kind, side (where the truth knows it) and direction. */
  details: number;
  /** Of those found, s. */
  worstOnsetErrorS: number;
  /** ... of which are named by a remark, since they cost next to nothing. */
  odd: number;
  misses: string[];
}

export const requests = (
  fault: FaultName,
  seeds: readonly number[],
  rest: Partial<CaseRequest> = {},
): CaseRequest[] =>
  ACCURACY_FAULTS[fault].tiers.flatMap((tier) =>
    seeds.map((seed) => ({ faults: [{ fault, tier }], seed, ...rest })),
  );

export async function tally(all: readonly CaseRequest[]): Promise<Tally> {
  const result: Tally = {
    cases: 0,
    element: 0,
    alone: 0,
    details: 0,
    worstOnsetErrorS: 0,
    odd: 0,
    misses: [],
  };
  for (const request of all) {
    const drill = await runCase(request);
    const verdict = diagnose(drill);
    const costS = verdict.culprits.length > 0 ? Infinity : await costOf(request, drill);
    const odd = costS < ODD_S ? named(drill, verdict) : [];
    if (odd.length === 0 && costS < NOTHING_S) continue;
    const { element, alone, details, onsetErrorS } = compare(drill, [...verdict.culprits, ...odd]);
    result.odd += odd.length;
    result.cases++;
    result.element += Number(element);
    result.alone += Number(alone);
    result.details += Number(details);
    result.worstOnsetErrorS = Math.max(result.worstOnsetErrorS, onsetErrorS);
    if (!alone || !details) {
      const { fault, tier } = request.faults[0];
      result.misses.push(`${fault} ${tier} seed ${request.seed}: ${verdict.answer}`);
    }
  }
  return result;
}

/** Of a minute: what a fault takes in passing and no poll shows. */
const NOTHING_S = 0.01;
/** A fiftieth of a minute: what costs no more may be named by a remark instead. */
const ODD_S = 1.2;

/** By how much a job comes later to its last step than in the same run without the fault, at most, s. */
async function costOf(request: CaseRequest, drill: DiagnosisCase): Promise<number> {
  const calm = await runCase({ ...request, leftOut: request.faults.map((_, index) => index) });
  const costsS = drill.jobs.map(({ name }) => {
    const [ends, ideal] = [stepEnds(drill, name), stepEnds(calm, name)];
    const last = Math.min(ends.length, ideal.length) - 1;
    return last < 0 ? Infinity : (ends[last] - ideal[last]) / 1e9;
  });
  return Math.max(...costsS);
}

/** What names an element, in a culprit or in a remark. */
type Name = Pick<Culprit, 'element' | 'kind' | 'side' | 'direction' | 'onset_s'>;

/** The remark on the hurt element, if there is one. */
function named({ truth: [truth] }: DiagnosisCase, { remarks = [] }: Verdict): Name[] {
  const own = remarks.find(({ element }) => element.id === truth.elements[0].id);
  if (own === undefined) return [];
  const { element, kind, side = 'unknown', from_s: onset = null } = own;
  return [{ element, kind, side, direction: 'both', onset_s: onset }];
}

/** Ends of all steps of a job, ns. */
export function stepEnds({ evidence }: DiagnosisCase, job: string): number[] {
  const steps = new EvidenceIndex(evidence).get('job_steps', jobId(job));
  return steps === undefined ? [] : [...steps.timesNs].slice(1);
}

function compare({ truth: [truth] }: DiagnosisCase, names: readonly Name[]) {
  const first = names.at(0);
  const element = first?.element.id === truth.elements[0].id;
  const side = truth.side === 'unknown' || first?.side === truth.side;
  const details = element && side && first?.kind === truth.kind && first.direction === truth.direction;
  const onsetS = first?.onset_s ?? null;
  const onsetErrorS = element && onsetS !== null ? Math.abs(onsetS - truth.fromNs / 1e9) : 0;
  return { element, alone: element && names.length === 1, details, onsetErrorS };
}

/** `renegotiated  8 cases: element 8, alone 8, details 8, onset within 0.5 s`, on the test run's own output. */
export function print(name: string, { cases, element, alone, details, odd, worstOnsetErrorS }: Tally): void {
  const onset = `onset within ${worstOnsetErrorS.toFixed(2)} s`;
  process.stdout.write(
    `  ${name.padEnd(24)} ${cases} cases: element ${element}, alone ${alone}, details ${details}, ${onset}, by a remark ${odd}\n`,
  );
}

/** Kind and side must be right in so many cases. */
const DETAILS = 0.9;

/** Fails with the misses, and their seeds, when a share is not reached. */
export function floor({ cases, element, details, misses }: Tally, share: number, ofDetails = DETAILS): void {
  const enough = element >= share * cases && details >= ofDetails * cases;
  expect(enough ? [] : misses).toEqual([]);
}

export function pooled(results: readonly Tally[]): Tally {
  const sum = (read: (one: Tally) => number): number => results.reduce((total, one) => total + read(one), 0);
  return {
    cases: sum(({ cases }) => cases),
    element: sum(({ element }) => element),
    alone: sum(({ alone }) => alone),
    details: sum(({ details }) => details),
    worstOnsetErrorS: Math.max(...results.map(({ worstOnsetErrorS }) => worstOnsetErrorS)),
    odd: sum(({ odd }) => odd),
    misses: results.flatMap(({ misses }) => misses),
  };
}

/** The given seeds, or those of `DIAGNOSIS_SEEDS` (`801..820`). */
export function seedsFrom(usual: readonly number[]): readonly number[] {
  const [, first, last] = /^(\d+)\.\.(\d+)$/.exec(process.env.DIAGNOSIS_SEEDS ?? '') ?? [];
  if (first === undefined) return usual;
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
}
