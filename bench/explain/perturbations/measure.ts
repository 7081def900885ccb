/**
 * One case seen with each of some perturbations: the same run, diagnosed and graded again for each.
 *
 * Only single faults that somebody felt and that are watched well, and controls: so that a difference is the property's.
 */
import { diagnose } from '../../../src/diagnosis/index.js';
import type { Verdict } from '../../../src/diagnosis/index.js';
import { grade } from '../grade.js';
import { countsAsCase, impactOf } from '../impact.js';
import type { CorpusCase } from '../corpus/case.js';
import { runSeed, type CaseRun } from '../run-case.js';
import { BLINKERS, HARMLESS, type Perturbed, type Perturbation } from './index.js';

export interface Answer {
  isControl: boolean;
  right: boolean;
  alarm: boolean;
  /** It said that there is no fault; asked of controls in which nothing computes slowly. */
  saysNone: boolean | null;
  said: string;
}

/** By name of the perturbation; without those that the fabric has no place for. Null for a case that is not asked. */
export type Answers = Readonly<Record<string, Answer>>;

/** The recorded evidence as it is: what every row is compared with. */
const NOTHING: Perturbation = {
  name: 'as-recorded',
  what: 'nothing',
  apply: ({ evidence }) => ({ evidence }),
};

export const PERTURBATIONS: readonly Perturbation[] = [NOTHING, ...HARMLESS, ...BLINKERS];

export async function answersOf(seed: number, names: readonly string[]): Promise<Answers | null> {
  const { one, run } = await runSeed(seed);
  const isAsked = one.control !== null || (one.entries.length === 1 && countsAsCase(run, impactOf(run)));
  if (!isAsked || one.quality !== 'clean') return null;
  const answers: Record<string, Answer> = {};
  for (const perturbation of PERTURBATIONS) {
    if (!names.includes(perturbation.name)) continue;
    const perturbed = perturbation.apply(run, seed);
    if (perturbed !== null) answers[perturbation.name] = answerTo(one, run, perturbed);
  }
  return answers;
}

export function answerTo(
  { control }: Pick<CorpusCase, 'control'>,
  run: CaseRun,
  perturbed: Perturbed,
): Answer {
  const { topology, jobs } = run;
  const verdict = diagnose({ topology, jobs, evidence: perturbed.evidence });
  const { top1, falseAlarm, said } = grade(
    { ...run, evidence: perturbed.evidence },
    withoutTroubled(verdict, perturbed),
  );
  return {
    isControl: control !== null,
    right: top1 === 1,
    alarm: falseAlarm,
    saysNone: control === null || control === 'straggler' ? null : verdict.faultFound === false,
    said,
  };
}

/** What the property itself did wrong may be named, and is no answer to what else is wrong. */
function withoutTroubled(verdict: Verdict, { troubled = [] }: Perturbed): Verdict {
  const culprits = verdict.culprits.filter(({ element }) => !troubled.includes(element.id));
  return culprits.length === verdict.culprits.length
    ? verdict
    : { ...verdict, culprits, faultFound: culprits.length > 0 ? true : null };
}
