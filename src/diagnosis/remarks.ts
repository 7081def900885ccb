/**
 * What stands out and cost nothing: a culprit whose way no late job took, or whose evidence says that nothing was lost.
 *
 * It is told beside the answer and never blamed. Whether something cost nothing can only be said where the jobs told
 * their steps, and enough of them without it; where packets of a job were lost or held up on the way it is never said.
 */
import type { Attribution } from './attribution.js';
import { citations } from './citations.js';
import { toldLossNs } from './cost.js';
import type { Explanation } from './explanation.js';
import { edgeSeries } from './features/bytes/edges.js';
import type { JobLoss } from './features/jobs/job-loss.js';
import { familyOf } from './hypotheses/catalog.js';
import { waysOf } from './paths.js';
import type { Signature } from './likelihoods.js';
import { seconds } from './series/change.js';
import type { Context } from './series/context.js';
import { gainWithin } from './series/samples.js';
import type { Remark } from './verdict.js';
import { nameOf } from './wording.js';

/** Which of the culprits cost nothing, by their place. */
export function costless(
  context: Context,
  culprits: readonly Explanation[],
  losses: readonly JobLoss[],
  { affected }: Attribution,
): boolean[] {
  return culprits.map((culprit, index) => {
    if (losses.length === 0 || affected[index].length > 0) return false;
    const ways = waysOf(context, culprit);
    return losses.every((loss, job) => {
      const concerns = ways[job].crosses || ways[job].meets.length > 0;
      const isTold = loss.normalStepNs !== null;
      if (!concerns) return isTold;
      if (toldLossNs(context, culprit, loss) === 0) return isTold;
      return isTold && loss.isNormalProven && !wasFelt(culprit) && !stoodStill(context, culprit, loss);
    });
  });
}

export function remarkOf(context: Context, culprit: Explanation): Remark {
  const { kind, element, side, onsetNs, during } = culprit;
  return {
    kind,
    element,
    ...(side === 'unknown' ? {} : { side }),
    ...(onsetNs === null ? {} : { from_s: seconds(onsetNs) }),
    ...(during.toNs >= context.window.toNs ? {} : { to_s: seconds(during.toNs) }),
    text: `${nameOf(context, culprit)} ${familyOf(culprit).cause(context, culprit)}; no job lost time by it.`,
    evidence: citations(context, culprit, []),
  };
}

/** Packets were lost or held up by it: what that cost may be less than steps can tell, but it is not nothing. */
const FELT: readonly Signature[] = [
  'senders-retransmit',
  'codewords-lost',
  'receive-errors',
  'bytes-vanish',
  'bytes-missing-at-rest',
  'all-its-connections-stall',
  'nic-pauses',
  'pauses-short-queues',
  'discards-on-arrival',
  'overflows-unpaused',
];

const wasFelt = ({ findings }: Explanation): boolean =>
  findings.some(({ signature, outcome }) => outcome === 'present' && FELT.includes(signature));

/** A connection of the job stood still for longer than a step, which no computing can have hidden. */
function stoodStill(context: Context, { during }: Explanation, { job, normalStepNs }: JobLoss): boolean {
  return edgeSeries(context, 'edge_stalled_s').some(
    (edge) => edge.job === job && gainWithin(edge.series, during) * 1e9 > (normalStepNs ?? Infinity),
  );
}
