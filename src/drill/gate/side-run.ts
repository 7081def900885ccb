/**
 * One run of a gate: an experiment on one of the two fabrics with one seed, in memory, down to its figures.
 *
 * The walk is the same as that of any drill. What nobody compares is not computed: without an objective on explainability
 * there is no diagnosis, and without one that needs it no twin.
 */
import { planDrill, unsupportedError } from '../plan.js';
import { runDrill } from '../walk.js';
import type { Experiment } from '../../documents/experiment.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import { withJobs } from '../../documents/stored.js';
import { openFabric } from '../../drivers/catalog.js';
import type { Fabric } from '../../fabric-api/fabric.js';
import { figureValues } from '../../comparison/figures.js';
import type { SideRun } from '../../comparison/pairs.js';
import type { SuiteObjective } from '../../comparison/suite-objective.js';
import { InputError } from '../../core/problem.js';
import { trainingPace } from '../../scoring/measures/training.js';
import { EvidenceIndex, type Evidence } from '../../model/telemetry/series.js';

/** What has to be computed beyond the drill itself. */
export interface Needs {
  diagnosis: boolean;
  twin: boolean;
}

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
export async function runSide(
  experiment: Experiment,
  document: FabricDocument,
  seed: number,
  needs: Needs,
): Promise<SideOutcome> {
  let fabric: Fabric | undefined;
  try {
    fabric = await openFabric(withJobs(document, experiment), seed);
    const plan = await planDrill({ name: experiment.metadata.name, spec: experiment.spec, fabric, seed });
    if (plan.unsupported.length > 0) throw unsupportedError(plan);
    return await walk(experiment, document, seed, needs, fabric, plan);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { figures: null, refused: true, problem: error.issues.map(({ message }) => message).join('; ') };
  } finally {
    await fabric?.close();
  }
}

const nothing = (): Promise<void> => Promise.resolve();
/** Nothing of a simulated fabric outlives its process, so there is nothing to write down for another one. */
const MEMORY_JOURNAL = { intend: nothing, applied: nothing, verified: nothing, failed: nothing };

async function walk(
  experiment: Experiment,
  document: FabricDocument,
  seed: number,
  needs: Needs,
  fabric: Fabric,
  plan: Awaited<ReturnType<typeof planDrill>>,
): Promise<SideOutcome> {
  const seen: { evidence?: Evidence; injectedNs: number | null; endNs: number } = {
    injectedNs: null,
    endNs: 0,
  };
  const judgement = await runDrill({
    plan,
    fabric,
    objectives: [],
    diagnose: needs.diagnosis,
    ...(needs.twin ? { openTwin: () => openFabric(withJobs(document, experiment), seed) } : {}),
    signal: new AbortController().signal,
    journal: MEMORY_JOURNAL,
    hooks: {
      state: nothing,
      progress: () => undefined,
      evidence: async (evidence) => void (seen.evidence = evidence),
      verdict: nothing,
      truth: async (_, { injectedNs, endNs }) => void Object.assign(seen, { injectedNs, endNs }),
    },
  });
  const doubt = judgement.doubts.length === 0 ? {} : { problem: judgement.doubts.join('; ') };
  if (seen.evidence === undefined) return { figures: null, ...doubt };
  const { jobs } = fabric.describe();
  const pace = trainingPace(new EvidenceIndex(seen.evidence), jobs, seen.injectedNs, seen.endNs);
  // Scores of a drill that proved nothing are no figures; how fast training was is known all the same.
  return { figures: figureValues(judgement.doubts.length === 0 ? judgement.scores : null, pace), ...doubt };
}
