/**
 * What a culprit cost by its own evidence, whatever the jobs lost: attribution keeps to it.
 *
 * Bits that were corrected cost nothing. A GPU that computes a hundredth longer costs a hundredth of each step; a NIC
 * that pauses its switch for a second, or waits for its host, holds a job up for as long. What can't be bounded by what
 * was read (a dead link, a loss) is bounded by nothing.
 */
import { observeCompute } from './features/jobs/compute.js';
import type { JobLoss } from './features/jobs/job-loss.js';
import type { Explanation } from './explanation.js';
import type { Context } from './series/context.js';
import { observeAllLinks } from './features/links/link-observation.js';
import { overlaps } from './series/context.js';
import { freshCount, gainWithin, samplesWithin } from './series/samples.js';

/** Evidence and loss are told in steps and polls: a loss up to three times as large may still be its own. */
const COST_FACTOR = 3;

/** What of a loss a culprit may be blamed for: all, or no more than its evidence tells where that is far from all. */
export const ownLossNs = (lostNs: number, toldNs: number): number =>
  lostNs > COST_FACTOR * toldNs ? toldNs : lostNs;

/** What a job lost by a culprit, as its own evidence tells, ns; Infinity where that sets no bound. */
export function toldLossNs(context: Context, culprit: Explanation, loss: JobLoss): number {
  switch (culprit.kind) {
    case 'optic-error':
      return damagesFrames(context, culprit) ? Infinity : 0;
    case 'straggler':
      return slowComputing(context, culprit, loss);
    case 'slow-receiver':
    case 'pause-storm':
      return pausedNs(context, culprit);
    default:
      return Infinity;
  }
}

/** By how much the slowest rank of the job on the host exceeds its peers, over all that time. */
function slowComputing(context: Context, { device, during }: Explanation, { job }: JobLoss): number {
  const slow = context
    .once(observeCompute)
    .filter(({ host }) => host === device)
    .flatMap((one) => one.slow)
    .filter((one) => one.job === job);
  if (slow.length === 0) return 0;
  const ratio = Math.max(...slow.map((one) => one.ratio));
  return (ratio - 1) * (during.toNs - during.fromNs);
}

/** How long its NIC kept the switch from sending, or waited for its host; no bound where neither was read. */
function pausedNs(context: Context, { nic, during }: Explanation): number {
  if (nic === undefined) return Infinity;
  const pauses = context.topology.nics[nic].ports.map((port) => context.readPort('port_pause_tx_s', port));
  const stalls = samplesWithin(context.readNic('nic_pcie_write_stalled_ratio', nic), during);
  if (pauses.every((series) => series === undefined) && stalls.length === 0) return Infinity;
  const pausedS = pauses.reduce((sum, series) => sum + gainWithin(series, during), 0);
  const stalled = stalls.reduce((sum, { value }) => sum + value, 0) / Math.max(1, stalls.length);
  return Math.max(pausedS * 1e9, stalled * (during.toNs - during.fromNs));
}

const DAMAGE = ['port_fec_uncorrected_codewords', 'port_rx_errors'] as const;

/** Whether frames were lost, or the link with them, while bits erred; what nobody counted may have been lost. */
function damagesFrames(context: Context, { links, during }: Explanation): boolean {
  const { topology } = context;
  return links.some((link) => {
    const wentDown = context.once(observeAllLinks)[link].episodes.some((span) => overlaps(span, during));
    const counters = context
      .endsOf(topology.links[link])
      .flatMap((port) => DAMAGE.map((metric) => context.readPort(metric, port)));
    const isCounted = counters.every((series) => freshCount(series) > 1);
    return wentDown || !isCounted || counters.some((series) => gainWithin(series, during) > 0);
  });
}
