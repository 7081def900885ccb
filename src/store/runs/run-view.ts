/** What others see of a run: the row as REST shows it, and a scorecard without scores. */
import { unknownScores, type Scorecard } from '../../scoring/scorecard.js';
import type { Judgement } from '../../drill/judge.js';
import type { RunSummary } from './read-runs.js';
import { isFinal } from './run.machine.js';
import { sealedState } from './sealed-run.js';

/** What could tell what a sealed run injects, as anybody sees it. */
const withheld = (run: RunSummary): Record<string, unknown> => ({
  experiment: 'sealed',
  experimentId: null,
  seed: null,
  state: sealedState(run),
  reason: null,
  exitCode: null,
});

/** A run as REST shows it; truth and results have their own addresses. */
export function runView(run: RunSummary): Record<string, unknown> {
  return {
    id: run.id,
    experiment: run.experimentName,
    experimentId: run.experimentId,
    fabric: run.fabricName,
    driver: run.driver,
    scheduleId: run.scheduleId,
    gameDayId: run.gameDayId,
    sealed: run.sealed,
    seed: run.seed,
    state: run.state,
    final: isFinal(run.state),
    reason: run.reason,
    exitCode: run.exitCode,
    version: run.version,
    abortRequestedAt: run.abortRequestedAt?.toISOString() ?? null,
    abortReason: run.abortReason,
    clearedAt: run.clearedAt?.toISOString() ?? null,
    clearedReason: run.clearedReason,
    createdAt: run.createdAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    endedAt: run.endedAt?.toISOString() ?? null,
    ...(run.sealed ? withheld(run) : {}),
  };
}

/** What a scorecard says of its run. */
export type ScorecardRun = Pick<
  RunSummary,
  'id' | 'experimentName' | 'fabricName' | 'driver' | 'seed' | 'state' | 'reason' | 'startedAt' | 'endedAt'
>;

/** @param judgement left out for a run that was not scored */
export function scorecardFrom(run: ScorecardRun, version: string, judgement?: Judgement): Scorecard {
  const scorecard: Scorecard = {
    run: {
      id: run.id,
      experiment: run.experimentName,
      fabric: run.fabricName,
      driver: run.driver,
      seed: run.seed,
      state: run.state,
      version,
      startedAt: run.startedAt?.toISOString() ?? null,
      endedAt: run.endedAt?.toISOString() ?? null,
    },
    scores: unknownScores(),
    objectives: [],
    verdict: null,
    truth: [],
    reasons: run.reason === null ? [] : [run.reason],
  };
  if (judgement === undefined) return scorecard;
  const { scores, objectives, verdict, truth, reasons, doubts, notes, alignments } = judgement;
  return {
    ...scorecard,
    scores,
    objectives,
    verdict,
    truth,
    reasons,
    ...(doubts.length === 0 ? {} : { doubts }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(alignments.length === 0 ? {} : { alignments }),
  };
}
