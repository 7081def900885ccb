/**
 * One run of a gate: an experiment on one of the two fabrics with one seed, in memory, down to its figures.
 *
 * What nobody compares is not computed: without an objective on explainability there is no diagnosis, and without one
 * that needs it no twin.
 */
import { figureValues } from '../../comparison/figures.js';
import type { SideRun } from '../../comparison/pairs.js';
import type { SuiteObjective } from '../../comparison/suite-objective.js';
import { InputError } from '../../core/problem.js';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import { compute } from '../compute/compute.js';
import type { DrillTask, Needs } from '../compute/task.js';
import { trainingPace } from '../../scoring/measures/training.js';

/** All that a run of a gate depends on. */
export type SideInput = Pick<DrillTask, 'experiment' | 'fabric' | 'seed'> & { needs: Needs };

/** A run of a side, and whether the experiment could not even be planned there. */
export interface SideOutcome extends SideRun {
  refused?: boolean;
}

const WITH_TWIN = /^explainability[.](score|evidence_.*|share_error)$/;

export const needsOf = (objectives: readonly SuiteObjective[]): Needs => ({
  diagnosis: objectives.some(({ figure }) => figure.path.startsWith('explainability.')),
  twin: objectives.some(({ figure }) => WITH_TWIN.test(figure.path)),
});

/** @throws what is our own bug; what the input can't do is told in the outcome */
export async function runSide(input: SideInput): Promise<SideOutcome> {
  try {
    const { judgement, description, evidence, record } = await compute({ ...input, objectives: [] });
    const doubt = judgement.doubts.length === 0 ? {} : { problem: judgement.doubts.join('; ') };
    if (evidence === null) return { figures: null, ...doubt };
    const { injectedNs, endNs } = record ?? { injectedNs: null, endNs: 0 };
    const pace = trainingPace(new EvidenceIndex(evidence), description.jobs, injectedNs, endNs);
    // Scores of a drill that proved nothing are no figures; how fast training was is known all the same.
    return { figures: figureValues(judgement.doubts.length === 0 ? judgement.scores : null, pace), ...doubt };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { figures: null, refused: true, problem: error.issues.map(({ message }) => message).join('; ') };
  }
}
