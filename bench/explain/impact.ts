/**
 * What a fault did to the training, and whether anything but traffic told of it: what decides if a case counts.
 *
 * The change of step time comes from the twin: by how much later than without the fault the jobs ended the steps of the
 * hold, over the hold. A case is silent when no status, error or optic reading of the fabric moves: only traffic,
 * queues, hosts' own figures and the transport's retries do. Thresholds for optics and bit errors are those of alarms
 * (SONiC DOM thresholds: decibels, not tenths; a pre-FEC ratio a decade above its own past).
 */
import { QUALITY, type Evidence, type Series } from '../../src/model/telemetry/series.js';
import { jobId } from '../../src/core/elements.js';
import type { CaseRun } from './run-case.js';

export interface Impact {
  /** Relative, of the job that suffers most. */
  stepChange: number;
  stalled: boolean;
  silent: boolean;
  /** Start of the first step that came later than in the twin, not before the injection; null when none did. */
  firstImpactNs: number | null;
}

/** Below this a case is no case. */
const LEAST_STEP_CHANGE = 0.02;
/** Steps that end so long after the last repair still belong to the fault. */
const AFTERMATH_NS = 2e9;

type Felt = Pick<Impact, 'stepChange' | 'stalled'>;

const isFelt = ({ stepChange, stalled }: Felt): boolean => stalled || stepChange >= LEAST_STEP_CHANGE;

/** Whether somebody felt the fault; of two, whether each of them would have been felt by itself. */
export const countsAsCase = (run: CaseRun, impact: Impact): boolean =>
  isFelt(impact) && run.alone.every((alone) => isFelt(impactOf({ ...run, ...alone })));

export function impactOf(run: CaseRun): Impact {
  const { injectedNs, liftedNs, twin, raw } = run;
  if (twin === null || injectedNs === null || liftedNs === null) {
    return { stepChange: 0, stalled: false, silent: true, firstImpactNs: null };
  }
  let delayNs = 0;
  let firstNs = Infinity;
  for (const { name } of run.jobs) {
    const [ends, twinEnds] = [stepEnds(raw, name), stepEnds(twin, name)];
    for (const [step, twinEnd] of twinEnds.entries()) {
      if (twinEnd < injectedNs || twinEnd > liftedNs + AFTERMATH_NS) continue;
      const late = (ends.at(step) ?? raw.toNs) - twinEnd;
      delayNs = Math.max(delayNs, late);
      const startNs = step === 0 ? 0 : (ends.at(step - 1) ?? raw.toNs);
      const twinLength = twinEnd - (step === 0 ? 0 : twinEnds[step - 1]);
      if (late > LEAST_STEP_CHANGE * twinLength) firstNs = Math.min(firstNs, Math.max(injectedNs, startNs));
    }
  }
  return {
    stepChange: delayNs / (liftedNs - injectedNs),
    stalled: raw.series.some((series) => series.metric === 'edge_stalled_s' && rises(series, injectedNs)),
    silent: !raw.series.some((series) => moves(series, injectedNs)),
    firstImpactNs: firstNs === Infinity ? null : firstNs,
  };
}

/** Ends of steps, ns, by step; a step that had to be done again ends when it is done for the last time. */
function stepEnds({ series }: Evidence, job: string): number[] {
  const steps = series.find(({ metric, element }) => metric === 'job_steps' && element === jobId(job));
  const ends: number[] = [];
  if (steps === undefined) return ends;
  const { timesNs, values } = steps;
  for (let line = 0; line < timesNs.length; line++) {
    // the first line of a log says that no step has ended yet
    if (values[line] > 0) ends[values[line] - 1] = timesNs[line];
  }
  return ends;
}

const STATES = new Set([
  'device_reachable',
  'port_oper_status',
  'port_admin_status',
  'port_rate_gbps',
  'bfd_session_status',
]);
const ERRORS = new Set(['port_link_down_events', 'port_rx_errors', 'port_fec_uncorrected_codewords']);
/** By how much an alarm's threshold lies from the usual: dB, mA, kelvins. */
const SENSORS: Readonly<Record<string, number>> = {
  optic_rx_power_dbm: 1,
  optic_tx_power_dbm: 1,
  optic_bias_ma: 3,
  optic_temperature_c: 5,
};
const BIT_ERROR_DECADE = 10;
/** Above what healthy links show in the field (1e-12 to 7e-10, SONiC). */
const BIT_ERRORS_SEEN = 1e-8;

function moves(series: Series, injectedNs: number): boolean {
  const { metric } = series;
  if (STATES.has(metric)) return changes(series, injectedNs, (before, after) => before !== after);
  if (ERRORS.has(metric)) return rises(series, injectedNs);
  if (metric in SENSORS) {
    return changes(series, injectedNs, (before, after) => Math.abs(before - after) > SENSORS[metric]);
  }
  if (metric !== 'port_fec_pre_ber') return false;
  return changes(
    series,
    injectedNs,
    (before, after) => after > Math.max(BIT_ERROR_DECADE * before, BIT_ERRORS_SEEN),
  );
}

/** The last fresh value before an instant against each one after it. */
function changes(
  { timesNs, values, quality }: Series,
  atNs: number,
  differs: (before: number, after: number) => boolean,
): boolean {
  let before = NaN;
  for (let index = 0; index < timesNs.length; index++) {
    if (quality[index] !== QUALITY.fresh) continue;
    if (timesNs[index] <= atNs) before = values[index];
    else if (!Number.isNaN(before) && differs(before, values[index])) return true;
  }
  return false;
}

const rises = (series: Series, atNs: number): boolean =>
  changes(series, atNs, (before, after) => after > before);
