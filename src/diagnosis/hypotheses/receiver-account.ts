/**
 * What the causes at a receiving NIC have in common: the findings they are judged by, and how they are told.
 *
 * A slow slot, a slow receiver and a pause storm all hold the switch port that feeds the NIC, and differ in what the NIC
 * waits for. Rivals are judged by the same findings.
 */
import { elementRef, nicId, portId } from '../../core/elements.js';
import { peerPort } from '../../model/topology/model.js';
import type { Nic } from '../../model/topology/model.js';
import type { Series } from '../../model/telemetry/series.js';
import { number, seconds } from '../series/change.js';
import type { Context, Interval } from '../series/context.js';
import { STALL_METRICS, movedBytes, observeHostSides, pausesItsSwitch } from '../features/jobs/host-side.js';
import { observeNicPauses, pausedWithin, pausesSent } from '../features/queues/nic-pause.js';
import type { NicPause } from '../features/queues/nic-pause.js';
import { allQueues } from '../features/queues/queues.js';
import { spreadFrom } from '../features/queues/pause-spread.js';
import { overlaps } from '../series/context.js';
import type { Explanation } from '../explanation.js';
import type { ChainStep, RuledOut } from '../verdict.js';
import { outcome } from './hypothesis.js';
import type { Candidate, Finding } from '../candidate.js';
import type { Observations } from './hypothesis.js';
import type { Hypothesis } from '../likelihoods.js';

/** All that a NIC shows of its receiving side in a stretch; an idle one is not asked. */
export function hostSideFindings(context: Context, nic: Nic, during: Interval): Finding[] {
  const side = context.once(observeHostSides)[nic.index];
  const pause = pauseAt(context, nic.index);
  const paused = pausedWithin(pause, during);
  const idle = side.during === null && !paused && movedBytes(context, nic, during) !== true;
  const seen = (stalls: readonly Interval[] | null): boolean | null =>
    idle || stalls === null ? null : stalls.some((stall) => overlaps(stall, during));
  const [read, write] = STALL_METRICS.map((metric) => side.stalled[metric]);
  return [
    { signature: 'pcie-read-stalled', outcome: outcome(seen(read)) },
    { signature: 'pcie-write-stalled', outcome: outcome(seen(write)) },
    { signature: 'nic-pauses', outcome: outcome(idle ? null : pausesItsSwitch(context, nic, during)) },
    {
      signature: 'pauses-while-host-keeps-up',
      outcome: outcome(pause === undefined || !paused ? null : pause.hostKeepsUp),
    },
    {
      signature: 'pauses-full-stop',
      outcome: outcome(pause === undefined || !paused ? null : pause.fullStop),
    },
    { signature: 'watchdog-acted', outcome: outcome(pause?.watchdogActed ?? null) },
  ];
}

/** A cause at a NIC's receiving side, but for when it began. */
export function receiverAt(
  context: Context,
  nic: Nic,
  hypothesis: Hypothesis,
  during: Interval,
): Omit<Candidate, 'onsetNs'> {
  return {
    hypothesis,
    element: elementRef(nicId(nic.name)),
    direction: 'both',
    covers: [`host-side ${nic.index}`],
    links: nic.ports.map((port) => context.topology.ports[port].link),
    nic: nic.index,
    findings: hostSideFindings(context, nic, during),
    during,
  };
}

const pauseAt = (context: Context, nic: number): NicPause | undefined =>
  context.once(observeNicPauses).find((pause) => pause.nic.index === nic);

export const pauseOf = (context: Context, culprit: Explanation): NicPause | undefined =>
  culprit.nic === undefined ? undefined : pauseAt(context, culprit.nic);

/** Switch ports that feed the culprit's NIC. */
function feedingPorts(context: Context, { nic }: Explanation): number[] {
  const { topology } = context;
  return nic === undefined ? [] : topology.nics[nic].ports.map((port) => peerPort(topology, port));
}

const QUEUE_METRICS = [
  'queue_watchdog_detected',
  'queue_watchdog_restored',
  'queue_depth_max_bytes',
] as const;

export function nicSeries(context: Context, culprit: Explanation): (Series | undefined)[] {
  const { topology } = context;
  const ports = culprit.nic === undefined ? [] : topology.nics[culprit.nic].ports;
  const feeding = feedingPorts(context, culprit);
  return [
    ...STALL_METRICS.map((metric) => context.read(metric, culprit.element.id)),
    ...ports.flatMap((port) => [
      context.readPort('port_pause_tx_s', port),
      context.readPort('port_pause_tx_frames', port),
      context.readPort('port_rx_bytes', port),
    ]),
    ...feeding.flatMap((port) => [
      context.readPort('port_pause_rx_s', port),
      context.readPort('port_pause_rx_frames', port),
      ...QUEUE_METRICS.flatMap((metric) => allQueues(context, metric, port)),
    ]),
  ];
}

const MOST_HELD = 3;

/** Ports that were held upstream, the farthest first, then the one that feeds the NIC. */
export function nicSteps(context: Context, culprit: Explanation): ChainStep[] {
  const { topology } = context;
  return feedingPorts(context, culprit).flatMap((feeding) => {
    const { held } = spreadFrom(context, feeding, culprit.during);
    const shown = [...held].sort((one, other) => other.hops - one.hops || one.port - other.port);
    const near = shown.filter(({ hops }) => hops === 0);
    return [...shown.filter(({ hops }) => hops > 0).slice(0, MOST_HELD), ...near].map(({ port, hops }) => {
      const polls = pausesSent(context, peerPort(topology, port)).filter((poll) =>
        overlaps(poll, culprit.during),
      );
      const pausedS = polls.reduce((sum, { gain }) => sum + gain, 0);
      const by = hops === 0 ? 'by the NIC' : `${hops} ${hops === 1 ? 'link' : 'links'} upstream`;
      return {
        element: elementRef(portId(context.portName(port))),
        claim: `was kept from sending for ${number(pausedS)} s ${by}`,
        onset_s: seconds(polls[0].fromNs),
      };
    });
  });
}

/** Whom the pause reached. */
export function spreadClause(context: Context, culprit: Explanation): string {
  const spreads = feedingPorts(context, culprit).map((port) => spreadFrom(context, port, culprit.during));
  const held = new Set(spreads.flatMap((spread) => spread.held.map(({ port }) => port)));
  const nics = new Set(spreads.flatMap((spread) => spread.nics));
  if (nics.size === 0) return '';
  const hops = Math.max(...spreads.flatMap((spread) => spread.held.map((one) => one.hops)));
  return ` The pause spread over ${hops} ${hops === 1 ? 'link' : 'links'} and held ${held.size} ports, those of ${nics.size} other NICs among them.`;
}

export function nicRivals(context: Context, observations: Observations, culprit: Explanation): RuledOut[] {
  return culprit.links.slice(0, 1).flatMap((index): RuledOut[] => {
    const link = observations.links[index];
    const element = elementRef(link.link.id);
    const up = link.episodes.length === 0 && link.ends.some((end) => end.statusKnown);
    const incast: RuledOut[] =
      pauseOf(context, culprit) === undefined
        ? []
        : [
            {
              kind: 'incast',
              element: elementRef(nicId(context.topology.nics[culprit.nic ?? 0].name)),
              why: 'the NIC itself paused; in an incast the switch pauses and the receiver does not',
            },
          ];
    return up
      ? [{ kind: 'link-down', element, why: 'both ends kept reporting the port up' }, ...incast]
      : incast;
  });
}
