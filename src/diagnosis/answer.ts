/**
 * The verdict in plain words: one paragraph that a network engineer can act on.
 */
import { elementName } from '../kernel/elements.js';
import type { Attribution } from './attribution.js';
import type { Coverage } from './coverage.js';
import { seconds } from './features/change.js';
import type { Context } from './features/context.js';
import type { JobLoss } from './features/job-loss.js';
import type { Explanation } from './rank.js';
import { outcomeOf } from './ruled-out.js';
import type { RuledOut } from './verdict.js';
import { THRESHOLDS } from './likelihoods.js';

/** `at 20.01 s`, or that it was there before. */
const when = ({ onsetNs }: Explanation): string =>
  onsetNs === null ? 'before the window opened' : `at ${time(onsetNs)} s`;

const time = (ns: number): string => String(Math.round(seconds(ns) * 100) / 100);

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** What happened to the element, as a clause: `went down at 20 s and stayed down until 40 s`. */
export function causeOf(context: Context, culprit: Explanation): string {
  const healed = culprit.during.toNs < context.window.toNs;
  const until = healed ? `until ${time(culprit.during.toNs)} s` : 'to the end of the window';
  switch (culprit.kind) {
    case 'link-flap':
      return `went down and up again and again from ${startOf(culprit)} ${until}`;
    case 'one-way-loss':
      return culprit.direction === 'both'
        ? `lost traffic ${when(culprit)} while both ends said "up"; which direction can't be told`
        : `lost what ${elementName(culprit.direction)} sent ${when(culprit)} while both ends said "up"`;
    case 'node-down':
      return `stopped working ${when(culprit)}, ${until}`;
    default:
      return `went down ${when(culprit)} and stayed down ${until}`;
  }
}

const startOf = (culprit: Explanation): string =>
  culprit.onsetNs === null ? 'before the window opened' : `${time(culprit.onsetNs)} s`;

/** Why this side: the observation that tells configuration, cable and the rest apart. */
function sideReason(culprit: Explanation): string {
  const light = outcomeOf(culprit, 'light-lost');
  if (culprit.kind === 'one-way-loss') {
    const missing = (['bytes-vanish', 'bytes-missing-at-rest'] as const).some(
      (signature) => outcomeOf(culprit, signature) === 'present',
    );
    return missing
      ? ' Bytes counted out at one end were never counted in at the other.'
      : ' The liveness session failed, but no lost bytes were counted.';
  }
  if (culprit.kind === 'node-down') {
    const down = culprit.findings.filter(
      ({ signature, outcome }) => signature === 'status-down' && outcome === 'present',
    ).length;
    const silent =
      outcomeOf(culprit, 'device-silent') === 'present' ? 'It left its polls unanswered and ' : '';
    return ` ${silent}${down} of its ${culprit.links.length} neighbouring ports went down.`;
  }
  if (culprit.side === 'configuration') {
    return ` A port was shut down by configuration${light === 'absent' ? '; the light stayed healthy' : ''}.`;
  }
  if (culprit.side === 'cable') {
    return light === 'present'
      ? ' No light arrived while the ports stayed enabled, so look at the cable or its connectors, not at the configuration.'
      : ' The ports stayed enabled; no optic was read while the link was down, so the cable is only the likeliest place.';
  }
  return light === 'absent'
    ? ' The ports stayed enabled and light kept arriving, so neither the cable nor the configuration explains it.'
    : ' Whether the cable or a port is to blame is not shown.';
}

function jobsClause(affected: readonly JobLoss[], share: number | null): string {
  if (affected.length === 0) return ' No job lost time by it.';
  const parts = affected.map(({ job, lostNs, diedNs }) =>
    diedNs === null ? `${job.name} (${time(lostNs)} s lost)` : `${job.name} (died at ${time(diedNs)} s)`,
  );
  const explained = share === null ? '' : `; this explains ${percent(share)} of the GPU time lost`;
  return ` It slowed ${parts.join(', ')}${explained}.`;
}

export function answerFound(
  context: Context,
  culprits: readonly Explanation[],
  attribution: Attribution,
  out: readonly RuledOut[],
): string {
  const sentences = culprits.map((culprit, index) => {
    const name = `${culprit.element.type === 'device' ? 'Device' : 'Link'} ${elementName(culprit.element.id)}`;
    const sure = culprit.probability < 0.9 ? ` (probability ${percent(culprit.probability)})` : '';
    const jobs = jobsClause(attribution.affected[index], attribution.shares[index]);
    return `${name} ${causeOf(context, culprit)}${sure}.${sideReason(culprit)}${jobs}`;
  });
  const device = out.find(({ kind }) => kind === 'node-down');
  const notDevice =
    device === undefined ? '' : ` It is not ${elementName(device.element.id)} itself: ${device.why}.`;
  return `${sentences.join(' ')}${notDevice}`;
}

export function answerNone(context: Context, coverage: Coverage): string {
  const { links } = context.topology;
  return (
    `No fault found. ${percent(coverage.links)} of the ${links.length} links were watched from end to end between ` +
    `${time(context.window.fromNs)} s and ${time(context.window.toNs)} s; their ports stayed up and no bytes went missing on them.`
  );
}

/** Why nothing can be said. */
export function answerUnknown(
  context: Context,
  coverage: Coverage,
  attribution: Attribution,
  suspects: readonly Explanation[],
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
  const suspect = suspects[0];
  const hint =
    suspect === undefined
      ? ''
      : ` The nearest suspect is ${suspect.kind} at ${elementName(suspect.element.id)}, with a probability of ${percent(suspect.probability)} only.`;
  return `It can't be told whether there was a fault: ${reasons.length === 0 ? 'the signs contradict each other' : reasons.join('; ')}.${hint}`;
}

function listed(names: readonly string[], most = 4): string {
  return names.length <= most
    ? names.join(', ')
    : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}
