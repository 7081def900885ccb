/**
 * A switch that marks or pauses at other depths than its peers: settings out of line, `ecn-misconfig` and `pfc-misconfig`.
 *
 * Marks on queues that are short slow senders down for nothing; long queues without a mark leave congestion control blind,
 * so that pauses come instead. Pauses at short queues are a share of the buffer (alpha) that is too small; packets of a
 * lossless class that are dropped on arrival had no headroom, or no PFC at all (Guo et al., SIGCOMM 2016, 6.2). Peers that
 * carry the same without any of it are the control, and so is the switch itself at other times.
 * Not modelled: settings that are wrong everywhere and always were; a switch without congestion, which shows nothing.
 */
import { deviceId, elementRef, portId } from '../../core/elements.js';
import type { Series } from '../../model/telemetry/series.js';
import { number, seconds } from '../series/change.js';
import type { Context, Interval } from '../series/context.js';
import { allQueues, deepest, marked } from '../features/queues/queues.js';
import { observeSwitchSettings, pausedNeighbours } from '../features/queues/switch-settings.js';
import type { SwitchSettings } from '../features/queues/switch-settings.js';
import { dropsUnmarked } from '../features/queues/unmarked-drops.js';
import { outcomeOf } from '../explanation.js';
import type { Explanation } from '../explanation.js';
import type { Hypothesis } from '../likelihoods.js';
import type { ChainStep, RuledOut } from '../verdict.js';
import { since, until } from '../wording.js';
import { outcome } from './hypothesis.js';
import type { Candidate, Finding } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';

const ECN = 'ecn-misconfig/configuration';
const PFC = 'pfc-misconfig/configuration';

export const switchMisconfig: Family = {
  hypotheses: [ECN, PFC],
  hypothesise: (context) =>
    context
      .once(observeSwitchSettings)
      .flatMap((settings) => [
        ...candidate(context, settings, ECN, [
          settings.marksShallow,
          settings.deepUnmarked,
          unmarkedOverflows(context, settings),
        ]),
        ...candidate(context, settings, PFC, [settings.pausesShallow, settings.discards]),
      ]),
  cause: (context, culprit) => `${what(culprit)} from ${since(culprit)} ${until(context, culprit)}`,
  reason,
  series,
  steps,
  rivals,
};

/** Polls in which it dropped what it had not marked; null where it marked, or that is not known. */
const unmarkedOverflows = (context: Context, { device, overflows }: SwitchSettings): typeof overflows =>
  overflows !== null && overflows.length > 0 && dropsUnmarked(context, device) === true ? overflows : null;

type Signs = readonly (readonly Interval[] | null)[];

function candidate(
  context: Context,
  settings: SwitchSettings,
  hypothesis: Hypothesis,
  signs: Signs,
): Candidate[] {
  const polls = signs.flatMap((sign) => sign ?? []).sort((one, other) => one.fromNs - other.fromNs);
  if (polls.length === 0) return [];
  const [first] = polls;
  const onsetNs = first.fromNs <= context.window.fromNs ? null : (first.fromNs + first.toNs) / 2;
  return [
    {
      hypothesis,
      element: elementRef(deviceId(context.deviceName(settings.device))),
      direction: 'both',
      covers: [`setting ${settings.device}`],
      links: context.topology.devices[settings.device].ports.map((port) => context.topology.ports[port].link),
      device: settings.device,
      findings: settingFindings(context, settings),
      during: { fromNs: onsetNs ?? first.fromNs, toNs: Math.max(...polls.map(({ toNs }) => toNs)) },
      onsetNs,
    },
  ];
}

/** Polls of queues out of line that are no burst. */
const LONG_POLLS = 5;

function settingFindings(context: Context, settings: SwitchSettings): Finding[] {
  const bare = unmarkedOverflows(context, settings);
  const drops = settings.overflows?.length ? dropsUnmarked(context, settings.device) : null;
  const amiss = [settings.marksShallow, settings.deepUnmarked, bare].reduce(
    (sum, polls) => sum + (polls?.length ?? 0),
    0,
  );
  const seen = (polls: readonly Interval[] | null) => outcome(polls === null ? null : polls.length > 0);
  return [
    { signature: 'marks-short-queues', outcome: seen(settings.marksShallow) },
    { signature: 'long-queues-unmarked', outcome: seen(settings.deepUnmarked) },
    { signature: 'marks-amiss-for-long', outcome: outcome(amiss === 0 ? null : amiss >= LONG_POLLS) },
    { signature: 'pauses-short-queues', outcome: seen(settings.pausesShallow) },
    { signature: 'discards-on-arrival', outcome: seen(settings.discards) },
    // a switch that drops nothing may as well be one that had no need to pause
    { signature: 'overflows-unpaused', outcome: outcome(settings.overflows?.length ? true : null) },
    { signature: 'drops-unmarked', outcome: outcome(drops) },
  ];
}

