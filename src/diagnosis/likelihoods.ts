/**
 * The one table that turns signatures into probabilities. Read it, argue with it, tune it here and nowhere else.
 *
 * Each cell is P(signature is present | hypothesis), given that the signature could be looked for at all; a signature
 * nobody could look for (missing series, N/A) counts for nothing, neither way. `noFault` is the chance of seeing it
 * on a healthy element in one window. A cell left out equals `noFault`: the hypothesis says nothing about it.
 * Signatures follow the discriminators operators use (SONiC and mlx5 counters, HPN SIGCOMM'24 on one-way loss); the
 * numbers are judgement: hard status is near certain, optics less so, and no cell is 0 or 1, so that no single
 * reading can outvote all others.
 */
import type { CulpritKind, Side } from '../model/telemetry/vocabulary.js';

export const HYPOTHESES = [
  'link-down/cable',
  'link-down/configuration',
  'link-down/unknown',
  'link-down/host',
  'link-flap/cable',
  'link-flap/configuration',
  'link-flap/unknown',
  'one-way-loss/unknown',
  'node-down/device',
  'speed-downgrade/cable',
  'speed-downgrade/unknown',
  'speed-downgrade/device',
  'speed-downgrade/host',
  'straggler/host',
  'job-migration/configuration',
  'job-migration/unknown',
  'slow-receiver/host',
  'pause-storm/host',
  'pause-deadlock/configuration',
  'incast/unknown',
  'ecmp-collision/configuration',
  'ecmp-collision/unknown',
  'ecn-misconfig/configuration',
  'pfc-misconfig/configuration',
  'stale-route/switch',
  'optic-error/cable',
  'optic-error/host',
  'optic-error/switch',
  'optic-error/unknown',
] as const;
export type Hypothesis = (typeof HYPOTHESES)[number];

export const kindOf = (hypothesis: Hypothesis): CulpritKind => hypothesis.split('/')[0] as CulpritKind;
export const sideOf = (hypothesis: Hypothesis): Side => hypothesis.split('/')[1] as Side;

/** Chance that a given link (for one way: direction; for node: device) meets this in one observed window. */
export const PRIORS: Readonly<Record<Hypothesis, number>> = {
  'link-down/cable': 1e-4,
  'link-down/configuration': 3e-5,
  'link-down/unknown': 3e-5,
  /** A NIC with all its ports. */
  'link-down/host': 2e-5,
  'link-flap/cable': 1e-4,
  'link-flap/configuration': 1e-5,
  'link-flap/unknown': 2e-5,
  'one-way-loss/unknown': 3e-5,
  'node-down/device': 2e-5,
  /** Ports with optics seldom negotiate; what slows them is mostly a module with dead lanes. */
  'speed-downgrade/cable': 1e-4,
  'speed-downgrade/unknown': 3e-5,
  'speed-downgrade/device': 1e-5,
  'speed-downgrade/host': 5e-5,
  /** Slow GPUs are far commoner than slow links (FALCON; Llama 3 report). */
  'straggler/host': 5e-4,
  /** A host that a job leaves by somebody's decision, or for reasons the scheduler keeps to itself. */
  'job-migration/configuration': 1e-4,
  'job-migration/unknown': 3e-5,
  'slow-receiver/host': 5e-5,
  'pause-storm/host': 2e-5,
  /** Routes of a Clos make no circles unless something else has gone wrong. */
  'pause-deadlock/configuration': 1e-6,
  /** Storage, checkpoints and other tenants are part of every fabric. */
  'incast/unknown': 2e-4,
  'ecmp-collision/configuration': 2e-5,
  'ecmp-collision/unknown': 1e-4,
  /** A switch, set otherwise than its peers. */
  'ecn-misconfig/configuration': 3e-5,
  'pfc-misconfig/configuration': 3e-5,
  'stale-route/switch': 2e-5,
  'optic-error/cable': 2e-4,
  'optic-error/host': 1e-4,
  'optic-error/switch': 1e-4,
  'optic-error/unknown': 5e-5,
};

