/**
 * A NIC with several ports that dies as a whole: all its links go down together, though they lead to different switches.
 *
 * Dual-ToR hosts survive the loss of a port, a cable or a leaf (HPN, SIGCOMM'24), so that what takes both ports at once
 * sits in the NIC or its slot. Told from cut cables by Occam and by simultaneity; from a dead host by the host, which
 * answers. Not modelled: a NIC with one port, whose death looks like a cut cable from outside.
 */
import { elementRef, nicId } from '../../core/elements.js';
import type { Nic } from '../../model/topology/model.js';
import type { Context, Interval } from '../series/context.js';
import type { LinkObservation } from '../features/links/link-observation.js';
import { countPresent } from '../explanation.js';
import { since, until } from '../wording.js';
import { outcome } from './hypothesis.js';
import type { Candidate, Finding, Unit } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';
import { againstDevices, linkSeries, linkSteps } from './link-account.js';
import { linkFindings } from './link-findings.js';

export const nicDown: Family = {
  hypotheses: ['link-down/host'],
  hypothesise,
  cause: (context, culprit) => `had all its ports down from ${since(culprit)} ${until(context, culprit)}`,
  reason: (_, culprit) =>
    `${countPresent(culprit, 'status-down')} links to different switches went down together, so look at the NIC and its slot rather than at the cables.`,
  series: (context, culprit) => linkSeries(context, culprit),
  steps: linkSteps,
  rivals: (context, observations, culprit) => [
    ...againstDevices(context, observations, culprit),
    ...culprit.links.map((link) => ({
      kind: 'link-down' as const,
      element: elementRef(context.topology.links[link].id),
      why: 'the other port of the NIC went down with it, over another cable and to another switch',
    })),
  ],
};

/** One cause takes all ports within this time; two cables are not cut so close together. */
const TOGETHER_NS = 1e9;

function hypothesise(context: Context, { links }: Observations): Candidate[] {
  return context.topology.nics.flatMap((nic) => {
    const own = nic.ports.map((port) => links[context.topology.ports[port].link]);
    const spans = own.map(longestDown);
    if (own.length < 2 || spans.some((span) => span === null)) return [];
    return [candidateOf(nic, own, spans as Interval[], context)];
  });
}

function candidateOf(
  nic: Nic,
  own: readonly LinkObservation[],
  spans: readonly Interval[],
  context: Context,
): Candidate {
  const starts = spans.map(({ fromNs }) => fromNs);
  const during = { fromNs: Math.min(...starts), toNs: Math.max(...spans.map(({ toNs }) => toNs)) };
  const timed = own.every(({ episodes }) => episodes.length > 0);
  const together = Math.max(...starts) - during.fromNs <= TOGETHER_NS;
  return {
    hypothesis: 'link-down/host',
    element: elementRef(nicId(nic.name)),
    direction: 'both',
    covers: own.map(({ link }): Unit => `link ${link.index}`),
    links: own.map(({ link }) => link.index),
    nic: nic.index,
    findings: [
      { signature: 'down-together', outcome: outcome(timed ? together : null) },
      ...own.flatMap((observation) =>
        linkFindings(context, observation).map((finding): Finding => ({
          ...finding,
          unit: `link ${observation.link.index}`,
        })),
      ),
    ],
    during,
    onsetNs: during.fromNs <= context.window.fromNs ? null : during.fromNs,
  };
}

/** Without a status the counters' polls bracket the time. */
function longestDown({ episodes, ends }: LinkObservation): Interval | null {
  const spans = episodes.length > 0 ? [...episodes] : ends.flatMap((end) => end.downEvents ?? []);
  return spans.sort((one, other) => other.toNs - other.fromNs - (one.toNs - one.fromNs))[0] ?? null;
}
