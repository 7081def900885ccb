/**
 * What there would have been without the faults: the same seed again on a fabric whose clock we drive.
 *
 * The twin without any fault tells what truly differs because of them; twins with some of them tell what each one cost.
 * Only after the verdict is sealed: nothing of this reaches the diagnoser. Left out, with a reason: faults whose time
 * depends on what a job does (another history would move them), more than three of them, and very large fabrics.
 */
import { advancesTime, runsWorkload, type Fabric, type FabricDescription } from '../fabric-api/fabric.js';
import { lostAgainstTwin, shapleyShares } from '../scoring/measures/lost-time.js';
import type { Evidence } from '../model/telemetry/series.js';
import type { Plan, PlannedFault, PlannedImpairment } from './plan/plan.js';
import type { DrillRecord } from './record.js';

/** Each of n faults takes part or not, so that there are 2^n histories. */
const MOST_FAULTS = 3;
/** A twin of more would double a run of minutes and gigabytes. */
const MOST_GPUS = 4096;

export interface Counterfactual {
  /** Evidence of the same seed without any fault; null where it was not run. */
  twin: Evidence | null;
  /** GPU time lost by all faults, ns. */
  lostNs: number | null;
  /** Share of each truth entry, in their order; null where it is not known. */
  shares: number[] | null;
  /** Why something is missing, one sentence; null when nothing is, or nothing could be expected. */
  missing: string | null;
}

export interface CounterfactualInput {
  plan: Plan;
  record: DrillRecord;
  evidence: Evidence;
  /** Of the fabric that the drill was on. */
  description: Pick<FabricDescription, 'topology' | 'jobs'>;
  /** A new fabric of the same document and seed, whose clock is driven. */
  open: () => Promise<Fabric>;
  signal: AbortSignal;
}

const NOTHING: Counterfactual = { twin: null, lostNs: null, shares: null, missing: null };

/** Runs the twins. Rejects when the signal is aborted. */
export async function runCounterfactual(input: CounterfactualInput): Promise<Counterfactual> {
  const { plan, record } = input;
  const { topology, jobs } = input.description;
  if (record.truth.length === 0 || plan.scoring?.counterfactual === 'off') return NOTHING;
  if (topology.gpus.length > MOST_GPUS) {
    return {
      ...NOTHING,
      missing: `the same seed was not run without the fault: more than ${MOST_GPUS} GPUs`,
    };
  }
  const lostOf = (evidence: Evidence, twin: Evidence): number | null =>
    lostAgainstTwin(evidence, twin, jobs, record.endNs);
  const twin = await history(input, []);
  const lostNs = lostOf(input.evidence, twin);
  const { faults } = plan;
  const known: Counterfactual = { twin, lostNs, shares: null, missing: null };
  if (lostNs === null || !(lostNs > 0)) return known;
  if (
    faults.length > MOST_FAULTS ||
    (faults.length > 1 && faults.some(({ trigger }) => trigger !== undefined))
  ) {
    return { ...known, missing: `what each of ${faults.length} faults cost was not worked out` };
  }
  const worth = [0];
  for (let bits = 1; bits < 2 ** faults.length - 1; bits++) {
    const lost = lostOf(
      await history(
        input,
        faults.filter((_, at) => (bits >> at) & 1),
      ),
      twin,
    );
    if (lost === null) return known;
    worth.push(lost);
  }
  const shares = shapleyShares(faults.length, [...worth, lostNs]);
  return { ...known, shares: shares === null ? null : sharesOfTruth(faults, shares) };
}

/** A fault with several truth entries costs once; its entries share that evenly. */
const sharesOfTruth = (faults: readonly PlannedFault[], shares: readonly number[]): number[] =>
  faults.flatMap(({ truth }, at) => truth.map(() => shares[at] / truth.length));

/** The same seed with some of the faults, up to the end of the drill. */
async function history(
  { record, open, signal }: CounterfactualInput,
  faults: readonly PlannedFault[],
): Promise<Evidence> {
  const fabric = await open();
  try {
    if (!advancesTime(fabric) || !runsWorkload(fabric))
      throw new Error('a twin needs a clock that is driven');
    await fabric.startJobs();
    for (const { timeNs, one, apply } of agenda(faults)) {
      await advance(fabric, timeNs, signal);
      if (apply) await fabric.apply(one.id, one.impairment);
      else await fabric.revert(one.id, one.impairment, {});
    }
    await advance(fabric, record.endNs, signal);
    return await fabric.observe({ fromNs: 0, toNs: record.endNs });
  } finally {
    await fabric.close();
  }
}

/** In pieces, so that an abort is seen soon and the event loop runs. */
async function advance(
  fabric: { nowNs: number; advance(toNs: number): Promise<void> },
  toNs: number,
  signal: AbortSignal,
): Promise<void> {
  const pieceNs = 1e9;
  while (fabric.nowNs < toNs) {
    signal.throwIfAborted();
    await fabric.advance(Math.min(toNs, fabric.nowNs + pieceNs));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Applies and reverts in time order; at one instant reverts come first, as in the drill. */
function agenda(
  faults: readonly PlannedFault[],
): { timeNs: number; one: PlannedImpairment; apply: boolean }[] {
  return faults
    .flatMap(({ impairments }) =>
      impairments.flatMap((one) => [
        { timeNs: one.atNs, one, apply: true },
        { timeNs: one.untilNs, one, apply: false },
      ]),
    )
    .sort((a, b) => a.timeNs - b.timeNs || Number(a.apply) - Number(b.apply));
}
