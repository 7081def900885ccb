/**
 * A link that is down, once (`link-down`) or again and again (`link-flap`), by its cable or by configuration.
 *
 * Which of them it was is left to the table: every side is put forward with the same findings. A link whose port was
 * shut down before the window opened and never changed is out of service on purpose and no suspect.
 */
import { elementRef } from '../../kernel/elements.js';
import { HYPOTHESES, kindOf } from '../likelihoods.js';
import type { Context, Interval } from '../features/context.js';
import type { LinkObservation } from '../features/link-observation.js';
import { stallOnsetNs } from '../features/stall.js';
import type { Candidate, Observations } from './hypothesis.js';
import { linkFindings } from './link-findings.js';

const LINK_HYPOTHESES = HYPOTHESES.filter((hypothesis) =>
  ['link-down', 'link-flap'].includes(kindOf(hypothesis)),
);

export function hypothesiseLinkDown(context: Context, { links }: Observations): Candidate[] {
  return links.flatMap((observation) => {
    const during = suffering(context, observation);
    if (during === null || outOfService(context, observation)) return [];
    const findings = linkFindings(context, observation);
    const onsetNs = onsetOf(context, observation, during);
    return LINK_HYPOTHESES.map((hypothesis): Candidate => ({
      hypothesis,
      element: elementRef(observation.link.id),
      direction: 'both',
      links: [observation.link.index],
      findings,
      during,
      onsetNs,
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
