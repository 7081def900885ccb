/**
 * A direction of a link that damages what it carries: dirty connector, dying laser, bad electrical half.
 *
 * Errors are steady and blind to load, and counted where they arrive (CorrOpt, SIGCOMM'17); congestion drops at an egress
 * queue and damages nothing. The side follows the light: lost on the way is the cable, a weak laser or light that never
 * changed is the device that sends. In the end the link flaps, so that flaps with errors before them are errors.
 * Not modelled: the electrical half of the receiving port, which looks like that of the sender.
 */
import { elementName, elementRef, portId } from '../../core/elements.js';
import type { MetricName } from '../../model/telemetry/catalog.js';
import type { Direction } from '../../model/telemetry/vocabulary.js';
import { number, seconds } from '../series/change.js';
import { overlaps } from '../series/context.js';
import type { Context, Interval } from '../series/context.js';
import type { LinkObservation } from '../features/links/link-observation.js';
import { observeSignals } from '../features/links/signal.js';
import type { SignalObservation } from '../features/links/signal.js';
import { countPresent, outcomeOf } from '../explanation.js';
import type { Explanation } from '../explanation.js';
import type { Hypothesis, Signature } from '../likelihoods.js';
import type { ChainStep } from '../verdict.js';
import { since, until } from '../wording.js';
import type { Candidate, Finding } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';
import { linkRivals, linkSeries, linkSteps } from './link-account.js';
import { dimOutage, linkFindings } from './link-findings.js';

export const opticError: Family = {
  hypotheses: ['optic-error/cable', 'optic-error/host', 'optic-error/switch', 'optic-error/unknown'],
  hypothesise,
  cause: (context, culprit) => {
    const worst = Math.max(
      ...errors(context, culprit)
        .map(({ signal }) => signal.odd?.worstBer ?? signal.worstBer)
        .filter(Number.isFinite),
    );
    const ratio = Number.isFinite(worst)
      ? ` (up to ${worst.toExponential(1)} wrong bits before correction)`
      : '';
    if (culprit.harmless === true) {
      const than = culprit.onsetNs === null ? 'other ports do' : 'before';
      return `corrected far more bits of what ${elementName(culprit.direction)} sent than ${than}${ratio} from ${since(culprit)} ${until(context, culprit)}`;
    }
    const what =
      culprit.direction === 'both'
        ? 'damaged what it carried'
        : `damaged what ${elementName(culprit.direction)} sent`;
    return `${what}${ratio} from ${since(culprit)} ${until(context, culprit)}`;
  },
  reason: (_, culprit) => lightReason(culprit),
  series: (context, culprit) => linkSeries(context, culprit, PORT_METRICS),
  steps,
  rivals: linkRivals,
};

const PORT_METRICS: readonly MetricName[] = [
  'port_fec_pre_ber',
  'port_fec_uncorrected_codewords',
  'port_fec_corrected_codewords',
  'port_fec_symbol_errors',
  'port_rx_errors',
  'optic_rx_power_dbm',
  'optic_tx_power_dbm',
  'optic_bias_ma',
  'optic_temperature_c',
  'port_oper_status',
  'port_link_down_events',
];

function hypothesise(context: Context, { links }: Observations): Candidate[] {
  const signals = context.once(observeSignals);
  return links.flatMap((observation) => {
    // What the first end sends arrives at the second.
    const [there, back] = ([0, 1] as const).map((sender) => {
      const signal = signals[observation.ends[1 - sender].port];
      return signal.during === null
        ? dimmed(context, observation, sender)
        : withOutages(observation, signal, signal.during);
    });
    return [
      ...directed(context, observation, 0, there),
      ...directed(context, observation, 1, back),
      ...([0, 1] as const).flatMap((sender) => odd(context, observation, sender)),
      ...(there.during !== null && back.during !== null && overlaps(there.during, back.during)
        ? bothWays(context, observation, there, back)
        : []),
    ];
  });
}

type Signs = Pick<SignalObservation, 'during' | 'onsetNs'>;

/** Errors that take the link down are counted no more: an outage that begins amid them is their work as well. */
function withOutages({ episodes }: LinkObservation, { onsetNs }: Signs, first: Interval): Signs {
  const during = { ...first };
  for (const episode of episodes) {
    if (overlaps(episode, during)) during.toNs = Math.max(during.toNs, episode.toNs);
  }
  const downNs = episodes.find(({ fromNs }) => fromNs >= during.fromNs)?.fromNs ?? Infinity;
  // a poll may tell of errors only after they have taken the link down
  const isLate = onsetNs !== null && downNs < onsetNs;
  return { during, onsetNs: isLate ? (during.fromNs + downNs) / 2 : onsetNs };
}

