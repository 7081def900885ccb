/**
 * The final state of a run and the reasons for it: three-valued, and the worst wins.
 *
 * After Jepsen: true, false, and unknown, which is neither. No data, a sick baseline, a target that nobody used, no
 * objective: all of them are inconclusive, never a pass. A missed objective stays a failure beside them, except where the
 * fabric was sick before the fault: figures that compare with a sick "before" blame nobody. What went wrong with the
 * drill itself comes before both.
 */
import type { BaselineHealth } from './measures/baseline.js';
import { FINAL_STATES } from './scorecard.js';
import type { FinalState, ObjectiveResult } from './scorecard.js';

export interface OutcomeInput {
  objectives: readonly ObjectiveResult[];
  /** Whether the drill injected anything; a control has no target to check. */
  injected: boolean;
  /** null when the baseline was never looked at. */
  baseline: BaselineHealth | null;
  targetBytesInBaseline: boolean | null;
  /** Faults that could not be undone, or whose undoing could not be verified, one sentence each. */
  rollbackFailures: readonly string[];
  /** Why the run was aborted; null when it was not. */
  aborted: string | null;
  /** What broke; null when nothing did. */
  error: string | null;
  /** Other causes why nothing is proved: an injection that was refused, a target that was lost. */
  inconclusive?: readonly string[];
}

export interface Outcome {
  state: FinalState;
  /** One sentence each, worst first; empty when passed. */
  reasons: string[];
}

type Reason = readonly [state: FinalState, reason: string];

const measured = ({ value }: ObjectiveResult): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(6))) : String(value);

const NO_OBJECTIVE = 'the experiment states no objective, so nothing decides';

/** Of the reasons for a state those that speak of the drill itself, whatever its objectives came to. */
export const doubtsIn = (reasons: readonly string[], objectives: readonly ObjectiveResult[]): string[] =>
  reasons.filter(
    (reason) =>
      reason !== NO_OBJECTIVE && !objectives.some(({ expression }) => reason.startsWith(`${expression} `)),
  );

/** @param sick the fabric was not well before the fault: what is missed then is not its doing */
function objectiveReasons(objectives: readonly ObjectiveResult[], sick: boolean): Reason[] {
  if (objectives.length === 0) return [['inconclusive', NO_OBJECTIVE]];
  return objectives.flatMap((objective): Reason[] => {
    if (objective.passed === true) return [];
    return objective.passed === false
      ? [
          [
            sick ? 'inconclusive' : 'failed',
            `${objective.expression} was missed: measured ${measured(objective)}`,
          ],
        ]
      : [['inconclusive', `${objective.expression} could not be known`]];
  });
}

function baselineReasons({
  baseline,
  injected,
  targetBytesInBaseline,
}: Pick<OutcomeInput, 'baseline' | 'injected' | 'targetBytesInBaseline'>): Reason[] {
  const reasons: Reason[] = [];
  if (baseline === null) reasons.push(['inconclusive', 'the baseline was not observed']);
  else if (baseline.healthy !== true) {
    const what =
      baseline.healthy === false
        ? 'the fabric was not healthy before the fault'
        : 'the baseline is not known';
    reasons.push([
      'inconclusive',
      baseline.reasons.length === 0 ? what : `${what}: ${baseline.reasons.join('; ')}`,
    ]);
  }
  if (injected && targetBytesInBaseline === false) {
    reasons.push([
      'inconclusive',
      'the target carried no bytes of any job before the fault, so the drill tried nothing',
    ]);
  }
  if (injected && targetBytesInBaseline === null) {
    reasons.push([
      'inconclusive',
      'it is not known whether the target carried bytes of a job before the fault',
    ]);
  }
  return reasons;
}

function judgedReasons(input: OutcomeInput): Reason[] {
  const sick = input.baseline?.healthy === false;
  const objectives = objectiveReasons(input.objectives, sick);
  // What explains the others comes first.
  return sick ? [...baselineReasons(input), ...objectives] : [...objectives, ...baselineReasons(input)];
}

/** Why the figures of a drill that ran its course prove nothing, one sentence each; objectives apart. */
export const drillDoubts = (
  input: Pick<OutcomeInput, 'baseline' | 'injected' | 'targetBytesInBaseline'>,
): string[] => baselineReasons(input).map(([, reason]) => reason);

/** The worst of all that can be said about a run. */
export function concludeRun(input: OutcomeInput): Outcome {
  const drill: Reason[] = [
    ...input.rollbackFailures.map((reason): Reason => ['rollback-failed', reason]),
    ...(input.error === null ? [] : [['error', input.error] as const]),
    ...(input.aborted === null ? [] : [['aborted', input.aborted] as const]),
  ];
  // A drill that did not run its course has no baseline or objective worth a word.
  const judged = drill.length > 0 ? [] : judgedReasons(input);
  const other = (input.inconclusive ?? []).map((reason): Reason => ['inconclusive', reason]);
  const rank = ([state]: Reason): number => FINAL_STATES.indexOf(state);
  const reasons = [...drill, ...judged, ...other].sort((a, b) => rank(a) - rank(b));
  return { state: reasons[0]?.[0] ?? 'passed', reasons: reasons.map(([, reason]) => reason) };
}
