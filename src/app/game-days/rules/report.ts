/**
 * What a game day showed: hypotheses held or refuted, our diagnosis beside the team's, what is to be done, and how the last
 * day of the same name went. Pure.
 *
 * Action items are drawn from what failed, so that a day does not end in good intentions: an objective missed, a hypothesis
 * refuted or one that nothing could tell, a run that did not come to its end, a fault that the team did not name, and what
 * people noted as an action. An item
 * that the last day had too is marked, since it was not seen to.
 */
import { evaluateObjectives, parseObjectives } from '../../../scoring/objectives.js';
import type { ExitCode } from '../../../scoring/exit-codes.js';
import type { ObjectiveResult, Score, Scorecard } from '../../../scoring/scorecard.js';

export type HypothesisOutcome = 'held' | 'refuted' | 'unknown' | 'not run';

/** A diagnosis in the words that both are shown in. */
export interface Answer {
  author: string;
  faultFound: boolean | null;
  named: string[];
  explainability: number | null;
  metrics: Score['metrics'];
}

/** When it happened, RFC 3339; null where it did not, or could not be told by the clock on the wall. */
export interface Course {
  startedAt: string;
  injectedAt: string | null;
  /** When telemetry first showed it; null also where the fabric's clock is not the wall's. */
  detectedAt: string | null;
  revertedAt: string | null;
  endedAt: string;
}

export interface ItemFindings {
  stage: string;
  experiment: string;
  fabric: string;
  run: string | null;
  state: string;
  reason: string | null;
  /** Null for one that did not begin to work. */
  course: Course | null;
  /** What was really injected, such as "link-down at link:a--b". */
  injected: string[];
  scores: { recovery: number | null; isolation: number | null; explainability: number | null };
  objectives: ObjectiveResult[];
  hypothesis: { statement: string; outcome: HypothesisOutcome; figures: ObjectiveResult[] };
  ours: Answer | null;
  team:
    | (Answer & {
        committedAt: string;
        /** What was injected could be read by then, as on a day that is not blind once the run has ended. */
        informed: boolean;
      })
    | null;
}

export interface ActionItem {
  text: string;
  from: 'objective' | 'hypothesis' | 'run' | 'diagnosis' | 'note';
  /** `stage/experiment`, or who noted it. */
  of: string;
  /** The last day of this name had it too. */
  again: boolean;
}

export interface Difference {
  of: string;
  figure: string;
  before: number | string | null;
  after: number | string | null;
}

/** What happened when, and who did it. */
export interface Moment {
  /** RFC 3339. */
  at: string;
  kind: 'day' | 'stage' | 'run' | 'fault' | 'commit' | 'note' | 'action';
  /** A stage, or `stage/experiment`; null for what is of the whole day. */
  of: string | null;
  /** Null for what nobody did by hand. */
  who: string | null;
  text: string;
}

export interface DayReport {
  id: string;
  name: string;
  state: string;
  reason: string | null;
  blind: boolean;
  exitCode: ExitCode;
  startedAt: string;
  abortRequestedAt: string | null;
  endedAt: string;
  /** Such as `10x`; null for one that is as fast as can be. */
  pace: string | null;
  roles: { role: string; people: string[] }[];
  stages: {
    name: string;
    state: string;
    reason: string | null;
    startedAt: string | null;
    endedAt: string | null;
    continuedAt: string | null;
    continuedBy: string | null;
  }[];
  experiments: ItemFindings[];
  notes: { at: string; author: string; kind: string; text: string }[];
  timeline: Moment[];
  actions: ActionItem[];
  /** Null where no day of this name ended before. */
  comparison: { with: string; endedAt: string; differences: Difference[]; actionsGone: string[] } | null;
}

/** @param scorecard null for an experiment that did not run */
export function judgeHypothesis(
  { statement, expect }: { statement: string; expect: readonly string[] },
  scorecard: Scorecard | null,
): ItemFindings['hypothesis'] {
  if (scorecard === null) return { statement, outcome: 'not run', figures: [] };
  const figures = evaluateObjectives(parseObjectives(expect), scorecard.scores);
  const passed = figures.map((figure) => figure.passed);
  const outcome = passed.includes(false) ? 'refuted' : passed.includes(null) ? 'unknown' : 'held';
  return { statement, outcome, figures };
}

const UNFINISHED = ['rollback-failed', 'error', 'aborted'];

const unfinishedText = (of: string, state: string): string =>
  state === 'aborted' ? `${of} was aborted: run it again` : `${of} ended as ${state}: find out why`;

/** @param earlier texts of the last day's action items */
export function actionItems(
  experiments: readonly ItemFindings[],
  notes: DayReport['notes'],
  earlier: readonly string[],
): ActionItem[] {
  const items: Omit<ActionItem, 'again'>[] = experiments.flatMap((one) => {
    const of = `${one.stage}/${one.experiment}`;
    const { outcome, statement } = one.hypothesis;
    const isUnfinished = UNFINISHED.includes(one.state);
    return [
      ...(isUnfinished ? [{ from: 'run' as const, of, text: unfinishedText(of, one.state) }] : []),
      ...one.objectives
        .filter(({ passed }) => passed === false)
        .map(({ expression }) => ({ from: 'objective' as const, of, text: `${of} misses ${expression}` })),
      ...(outcome === 'refuted'
        ? [{ from: 'hypothesis' as const, of, text: `${of} refutes "${statement}"` }]
        : []),
      // of a run that did not come to its end nothing else is to be said
      ...(outcome === 'unknown' && !isUnfinished
        ? [
            {
              from: 'hypothesis' as const,
              of,
              text: `${of} could not tell "${statement}": make it observable`,
            },
          ]
        : []),
    ];
  });
  const unnamed = experiments.flatMap((one) => {
    const share = one.team?.metrics.top1;
    if (typeof share !== 'number' || share >= 1) return [];
    const of = `${one.stage}/${one.experiment}`;
    const text = `${of}: the team did not name what was injected first; find out what it lacked`;
    return [{ from: 'diagnosis' as const, of, text }];
  });
  const noted = notes
    .filter(({ kind }) => kind === 'action')
    .map(({ author, text }) => ({ from: 'note' as const, of: author, text }));
  return [...items, ...unnamed, ...noted].map((item) => ({ ...item, again: earlier.includes(item.text) }));
}

/** What differs between two days, experiment by experiment; those of one day alone are named as such. */
export function differencesOf(before: readonly ItemFindings[], after: readonly ItemFindings[]): Difference[] {
  const nameOf = ({ stage, experiment }: ItemFindings): string => `${stage}/${experiment}`;
  const names = [...new Set([...before, ...after].map(nameOf))];
  return names.flatMap((of) => {
    const [old, now] = [before, after].map((list) => list.find((one) => nameOf(one) === of));
    if (old === undefined || now === undefined) {
      const [was, is] = [old, now].map((one) => (one === undefined ? 'not there' : one.state));
      return [{ of, figure: 'state', before: was, after: is }];
    }
    const figures: Difference[] = [
      { of, figure: 'state', before: old.state, after: now.state },
      { of, figure: 'hypothesis', before: old.hypothesis.outcome, after: now.hypothesis.outcome },
      ...(['recovery', 'isolation', 'explainability'] as const).map((score) => ({
        of,
        figure: `${score}.score`,
        before: old.scores[score],
        after: now.scores[score],
      })),
      {
        of,
        figure: 'team explainability.score',
        before: old.team?.explainability ?? null,
        after: now.team?.explainability ?? null,
      },
    ];
    return figures.filter((one) => one.before !== one.after);
  });
}