/** A link that fails before its errors are polled leaves its light as the only sign. */
function dimmed(context: Context, observation: LinkObservation, sender: 0 | 1): Signs {
  const during = dimOutage(context, observation, sender);
  const isOld = during === null || during.fromNs <= context.window.fromNs;
  return { during, onsetNs: isOld ? null : during.fromNs };
}

function directed(
  context: Context,
  observation: LinkObservation,
  sender: 0 | 1,
  { during, onsetNs }: Signs,
): Candidate[] {
  if (during === null) return [];
  const { devices, ports } = context.topology;
  const { role } = devices[ports[observation.ends[sender].port].device];
  const hypotheses: Hypothesis[] = ['optic-error/cable', `optic-error/${role}`];
  return hypotheses.map((hypothesis): Candidate => ({
    ...onLink(observation, hypothesis),
    direction: portId(context.portName(observation.ends[sender].port)) as Direction,
    findings: linkFindings(context, observation, sender),
    during,
    onsetNs,
  }));
}

/** More bits to correct than ever before, and all of them corrected. */
function odd(context: Context, observation: LinkObservation, sender: 0 | 1): Candidate[] {
  const during = context.once(observeSignals)[observation.ends[1 - sender].port].odd;
  if (during === null) return [];
  const onsetNs = during.fromNs <= context.window.fromNs ? null : during.fromNs;
  return directed(context, observation, sender, { during, onsetNs }).map((candidate): Candidate => ({
    ...candidate,
    harmless: true,
    findings: [
      { signature: 'errors-received', outcome: 'present' },
      ...candidate.findings.filter(({ signature }) => LIGHT.has(signature)),
    ],
  }));
}

const LIGHT = new Set<Signature>(['light-lost-on-the-way', 'laser-weak']);

const BACK = '-back';

/** Errors both ways: what speaks against a single direction speaks for both. */
function bothWays(context: Context, observation: LinkObservation, there: Signs, back: Signs): Candidate[] {
  const spans = [there.during, back.during].flatMap((during) => during ?? []);
  const during = {
    fromNs: Math.min(...spans.map(({ fromNs }) => fromNs)),
    toNs: Math.max(...spans.map(({ toNs }) => toNs)),
  };
  const onsets = [there.onsetNs, back.onsetNs].flatMap((onsetNs) => onsetNs ?? []);
  const findings = linkFindings(context, observation, 0).map((finding): Finding => {
    const { signature } = finding;
    return signature === `errors-received${BACK}` ? { ...finding, signature: 'errors-received' } : finding;
  });
  return (['optic-error/cable', 'optic-error/unknown'] as const).map((hypothesis): Candidate => ({
    ...onLink(observation, hypothesis),
    direction: 'both',
    findings,
    during,
    onsetNs: onsets.length < 2 ? null : Math.min(...onsets),
  }));
}

const onLink = ({ link }: LinkObservation, hypothesis: Hypothesis) => ({
  hypothesis,
  element: elementRef(link.id),
  covers: [`link ${link.index}`] as const,
  links: [link.index],
});

function lightReason(culprit: Explanation): string {
  if (outcomeOf(culprit, 'light-lost-on-the-way') === 'present') {
    return 'Less light arrived while as much was launched, so clean or replace the cable and its connectors.';
  }
  if (outcomeOf(culprit, 'laser-weak') === 'present') {
    return 'The sender launched less light, so replace the module there.';
  }
  const steady = outcomeOf(culprit, 'light-lost-on-the-way') === 'absent';
  return steady
    ? 'The light never changed, so look at the electrical side of the sending port.'
    : 'No optic was read in that time, so whether the cable or a module is to blame is not shown.';
}

interface Erring {
  port: number;
  signal: SignalObservation;
}

/** Ports of the link where errors arrived. */
const errors = (context: Context, { links }: Explanation): Erring[] =>
  context
    .endsOf(context.topology.links[links[0]])
    .map((port) => ({ port, signal: context.once(observeSignals)[port] }))
    .filter(({ signal }) => signal.during !== null || signal.odd !== null);

function steps(context: Context, culprit: Explanation): ChainStep[] {
  const damage = errors(context, culprit).map(({ port, signal }): ChainStep => {
    const lost =
      signal.damage.port_fec_uncorrected_codewords === true || signal.damage.port_rx_errors === true;
    const claim = lost
      ? `received frames that could not be corrected`
      : `corrected far more bits than other ports (${number(signal.worstBer)})`;
    return {
      element: elementRef(portId(context.portName(port))),
      claim,
      onset_s: signal.onsetNs === null ? null : seconds(signal.onsetNs),
    };
  });
  const flapped = countPresent(culprit, 'status-down') > 0;
  return flapped ? [...linkSteps(context, culprit), ...damage] : damage;
}