export type Likelihood = Readonly<{ noFault: number } & Partial<Record<Hypothesis, number>>>;

const likelihood = <Row extends Record<string, Likelihood>>(rows: Row): Row => rows;

/** Every link hypothesis of one kind, whatever its side. */
const down = (chance: number) =>
  ({
    'link-down/cable': chance,
    'link-down/configuration': chance,
    'link-down/unknown': chance,
    'link-down/host': chance,
  }) as const;
const flap = (chance: number) =>
  ({ 'link-flap/cable': chance, 'link-flap/configuration': chance, 'link-flap/unknown': chance }) as const;
const dead = (chance: number) => ({ 'node-down/device': chance }) as const;
const oneWay = (chance: number) => ({ 'one-way-loss/unknown': chance }) as const;

const slow = (chance: number) =>
  ({
    'speed-downgrade/cable': chance,
    'speed-downgrade/unknown': chance,
    'speed-downgrade/device': chance,
  }) as const;
const optic = (cable: number, device = cable) =>
  ({
    'optic-error/cable': cable,
    'optic-error/host': device,
    'optic-error/switch': device,
    'optic-error/unknown': device,
  }) as const;
const ecn = (chance: number) => ({ 'ecn-misconfig/configuration': chance }) as const;
const moved = (chance: number) =>
  ({ 'job-migration/configuration': chance, 'job-migration/unknown': chance }) as const;
const pfc = (chance: number) => ({ 'pfc-misconfig/configuration': chance }) as const;
const incast = (chance: number) => ({ 'incast/unknown': chance }) as const;
const meeting = (chance: number) => ({ 'ecmp-collision/unknown': chance }) as const;
const polarised = (chance: number) => ({ 'ecmp-collision/configuration': chance }) as const;
const slowReceiver = (chance: number) => ({ 'slow-receiver/host': chance }) as const;
const storm = (chance: number) => ({ 'pause-storm/host': chance }) as const;
const deadlock = (chance: number) => ({ 'pause-deadlock/configuration': chance }) as const;
const slowHost = (chance: number) => ({ 'speed-downgrade/host': chance }) as const;

