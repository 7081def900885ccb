/** What others see of a run: the row as REST shows it, and a scorecard without scores. */
import { unknownScores, type Scorecard } from '../../scoring/scorecard.js';
import type { RunEntity } from './run.entity.js';
import { isFinal } from './run.machine.js';
import { sealedState } from './sealed-run.js';

/** What could tell what a sealed run injects, as anybody sees it. */
const withheld = (run: RunEntity): Record<string, unknown> => ({
  experiment: 'sealed',
  experimentId: null,
  seed: null,
  state: sealedState(run),
  reason: null,
  exitCode: null,
});

/** A run as REST shows it; truth and results have their own addresses. */
export function runView(run: RunEntity): Record<string, unknown> {
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

/** The scorecard of a run that was not scored. */
export function unscored(run: RunEntity, version: string): Scorecard {
  return {
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
}
