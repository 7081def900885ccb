/**
 * The verdict in plain words: one paragraph that a network engineer can act on.
 */
import { elementName } from '../core/elements.js';
import type { Attribution } from './attribution.js';
import type { Coverage } from './coverage.js';
import type { Context } from './series/context.js';
import type { JobLoss } from './features/jobs/job-loss.js';
import type { Restart } from './features/jobs/restarts.js';
import type { LossSign } from './features/links/loss-signs.js';
import type { Explanation } from './explanation.js';
import { familyOf } from './hypotheses/catalog.js';
import { THRESHOLDS } from './likelihoods.js';
import type { RuledOut } from './verdict.js';
import { listed, nameOf, percent, time } from './wording.js';

function jobsClause(
  affected: readonly JobLoss[],
  share: number | null,
  { jobs }: Context,
  { lossRatio, isPaceUnproven }: Attribution,
): string {
  if (affected.length === 0) {
    if (jobs.length > 0 && lossRatio === null)
      return ' What it cost the jobs is not known: none told its steps.';
    return isPaceUnproven
      ? ' What it cost the jobs is not known: too few of their steps were without it.'
      : ' No job lost time by it.';
  }
  const parts = affected.map(({ job, lostNs, diedNs, restarts }) =>
    diedNs === null
      ? `${job.name} (${time(lostNs)} s lost${restarts.map(restartClause).join('')})`
      : `${job.name} (died at ${time(diedNs)} s)`,
  );
  const explained = share === null ? '' : `; this explains ${percent(share)} of the GPU time lost`;
  return ` It slowed ${listed(parts)}${explained}.`;
}

function restartClause({ stopped, resumed, redoneSteps }: Restart): string {
  if (!resumed) return `, without processes since ${time(stopped.fromNs)} s`;
  const again = redoneSteps === 0 ? '' : ` with ${redoneSteps} steps to do again`;
  return `, restarted at ${time(stopped.toNs)} s${again}`;
}

/** So many culprits are told with reasons; the chain and the list of what was ruled out hold those of all. */
const MOST_REASONS = 2;

export function answerFound(
  context: Context,
  culprits: readonly Explanation[],
  attribution: Attribution,
  out: readonly RuledOut[],
): string {
  const several = culprits.length > 1;
  const sentences = culprits.map((culprit, index) => {
    const family = familyOf(culprit);
    const reason = index < MOST_REASONS ? family.reason(context, culprit) : '';
    const sure = culprit.probability < 0.9 ? ` (probability ${percent(culprit.probability)})` : '';
    const jobs = jobsClause(attribution.affected[index], attribution.shares[index], context, attribution);
    const number = several ? `(${index + 1}) ` : '';
    return `${number}${nameOf(context, culprit)} ${family.cause(context, culprit)}${sure}.${reason === '' ? '' : ` ${reason}`}${jobs}`;
  });
  if (several) return `${culprits.length} things went wrong. ${sentences.join(' ')}`;
  const device = out.find(({ kind }) => kind === 'node-down');
  const notDevice =
    device === undefined ? '' : ` It is not ${elementName(device.element.id)} itself: ${device.why}.`;
  return `${sentences[0]}${notDevice}`;
}

/** @param odd how many things stood out and cost nothing */
export function answerNone(context: Context, coverage: Coverage, odd: number): string {
  const { links } = context.topology;
  const watched =
    `${percent(coverage.links)} of the ${links.length} links were watched from end to end between ` +
    `${time(context.window.fromNs)} s and ${time(context.window.toNs)} s`;
  return odd === 0
    ? `No fault found. ${watched}; their ports stayed up and no bytes went missing on them.`
    : `No fault found that cost a job anything. ${watched}; what stood out there is told as odd.`;
}

function signClause(sign: LossSign): string {
  if (sign.type === 'counter') {
    return `NIC ${sign.element} counted ${sign.gain} ${sign.what} between ${time(sign.fromNs)} s and ${time(sign.toNs)} s`;
  }
  if (sign.type === 'stall') {
    return `connection ${sign.element} stood still for ${time(sign.stalledNs)} s before ${time(sign.toNs)} s`;
  }
  return `a step of ${sign.element} took ${stepTime(sign.tookS)} s instead of ${stepTime(sign.usualS)} s, ending at ${time(sign.toNs)} s`;
}

/** Steps may be much shorter than a hundredth of a second. */
const stepTime = (durationS: number): string => String(Number(durationS.toPrecision(3)));

/** Why nothing can be said. */
export function answerUnknown(
  context: Context,
  coverage: Coverage,
  attribution: Attribution,
  suspects: readonly Explanation[],
  signs: readonly LossSign[],
): string {
  const { links } = context.topology;
  const reasons: string[] = [];
  if (coverage.links < THRESHOLDS.coverage) {
    const mute =
      coverage.mute.length === 0 ? '' : `; nothing came from ${listed(coverage.mute.map(elementName))}`;
    reasons.push(`the state of ${coverage.unknownLinks.length} of ${links.length} links is not known${mute}`);
  }
  if (!coverage.jobs) reasons.push('no job reported its steps');
  if ((attribution.lossRatio ?? 0) > THRESHOLDS.unexplainedLoss) {
    reasons.push(
      `${percent(attribution.lossRatio ?? 0)} of the GPU time was lost, but nothing in the network accounts for it`,
    );
  }
  if (signs.length > 0) {
    reasons.push(
      `something seems to have been lost and no element can be blamed: ${signs.map(signClause).join(', ')}`,
    );
  }
  const suspect = suspects[0];
  const hint =
    suspect === undefined
      ? ''
      : ` The nearest suspect is ${suspect.kind} at ${elementName(suspect.element.id)}, with a probability of ${percent(suspect.probability)} only.`;
  return `It can't be told whether there was a fault: ${reasons.length === 0 ? 'the signs contradict each other' : reasons.join('; ')}.${hint}`;
}
