/**
 * A link that is down, once (`link-down`) or again and again (`link-flap`), by its cable or by configuration.
 *
 * Which of them it was is left to the table: every side is put forward with the same findings. A link whose port was
 * shut down before the window opened and never changed is out of service on purpose and no suspect.
 */
import { elementRef } from '../../core/elements.js';
import type { Context, Interval } from '../series/context.js';
import { observeAllLinks } from '../features/links/link-observation.js';
import type { LinkObservation } from '../features/links/link-observation.js';
import { carriesNothing } from '../features/links/idle-links.js';
import { stallOnsetNs } from '../features/links/stall.js';
import { outcomeOf } from '../explanation.js';
import type { Explanation } from '../explanation.js';
import { since, time, until, when } from '../wording.js';
import type { Candidate } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';
import { linkRivals, linkSeries, linkSteps } from './link-account.js';
import { linkFindings } from './link-findings.js';

/** A host's part in it is told by all links of a NIC together (nic-down.ts). */
const LINK_HYPOTHESES = [
  'link-down/cable',
  'link-down/configuration',
  'link-down/unknown',
  'link-flap/cable',
  'link-flap/configuration',
  'link-flap/unknown',
] as const;

export const linkDown: Family = {
  hypotheses: LINK_HYPOTHESES,
  hypothesise,
  cause: (context, culprit) =>
    culprit.kind === 'link-flap'
      ? `went down ${timesOver(context, culprit)} from ${since(culprit)} ${until(context, culprit)}`
      : `went down ${when(culprit)} and stayed down ${until(context, culprit)}`,
  reason: (_, culprit) => sideReason(culprit),
  series: (context, culprit) => linkSeries(context, culprit),
  steps: linkSteps,
  rivals: linkRivals,
};

/** How often it went down, and for how long in all. */
function timesOver(context: Context, culprit: Explanation): string {
  const { episodes } = context.once(observeAllLinks)[culprit.links[0]];
  const downNs = episodes.reduce((sum, { fromNs, toNs }) => sum + toNs - fromNs, 0);
  // those that nobody told the status of were counted only
  return episodes.length < 2
    ? 'and up again and again'
    : `${episodes.length} times, for ${time(downNs)} s in all,`;
}

/** Why this side: the observation that tells configuration, cable and the rest apart. */
function sideReason(culprit: Explanation): string {
  const light = outcomeOf(culprit, 'light-lost');
  if (culprit.side === 'configuration') {
    return `A port was shut down by configuration${light === 'absent' ? '; the light stayed healthy' : ''}.`;
  }
  // a port that nobody told the configuration of may have been shut down
  const isEnabled = outcomeOf(culprit, 'shut-down') === 'absent';
  if (culprit.side === 'cable' && !isEnabled) {
    return light === 'present'
      ? 'No light arrived, so look at the cable or its connectors; whether its ports were enabled was not told.'
      : 'Neither optics nor the configuration of its ports were read then, so the cable is only the likeliest place.';
  }
  if (culprit.side === 'cable') {
    return light === 'present'
      ? 'No light arrived while the ports stayed enabled, so look at the cable or its connectors, not at the configuration.'
      : 'The ports stayed enabled; no optic was read while the link was down, so the cable is only the likeliest place.';
  }
  if (!isEnabled) return 'Whether the cable, a port or the configuration is to blame is not shown.';
  return light === 'absent'
    ? 'The ports stayed enabled and light kept arriving, so neither the cable nor the configuration explains it.'
    : 'Whether the cable or a port is to blame is not shown.';
}

function hypothesise(context: Context, { links }: Observations): Candidate[] {
  return links.flatMap((observation) => {
    const during = suffering(context, observation);
    if (during === null || outOfService(context, observation)) return [];
    const findings = linkFindings(context, observation);
    const onsetNs = onsetOf(context, observation, during);
    return LINK_HYPOTHESES.map((hypothesis): Candidate => ({
      hypothesis,
      element: elementRef(observation.link.id),
      direction: 'both',
      covers: [`link ${observation.link.index}`],
      links: [observation.link.index],
      findings,
      during,
      onsetNs,
      ...(carriesNothing(context, observation, during) ? { harmless: true } : {}),
    }));
  });
}

/** From the first to the last sign that the link was down; null without any. */
function suffering(context: Context, { ends, episodes }: LinkObservation): Interval | null {
  const events = ends.flatMap((end) => end.downEvents ?? []);
  const signs = [...episodes, ...events];
  if (signs.length === 0) return null;
  return {
    fromNs: Math.max(context.window.fromNs, Math.min(...signs.map((sign) => sign.fromNs))),
    toNs: Math.max(...signs.map((sign) => sign.toNs)),
  };
}

function outOfService(context: Context, { ends }: LinkObservation): boolean {
  return ends.some((end) =>
    end.shutDown.some((span) => span.fromNs <= context.window.fromNs && span.toNs >= context.window.toNs),
  );
}

function onsetOf(context: Context, { ends, episodes }: LinkObservation, during: Interval): number | null {
  const starts = episodes.map((episode) => episode.fromNs);
  if (starts.length > 0) {
    const first = Math.min(...starts);
    return first <= context.window.fromNs ? null : first;
  }
  const bracket = ends.flatMap((end) => end.downEvents ?? [])[0] ?? during;
  return stallOnsetNs(context, bracket) ?? (bracket.fromNs + bracket.toNs) / 2;
}
