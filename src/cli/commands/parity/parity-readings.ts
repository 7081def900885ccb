/**
 * The layers of two finished runs, from their evidence and scorecards.
 *
 * A run that told nothing leaves every layer unknown. What only one of the two fabrics tells is kept out of detection.
 */
import { describeFabric } from '../../../drill/examine.js';
import { fabricAsRecorded } from '../../../documents/stored.js';
import { layerReadings, NO_READINGS } from '../../../scoring/parity/layers.js';
import { doubtsIn } from '../../../scoring/outcome.js';
import type { LayerReadings, ParityRun } from '../../../scoring/parity/parity.js';
import type { PublishedTruth } from '../../../scoring/scorecard.js';
import type { Series } from '../../../model/telemetry/series.js';
import type { TruthEntry } from '../../../faults/ground-truth.js';
import type { PlannedPair } from './parity-plan.js';
import type { FinishedRun, ParityRunner } from './parity-runner.js';

export interface PairReadings {
  predicted: ParityRun;
  measured: ParityRun;
}

const NS_PER_S = 1e9;

export async function readingsOf(
  runner: ParityRunner,
  { exposedJobs }: PlannedPair,
  predicted: FinishedRun,
  measured: FinishedRun,
): Promise<PairReadings> {
  const [twin, real] = [await observed(runner, predicted), await observed(runner, measured)];
  const readings = (
    own: Observed | undefined,
    other: Observed | undefined,
    run: FinishedRun,
  ): LayerReadings => (own === undefined ? NO_READINGS : read(own, other, run, exposedJobs));
  return {
    predicted: told(predicted, readings(twin, real, predicted)),
    measured: told(measured, readings(real, twin, measured)),
  };
}

type Observed = NonNullable<Awaited<ReturnType<typeof observed>>>;

async function observed(runner: ParityRunner, run: FinishedRun) {
  const file = await runner.evidence(run);
  if (file === undefined) return undefined;
  const { decodeEvidenceFile } = await import('../../../evidence/arrow.js');
  const decoded = await decodeEvidenceFile(file);
  const told = new Set(decoded.evidence.series.map(keyOf));
  return {
    ...describeFabric(fabricAsRecorded(decoded.fabric)),
    evidence: decoded.evidence,
    told,
  };
}

const keyOf = ({ metric, element }: Series): string => `${metric} ${element}`;

function read(
  { evidence, topology, jobs }: Observed,
  other: Observed | undefined,
  { scorecard }: FinishedRun,
  exposedJobs: readonly string[] | null,
): LayerReadings {
  const truth = scorecard.truth.map(entryOf);
  if (truth.length === 0) return NO_READINGS;
  return layerReadings({
    ...{ evidence, topology, jobs, truth, exposedJobs },
    injectedNs: Math.min(...truth.map(({ fromNs }) => fromNs)),
    revertedNs: Math.max(...truth.map(({ toNs }) => toNs)),
    endNs: evidence.toNs,
    sharedWith: (series) => other?.told.has(keyOf(series)) === true,
  });
}

const entryOf = ({ from_s: fromS, to_s: toS, ...entry }: PublishedTruth): TruthEntry =>
  ({ ...entry, fromNs: fromS * NS_PER_S, toNs: toS * NS_PER_S }) as TruthEntry;

function told({ id, scorecard }: FinishedRun, readings: LayerReadings): ParityRun {
  const { run, reasons, objectives } = scorecard;
  return { id, seed: run.seed, state: run.state, doubts: doubtsIn(reasons, objectives), readings };
}
