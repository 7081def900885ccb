/**
 * One experiment planned for two fabrics, so that both have their faults at the same elements.
 *
 * The real fabric resolves the selectors, and whoever runs the experiment then is told the elements by name: paths, and with
 * them what a job uses, may differ on the twin.
 */
import { unsupportedError, type PlanView } from '../../../drill/plan/plan.js';
import type { FabricDocument } from '../../../documents/fabric-document.js';
import { refuseFiles } from '../../../documents/fabric-document.js';
import { loadExperiment, type Loaded } from '../../../documents/load.js';
import { InputError } from '../../../core/problem.js';
import type { Config } from '../../../system/config/config.js';
import { planHere } from '../../client/check.js';
import type { ExperimentFile } from '../../files/definitions.js';
import type { ParityRunner } from './parity-runner.js';

export interface PlannedPair {
  seed: number;
  /** The experiment with the elements by name. */
  pinned: ExperimentFile;
  /** Element ids of all faults. */
  targets: string[];
  /** Jobs whose routes on the real fabric cross them; null where it can't tell. */
  exposedJobs: readonly string[] | null;
}

export interface PairToPlan {
  source: ExperimentFile;
  real: Loaded<FabricDocument>;
  twin: Loaded<FabricDocument>;
  config: Config;
}

/** @throws InputError when one of the two fabrics can't run it, for an impairment or anything else */
export async function planBoth(
  runner: ParityRunner,
  { source, real, twin, config }: PairToPlan,
  seed: number,
): Promise<PlannedPair> {
  const plan = await runner.plan(source, real, seed);
  requireSupported(source, plan);
  const pinned = withTargets(source, plan);
  const prediction = await planHere(pinned, twin, seed, { ask: runner.ask, config });
  requireSupported(source, prediction);
  return {
    ...{ seed, pinned, exposedJobs: plan.blastRadius.exposedJobs },
    targets: plan.faults.flatMap(({ targets }) => targets.map(({ id }) => id)),
  };
}

function requireSupported(
  { experiment }: ExperimentFile,
  plan: Pick<PlanView, 'fabric' | 'driver' | 'unsupported'>,
): void {
  if (plan.unsupported.length > 0) throw new InputError(experiment.locate(unsupportedError(plan).issues));
}

interface Stated {
  spec: { faults: Record<string, unknown>[] };
}

function withTargets(source: ExperimentFile, { faults }: PlanView): ExperimentFile {
  const stated = source.experiment.source as Stated;
  const named = stated.spec.faults.map((fault, at) => {
    const { targets } = faults[at];
    if (targets.length === 0) return fault;
    const target = { type: targets[0].type, names: targets.map(({ id }) => id), mode: 'all' };
    return { ...fault, target };
  });
  const document = { ...stated, spec: { ...stated.spec, faults: named } };
  const { locate } = source.experiment;
  return { ...source, experiment: { ...loadExperiment(document, refuseFiles), locate } };
}