function what(culprit: Explanation): string {
  const shows = (signature: Finding['signature']): boolean => outcomeOf(culprit, signature) === 'present';
  if (culprit.kind === 'ecn-misconfig') {
    return shows('marks-short-queues')
      ? 'marked packets although its queues were short'
      : 'let its queues grow and hardly marked a packet';
  }
  return shows('discards-on-arrival')
    ? 'dropped packets of a lossless class for want of buffer'
    : 'paused its neighbours although its queues were short';
}

function reason(context: Context, culprit: Explanation): string {
  const settings = settingsOf(context, culprit);
  const usual =
    settings?.usualBytes == null
      ? ''
      : ` Other queues of the fabric mark at about ${number(settings.usualBytes / 1e6)} MB.`;
  if (culprit.kind === 'ecn-misconfig')
    return `${usual.trim()} Compare its marking thresholds (Kmin, Kmax) with those of its peers.`.trim();
  const look =
    outcomeOf(culprit, 'discards-on-arrival') === 'present'
      ? 'Its peers pause in time and drop nothing: compare PFC, headroom and buffer with theirs.'
      : 'Compare its share of the buffer (alpha) with that of its peers.';
  return `${look}${usual}`;
}

const settingsOf = (context: Context, culprit: Explanation): SwitchSettings | undefined =>
  context.once(observeSwitchSettings).find(({ device }) => device === culprit.device);

/** Ports of the switch, those with the deepest queues first. */
function deepestPorts(context: Context, culprit: Explanation): number[] {
  const depth = (port: number): number => deepest(context, port, culprit.during) ?? 0;
  return [...context.topology.devices[culprit.device ?? 0].ports]
    .sort((one, other) => depth(other) - depth(one) || one - other)
    .slice(0, MOST_PORTS);
}

const MOST_PORTS = 3;

function series(context: Context, culprit: Explanation): (Series | undefined)[] {
  const device = culprit.device ?? 0;
  return [
    ...deepestPorts(context, culprit).flatMap((port) => [
      ...allQueues(context, 'queue_ecn_marked_packets', port),
      ...allQueues(context, 'queue_depth_max_bytes', port),
    ]),
    ...context.topology.devices[device].ports.flatMap((port) => [
      context.readPort('port_rx_discards', port),
      context.readPort('port_pause_tx_s', port),
      context.readPort('port_pause_tx_frames', port),
    ]),
    context.readDevice('device_buffer_used_max_bytes', device),
  ];
}

function steps(context: Context, culprit: Explanation): ChainStep[] {
  const onset_s = seconds(culprit.during.fromNs);
  const paused = pausedNeighbours(context, culprit.device ?? 0, culprit.during)
    .slice(0, MOST_PORTS)
    .map((port) => ({
      element: elementRef(portId(context.portName(port))),
      claim: `was paused by ${context.deviceName(culprit.device ?? 0)}`,
      onset_s,
    }));
  const queues = deepestPorts(context, culprit).map((port) => {
    const depth = number((deepest(context, port, culprit.during) ?? 0) / 1e6);
    const marks = number(marked(context, port, culprit.during) ?? 0);
    return {
      element: elementRef(portId(context.portName(port))),
      claim: `its queue held up to ${depth} MB and marked ${marks} packets`,
      onset_s,
    };
  });
  return [...paused, ...queues];
}

/** The other setting, where the findings speak against it. */
function rivals(context: Context, _: Observations, culprit: Explanation): RuledOut[] {
  const shows = (signature: Finding['signature']): boolean => outcomeOf(culprit, signature) === 'present';
  if (culprit.kind === 'pfc-misconfig' && outcomeOf(culprit, 'long-queues-unmarked') === 'absent') {
    return [
      { kind: 'ecn-misconfig', element: culprit.element, why: 'no queue of it grew long without marks' },
    ];
  }
  if (culprit.kind === 'ecn-misconfig' && !shows('discards-on-arrival')) {
    return [{ kind: 'pfc-misconfig', element: culprit.element, why: 'it dropped nothing on arrival' }];
  }
  return [];
}
