/**
 * NICs that pause the switch that feeds them: for how much of the time, and whether their host is why.
 *
 * Both ends count a pause, the NIC that sends it and the switch port that is held by it; the one that was read more
 * decides. A NIC whose host takes data too slowly stalls on writes to it while it pauses; one that pauses while its host
 * keeps up has no reason to, and at Microsoft was a NIC whose receive pipeline hung (Guo et al., SIGCOMM 2016, 6.2).
 * Pauses are sums over priorities. Not modelled: a watchdog in the NIC.
 */
import { peerPort } from '../../../model/topology/model.js';
import type { Nic } from '../../../model/topology/model.js';
import type { Context, Interval } from '../../series/context.js';
import { overlaps } from '../../series/context.js';
import { allQueues } from './queues.js';
import { freshCount, freshSamples, gainWithin, rises } from '../../series/samples.js';
import type { Increment } from '../../series/samples.js';

/** A poll interval that was paused for so much of its time let hardly anything through. */
const FULL_STOP = 0.9;
/** Polls with less pause than this say nothing about why; a slow host may stall too little to be seen in them. */
const TELLING_SHARE = 0.05;
/** Less waiting for the host than this is none. */
const LEAST_STALL = 0.015;

export interface NicPause {
  nic: Nic;
  /** The port of the NIC through which it pauses most. */
  port: number;
  /** Poll intervals with pause. */
  polls: readonly Increment[];
  during: Interval;
  /** Null when it was there from the first poll on. */
  onsetNs: number | null;
  pausedS: number;
  /** Greatest part of a poll interval that was paused, 0..1. */
  mostShare: number;
  fullStop: boolean;
  /** Whether the host took data as fast as it came in all polls with enough pause to tell; null when it was not read. */
  hostKeepsUp: boolean | null;
  /** Whether the pause watchdog of the switch acted on a queue that feeds the NIC; null when it was not read. */
  watchdogActed: boolean | null;
}

/** NICs that paused their switch at some time. */
export const observeNicPauses = (context: Context): NicPause[] =>
  context.topology.nics.flatMap((nic) => observeNicPause(context, nic) ?? []);

function observeNicPause(context: Context, nic: Nic): NicPause | null {
  const byPort = nic.ports.map((port) => ({ port, polls: pausesSent(context, port) }));
  const { port, polls } = byPort.reduce((one, other) =>
    sumOf(other.polls) > sumOf(one.polls) ? other : one,
  );
  if (polls.length === 0) return null;
  const during = { fromNs: polls[0].fromNs, toNs: polls[polls.length - 1].toNs };
  const shares = polls.map(shareOf);
  const mostShare = Math.max(...shares);
  return {
    nic,
    port,
    polls,
    during,
    onsetNs: onsetOf(context, polls),
    pausedS: sumOf(polls),
    mostShare,
    fullStop: mostShare >= FULL_STOP,
    hostKeepsUp: hostKeepsUp(
      context,
      nic,
      polls.filter((poll) => shareOf(poll) >= TELLING_SHARE),
    ),
    watchdogActed: watchdogActed(context, port, during),
  };
}

const NEVER: readonly Increment[] = [];

/** Polls in which a port kept its peer from sending, by the end that tells more of them. */
export const pausesSent = (context: Context, port: number): readonly Increment[] =>
  context.once(allPausesSent)[port];

const allPausesSent = (context: Context): (readonly Increment[])[] =>
  context.topology.ports.map(({ index }) => {
    const own = context.readPort('port_pause_tx_s', index);
    const peers = context.readPort('port_pause_rx_s', peerPort(context.topology, index));
    // nearly all ports of a fabric
    if ((own?.constant ?? own === undefined) && (peers?.constant ?? peers === undefined)) return NEVER;
    return rises(freshCount(own) >= freshCount(peers) ? own : peers);
  });

const shareOf = ({ fromNs, toNs, gain }: Increment): number => (gain * 1e9) / (toNs - fromNs);
const sumOf = (polls: readonly Increment[]): number => polls.reduce((sum, { gain }) => sum + gain, 0);

/** A pause that goes on through the next poll began as long before the first one as that one counted. */
function onsetOf({ window }: Context, polls: readonly Increment[]): number | null {
  const [first, next] = [polls[0], polls.at(1)];
  if (first.fromNs <= window.fromNs) return null;
  const latestNs = Math.max(first.fromNs, first.toNs - first.gain * 1e9);
  const goesOn = next !== undefined && next.fromNs === first.toNs && shareOf(next) >= FULL_STOP;
  return goesOn ? latestNs : (first.fromNs + latestNs) / 2;
}

function hostKeepsUp(context: Context, nic: Nic, polls: readonly Increment[]): boolean | null {
  const samples = freshSamples(context.readNic('nic_pcie_write_stalled_ratio', nic.index));
  const meanwhile = samples.filter(({ timeNs }) =>
    // The NIC is polled apart from the switch; its share is that of the interval before.
    polls.some(({ fromNs, toNs }) => timeNs > (fromNs + toNs) / 2 && timeNs <= toNs + (toNs - fromNs) / 2),
  );
  return meanwhile.length === 0 ? null : meanwhile.every(({ value }) => value < LEAST_STALL);
}

function watchdogActed(context: Context, port: number, during: Interval): boolean | null {
  const counters = allQueues(context, 'queue_watchdog_detected', peerPort(context.topology, port));
  if (counters.length === 0) return null;
  return counters.some((series) => gainWithin(series, during) > 0);
}

/** Whether a NIC paused its switch at some time in a stretch. */
export const pausedWithin = (pause: NicPause | undefined, during: Interval): boolean =>
  pause?.polls.some((poll) => overlaps(poll, during)) ?? false;