export const LIKELIHOODS = likelihood({
  /** An end reports its port down. */
  'status-down': {
    noFault: 1e-6,
    ...down(0.97),
    ...flap(0.97),
    ...dead(0.97),
    ...oneWay(1e-4),
    ...optic(0.5),
  },
  /** The counter of lost links rose at an end. */
  'down-events-counted': {
    noFault: 1e-5,
    ...down(0.98),
    ...flap(0.98),
    ...dead(0.98),
    ...oneWay(1e-4),
    ...optic(0.5),
  },
  /** Both ends were down at the same time (asked only when one was); the dead say nothing. */
  'both-ends-down': {
    noFault: 0.02,
    ...down(0.98),
    ...flap(0.98),
    ...dead(1e-3),
    ...oneWay(0.1),
    ...optic(0.9),
  },
  /** The link went down more than once (asked only when it went down). */
  'down-repeatedly': { noFault: 0.05, ...down(0.02), ...flap(0.99), ...dead(0.02), ...optic(0.5) },
  /** All links of a NIC went down within a second (asked only when all were down). */
  'down-together': { noFault: 0.02, 'link-down/host': 0.9999 },
  /** An end was shut down by configuration. */
  'shut-down': {
    noFault: 1e-3,
    'link-down/configuration': 0.98,
    'link-flap/configuration': 0.95,
  },
  /** No light arrives at an end while the link is down. */
  'light-lost': {
    noFault: 1e-4,
    'link-down/cable': 0.97,
    'link-down/configuration': 0.03,
    'link-down/unknown': 0.1,
    'link-down/host': 0.9,
    'link-flap/cable': 0.9,
    'link-flap/configuration': 0.03,
    'link-flap/unknown': 0.1,
    ...dead(0.95),
    ...oneWay(0.02),
    ...optic(1e-3),
  },
  /** Bytes sent in the suspected direction never arrive, proven by bounds. */
  'bytes-vanish': { noFault: 1e-6, ...down(0.5), ...flap(0.5), ...dead(0.5), ...oneWay(0.95), ...optic(0.2) },
  /** Bytes sent against the suspected direction never arrive either. */
  'bytes-vanish-back': {
    noFault: 1e-6,
    ...down(0.5),
    ...flap(0.5),
    ...dead(0.5),
    ...oneWay(0.005),
    ...optic(0.05),
  },
  /** The same, but seen at quiet moments only, where polls that beat with the traffic can deceive. */
  'bytes-missing-at-rest': {
    noFault: 3e-4,
    ...down(0.5),
    ...flap(0.5),
    ...dead(0.5),
    ...oneWay(0.95),
    ...optic(0.2),
  },
  'bytes-missing-at-rest-back': {
    noFault: 3e-4,
    ...down(0.5),
    ...flap(0.5),
    ...dead(0.5),
    ...oneWay(0.005),
    ...optic(0.05),
  },
  /** While all connections of its NIC stand still, one end goes on sending and the other receives nothing. */
  'sends-into-silence': {
    noFault: 1e-4,
    ...down(0.1),
    ...flap(0.1),
    ...dead(0.1),
    ...oneWay(0.97),
    ...optic(0.05),
  },
  'sends-into-silence-back': {
    noFault: 1e-4,
    ...down(0.1),
    ...flap(0.1),
    ...dead(0.1),
    ...oneWay(0.005),
    ...optic(0.005),
  },
  /** All connections of the NIC stand still for seconds (asked of links that lead to such a NIC). */
  'all-its-connections-stall': {
    noFault: 1e-3,
    ...down(0.7),
    ...flap(0.3),
    ...dead(0.7),
    ...oneWay(0.9),
    ...optic(0.3),
  },
  /** The liveness session fails while both ports stay up; sessions in software do it once in some hundred days. */
  'session-lost-while-up': {
    noFault: 5e-6,
    ...down(0.02),
    ...flap(0.05),
    ...dead(0.02),
    ...oneWay(0.95),
    ...optic(0.05),
  },
  /** Senders repeat packets around the onset: reliable transport answers any loss so; an idle link has none to lose. */
  'senders-retransmit': {
    noFault: 0.01,
    ...down(0.7),
    ...flap(0.7),
    ...dead(0.7),
    ...oneWay(0.995),
    ...optic(0.6),
  },
  /** The receiver corrects far more bits than other ports do; a link may err long before anything is lost. */
  'errors-received': { noFault: 1e-6, ...oneWay(0.01), ...optic(0.98) },
  'errors-received-back': { noFault: 1e-6, ...oneWay(0.01), ...optic(0.02) },
  /** Codewords were beyond correction; so are some whenever a link goes. */
  'codewords-lost': {
    noFault: 1e-5,
    ...down(0.2),
    ...flap(0.3),
    ...dead(0.2),
    ...oneWay(0.1),
    ...optic(0.8),
  },
  /** Less light at the receiver and as much at the sender; less at the sender (asked with errors, or while it is down). */
  'light-lost-on-the-way': { noFault: 0.005, ...optic(0.93, 0.01) },
  'laser-weak': { noFault: 0.005, ...optic(0.01, 0.5) },
  /** The receiving end counts damaged packets. */
  'receive-errors': {
    noFault: 0.01,
    ...down(0.05),
    ...flap(0.4),
    ...dead(0.05),
    ...oneWay(0.3),
    ...optic(0.6),
  },
  /** The device leaves its polls unanswered (one that answers is not asked: it lives). */
  'device-silent': { noFault: 1e-3, ...dead(0.99) },
  /** A neighbour's port stayed up while the device was dark (asked only when the neighbour was heard). */
  'neighbour-stayed-up': { noFault: 0.999, ...dead(0.01) },
  /** An end tells a speed below the rated one; a device that slows its links slows all of them. */
  'speed-below-rated': { noFault: 1e-6, ...slow(0.9999), 'speed-downgrade/device': 1 - 1e-9 },
  /** Both ends tell it at the same time (asked only when one does). */
  'both-ends-slow': { noFault: 0.1, ...slow(0.98) },
  /** The speed is none that Ethernet ports agree on (asked only when it is below the rated one). */
  'odd-speed': {
    noFault: 0.2,
    'speed-downgrade/cable': 0.5,
    'speed-downgrade/unknown': 0.005,
    'speed-downgrade/device': 0.2,
  },
  /** The NIC waits for its host to deliver, or to take, far more than other NICs do (an idle NIC is not asked). */
  'pcie-read-stalled': { noFault: 1e-6, ...slowHost(0.9), ...slowReceiver(1e-3) },
  'pcie-write-stalled': { noFault: 1e-6, ...slowHost(0.9), ...slowReceiver(0.98) },
  /** All NICs of the host that moved anything wait (asked of hosts only). */
  'all-nics-wait': { noFault: 0.1, ...slowHost(1 - 1e-9) },
  /** The NIC pauses its switch: it can't hand on what arrives. */
  'nic-pauses': { noFault: 1e-4, ...slowHost(0.6), ...slowReceiver(0.95), ...storm(0.9999) },
  /** It pauses, and its host takes all that comes without stalling (asked only when it pauses). */
  'pauses-while-host-keeps-up': { noFault: 1e-3, ...slowHost(1e-3), ...slowReceiver(1e-3), ...storm(0.97) },
  /** Hardly anything gets through for a whole poll (asked only when it pauses). */
  'pauses-full-stop': { noFault: 0.02, ...slowHost(0.1), ...slowReceiver(0.1), ...storm(0.7) },
  /** The pause watchdog of the switch found the queue that feeds the NIC stuck. */
  'watchdog-acted': { noFault: 1e-5, ...slowHost(2e-3), ...slowReceiver(2e-3), ...storm(0.7) },
  /** The NIC receives bytes that no job accounts for. */
  'foreign-bytes-arrive': { noFault: 1e-5, ...incast(0.97), ...meeting(0.97) },
  /** At least two NICs for each receiver send such bytes meanwhile (asked with foreign bytes). */
  'several-senders': { noFault: 0.2, ...incast(0.97), ...meeting(0.03) },
  /** The switch port before the receiver marks, queues or sends all it can (asked with foreign bytes). */
  'receiver-link-full': { noFault: 0.2, ...incast(0.97), ...meeting(0.5) },
  /** One uplink of the switch above the senders is full, another has room (asked with foreign bytes). */
  'uplink-full-siblings-not': { noFault: 0.05, ...meeting(0.9) },
  /** Uplinks of a switch that is up and has its routes carry nothing more, and siblings take over. */
  'siblings-fell-idle': { noFault: 1e-4, ...polarised(0.95) },
  /** ... at many switches of a tier together (asked when it is seen). */
  'many-switches-together': { noFault: 0.01, ...polarised(0.9) },
  /** No NIC paused, nobody else sent, no switch dropped and no job stood still to start again then (asked likewise). */
  'undisturbed-meanwhile': { noFault: 0.3, ...polarised(0.98) },
  /** A queue of the switch marks at a small part of the depth at which others do (asked where others mark). */
  'marks-short-queues': { noFault: 1e-4, ...ecn(0.45), ...pfc(1e-5) },
  /** A queue that is free to send grows far beyond that depth without a mark (asked where others mark). */
  'long-queues-unmarked': { noFault: 1e-4, ...ecn(0.45), ...pfc(1e-4) },
  /** Either of these, or drops without marks, in poll after poll (asked when one is seen); a burst may do it once or twice. */
  'marks-amiss-for-long': { noFault: 0.02, ...ecn(0.8) },
  /** Ports of switches stand with full queues, each held by one that waits for the next (asked where they are found). */
  'pauses-in-a-circle': { noFault: 1e-8, ...deadlock(0.9) },
  /** It pauses neighbours at depths that others carry without a pause (asked where others mark). */
  'pauses-short-queues': { noFault: 1e-6, ...ecn(1e-5), ...pfc(0.4) },
  /** It drops them for want of buffer, as bursts may (asked where it does, and no switch of the fabric ever pauses). */
  'overflows-unpaused': { noFault: 0.02, ...ecn(0.7) },
  /** Hardly any of those that its queues let through meanwhile was marked (asked likewise). */
  'drops-unmarked': { noFault: 1e-4, ...ecn(0.7) },
  /** It drops intact packets on arrival (asked where some switch pauses). */
  'discards-on-arrival': { noFault: 1e-6, ...ecn(1e-4), ...pfc(0.6) },
  /** A job that has, or had, ranks on the host was started again, or waits for that; jobs restart for many reasons. */
  'job-restarts': { noFault: 1e-3, ...moved(0.99) },
  /** The scheduler had drained the host shortly before, or just then. */
  'host-drained': { noFault: 1e-3, 'job-migration/configuration': 0.97, 'job-migration/unknown': 0.02 },
  /** Fewer of its GPUs were in use afterwards; a job without a spare keeps its place. */
  'ranks-left': { noFault: 1e-4, ...moved(0.9) },
  'ranks-came-elsewhere': { noFault: 0.01, ...moved(0.9) },
  /** It sent before the restart and is silent after it; another host was silent and sends. */
  'bytes-left-with-them': { noFault: 1e-3, ...moved(0.9) },
  'bytes-came-elsewhere': { noFault: 0.01, ...moved(0.9) },
  /** Every port and session is up for long, and a port of the switch is next hop for less than it was. */
  'routes-missing-after-repair': { noFault: 1e-6, 'stale-route/switch': 0.97 },
  /** It sends nothing (asked where it is no next hop any more). */
  'repaired-port-idle': { noFault: 0.05, 'stale-route/switch': 0.95 },
  /** A rank on the host computes longer than the ranks of its job elsewhere; jobs may be uneven by design. */
  'computes-longer-than-peers': { noFault: 2e-3, 'straggler/host': 0.98 },
  /** It did not always: at some earlier poll it was as fast as they were (asked only when it was slow later). */
  'computed-as-fast-before': { noFault: 0.01, 'straggler/host': 0.9 },
  /** It waits less than they do, since they wait for it. */
  'waits-less-than-peers': { noFault: 0.02, 'straggler/host': 0.95 },
});

export type Signature = keyof typeof LIKELIHOODS;

/** Seen, looked for and not seen, or impossible to look for. */
export type Outcome = 'present' | 'absent' | 'unknown';

export const THRESHOLDS = {
  /** A culprit is named from this probability on. */
  name: 0.5,
  /** "No fault" is not said while a suspect reaches this probability. */
  suspect: 0.1,
  /** Odds are capped here (e^7, 99.9 %): the table is judgement, and naive independence overstates. */
  logOddsMost: 7,
  /** A side or direction is named when it holds this share of its culprit's probability. */
  detail: 0.6,
  /** "No fault" needs this share of links to be known healthy, in status and in bytes. */
  coverage: 0.95,
  /** Share of GPU time lost above which "no fault" is not said although every link looks healthy. */
  unexplainedLoss: 0.02,
} as const;

/** log P(outcome | hypothesis) / P(outcome | no fault). */
export function logLikelihoodRatio(signature: Signature, outcome: Outcome, hypothesis: Hypothesis): number {
  if (outcome === 'unknown') return 0;
  const row: Likelihood = LIKELIHOODS[signature];
  const chance = row[hypothesis] ?? row.noFault;
  return outcome === 'present' ? Math.log(chance / row.noFault) : Math.log((1 - chance) / (1 - row.noFault));
}
