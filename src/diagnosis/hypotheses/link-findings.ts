/**
 * The signatures that a dead, a flapping and a one-way link have in common, read off one link's observation.
 */
import type { Conservation } from '../features/bytes/conservation.js';
import type { Context, Interval } from '../series/context.js';
import { overlaps } from '../series/context.js';
import { observeNicStalls } from '../features/links/edge-stalls.js';
import { pausesItsSwitch } from '../features/jobs/host-side.js';
import {
  DARK_DBM,
  endsDownTogether,
  observeAllLinks,
  timesDown,
} from '../features/links/link-observation.js';
import type { EndObservation, LinkObservation } from '../features/links/link-observation.js';
import { observeLight, observeSignals } from '../features/links/signal.js';
import type { Light } from '../features/links/signal.js';
import { freshCount, freshSamples, gainWithin, rises, samplesWithin } from '../series/samples.js';
import type { Increment } from '../series/samples.js';
import { poissonMaximum } from '../series/statistics.js';
import { stallUnderWayNs } from '../features/links/stall.js';
import type { Nic } from '../../model/topology/model.js';
import { outcome } from './hypothesis.js';
import type { Finding } from '../candidate.js';
import type { Outcome } from '../likelihoods.js';

/** A liveness session that falls within this time of a port going down fell because of that. */
const SESSION_FOLLOWS_PORT_NS = 1e9;

/**
 * All that a link shows. Rival hypotheses about a link are judged by the same findings, or the one that looks at fewer
 * would win by looking away.
 * @param sender index into the observation's ends of the port whose bytes are suspected to vanish; matters only to
 *   hypotheses about one direction
 */
export function linkFindings(context: Context, observation: LinkObservation, sender: 0 | 1 = 0): Finding[] {
  const { ends } = observation;
  const times = timesDown(observation);
  return [
    { signature: 'status-down', outcome: outcome(statusDown(observation)) },
    { signature: 'down-events-counted', outcome: outcome(eventsCounted(ends)) },
    { signature: 'both-ends-down', outcome: outcome(endsDownTogether(observation)) },
    { signature: 'down-repeatedly', outcome: outcome(times === null || times === 0 ? null : times > 1) },
    { signature: 'shut-down', outcome: outcome(shutDown(ends)) },
    { signature: 'light-lost', outcome: outcome(lightLost(context, observation)) },
    { signature: 'session-lost-while-up', outcome: outcome(sessionLostWhileUp(observation)) },
    { signature: 'senders-retransmit', outcome: outcome(sendersRetransmit(context, observation)) },
    { signature: 'all-its-connections-stall', outcome: outcome(connectionsStall(context, observation)) },
    ...directionFindings(context, observation, sender),
  ];
}

/** When the NIC at the lower end stood still; null where there is none, or it did not. */
export function stallOf(context: Context, { ends }: LinkObservation): Interval | null {
  const { nic } = context.topology.ports[ends[0].port];
  return nic < 0 ? null : context.once(observeNicStalls)[nic];
}

/**
 * Not asked where it did not happen: a NIC that is idle, or whose other port works, does not stall. Nor where another
 * link loses bytes meanwhile, or its session in the end, and this one does not: a loss anywhere on the way stops the NIC
 * just as well; nor where the NIC itself pauses its switch, and so takes nothing. Where clocks differ bytes clear no link,
 * and of many NICs that stand still together none is singled out.
 */
function connectionsStall(context: Context, observation: LinkObservation): boolean | null {
  const stall = stallOf(context, observation);
  if (stall === null) return null;
  if (losesDuring(context, observation, stall)) return true;
  const elsewhere = context
    .once(losingLinks)
    .some((other) => other.link !== observation.link && losesDuring(context, other, stall));
  const nic = context.topology.nics[context.topology.ports[observation.ends[0].port].nic];
  if (elsewhere || pausesItsSwitch(context, nic, stall) === true) return null;
  const together = (): number =>
    context.once(observeNicStalls).filter((other) => other !== null && overlaps(other, stall)).length;
  return context.clockSlackNs > 0 && together() > MOST_TOGETHER ? null : true;
}

/** A NIC that stands still takes its partners with it, in a ring one on either side. */
const MOST_TOGETHER = 3;

/** Few in a fabric of any size. */
const losingLinks = (context: Context): LinkObservation[] =>
  context
    .once(observeAllLinks)
    .filter(
      ({ sentBy, withoutRoutes }) => withoutRoutes.length > 0 || sentBy.some(({ began }) => began !== null),
    );

/** Routing ends its session a hold time late: what stood still by then stood still for the same loss. */
const losesDuring = (
  context: Context,
  { sentBy, withoutRoutes }: LinkObservation,
  during: Interval,
): boolean =>
  sentBy.some(({ began }) => began !== null && overlaps(began, during)) ||
  withoutRoutes.some(({ fromNs }) => {
    const stallNs = stallUnderWayNs(context, fromNs);
    return stallNs !== null && overlaps({ fromNs: stallNs, toNs: fromNs }, during);
  });

/** Polls at the two ends of a stall may have caught traffic. */
const STALL_MARGIN_NS = 1e9;

/**
 * While all connections stand still, only retries are under way, so that counters polled apart may be compared: what one
 * end sends then, the other must receive. Null when nothing was sent, or there was no such time.
 */
function sendsIntoSilence(context: Context, observation: LinkObservation, sender: 0 | 1): boolean | null {
  const stall = stallOf(context, observation);
  if (stall === null) return null;
  const inside = { fromNs: stall.fromNs + STALL_MARGIN_NS, toNs: stall.toNs };
  const gain = (metric: 'port_tx_bytes' | 'port_rx_bytes', end: 0 | 1): number | null => {
    const samples = samplesWithin(context.readPort(metric, observation.ends[end].port), inside);
    return samples.length < 2 ? null : samples[samples.length - 1].value - samples[0].value;
  };
  const sent = gain('port_tx_bytes', sender);
  const received = gain('port_rx_bytes', sender === 0 ? 1 : 0);
  if (sent === null || received === null || sent <= 0) return null;
  return received <= 0;
}

function directionFindings(context: Context, observation: LinkObservation, sender: 0 | 1): Finding[] {
  const there = observation.sentBy[sender];
  const back = observation.sentBy[1 - sender];
  const [from, to] = [observation.ends[sender].port, observation.ends[1 - sender].port];
  const signals = context.once(observeSignals);
  const erring = signals[to].during;
  const lit = erring === null ? litOutage(context, observation) : withOutage(context, erring, observation);
  const light = lit === null ? null : observeLight(context, from, to, lit);
  // Where light fell and the link with it, no poll may have come in between.
  const unread = erring === null && light !== null && hasFallen(light);
  return [
    { signature: atRest(there) ? 'bytes-missing-at-rest' : 'bytes-vanish', outcome: vanished(there) },
    { signature: atRest(back) ? 'bytes-missing-at-rest-back' : 'bytes-vanish-back', outcome: vanished(back) },
    {
      signature: 'sends-into-silence',
      outcome: outcome(sendsIntoSilence(context, observation, sender)),
    },
    {
      signature: 'sends-into-silence-back',
      outcome: outcome(sendsIntoSilence(context, observation, sender === 0 ? 1 : 0)),
    },
    { signature: 'errors-received', outcome: outcome(unread ? null : signals[to].errs) },
    { signature: 'errors-received-back', outcome: outcome(signals[from].errs) },
    { signature: 'codewords-lost', outcome: outcome(signals[to].damage.port_fec_uncorrected_codewords) },
    { signature: 'receive-errors', outcome: outcome(signals[to].damage.port_rx_errors) },
    { signature: 'light-lost-on-the-way', outcome: outcome(light === null ? null : light.lostOnTheWay) },
    { signature: 'laser-weak', outcome: outcome(light === null ? null : light.laserWeak) },
  ];
}

/** The outages of a link as one stretch; null without any, and where no light was left: darkness is no dirt. */
function litOutage(context: Context, observation: LinkObservation): Interval | null {
  const { episodes } = observation;
  if (episodes.length === 0 || lightLost(context, observation) === true) return null;
  return { fromNs: episodes[0].fromNs, toNs: beforeRepair(episodes[episodes.length - 1]).toNs };
}

/** Errors that take a link down are counted no more, but the light stays as it is: what is read meanwhile tells as much. */
function withOutage(context: Context, erring: Interval, observation: LinkObservation): Interval {
  const outage = litOutage(context, observation);
  if (outage === null || !overlaps(erring, outage)) return erring;
  return { fromNs: erring.fromNs, toNs: Math.max(erring.toNs, outage.toNs) };
}

const hasFallen = ({ lostOnTheWay, laserWeak }: Light): boolean =>
  lostOnTheWay === true || laserWeak === true;

/** The outage of a link whose light had fallen in one direction; null without one. */
export function dimOutage(context: Context, observation: LinkObservation, sender: 0 | 1): Interval | null {
  const outage = litOutage(context, observation);
  if (outage === null) return null;
  const [from, to] = [observation.ends[sender].port, observation.ends[1 - sender].port];
  return hasFallen(observeLight(context, from, to, outage)) ? outage : null;
}

const atRest = ({ began, certain }: Conservation): boolean => began !== null && !certain;

/** Not seen to vanish is no proof of arrival: idle links and unevenly timed polls prove nothing. */
function vanished({ began, intact }: Conservation): Outcome {
  if (began !== null) return 'present';
  return intact ? 'absent' : 'unknown';
}

function statusDown({ ends, episodes }: LinkObservation): boolean | null {
  if (episodes.length > 0) return true;
  return ends.some((end) => end.statusKnown) ? false : null;
}

function eventsCounted(ends: LinkObservation['ends']): boolean | null {
  if (ends.some((end) => (end.downEvents?.length ?? 0) > 0)) return true;
  return ends.some((end) => end.downEvents !== null) ? false : null;
}

function shutDown(ends: LinkObservation['ends']): boolean | null {
  if (ends.some((end) => end.shutDown.length > 0)) return true;
  return ends.every((end) => end.adminKnown) ? false : null;
}

/** Light comes back before the port does; readings so close to the end of an outage tell nothing. */
const LIGHT_BEFORE_PORT_NS = 1e9;
const beforeRepair = ({ fromNs, toNs }: Interval): Interval => ({
  fromNs,
  toNs: toNs - LIGHT_BEFORE_PORT_NS,
});

/** Light at either end while the link is down; null when no sensor was read in that time. */
function lightLost(context: Context, { ends, episodes }: LinkObservation): boolean | null {
  const readings = ends.flatMap((end) => {
    const power = context.readPort('optic_rx_power_dbm', end.port);
    const darkAnywhere = freshSamples(power).filter((sample) => sample.value <= DARK_DBM);
    return [...episodes.flatMap((episode) => samplesWithin(power, beforeRepair(episode))), ...darkAnywhere];
  });
  if (readings.length === 0) return null;
  return readings.some((reading) => reading.value <= DARK_DBM);
}

/** Stretches in which a liveness session was down, or routing had ended its own, although no port was, nor had just been. */
export function lonelySessionLosses({ ends, episodes, withoutRoutes }: LinkObservation): Interval[] {
  return [...ends.flatMap((end) => end.bfdDown), ...withoutRoutes].filter(
    (loss) =>
      !episodes.some((episode) =>
        overlaps(
          { fromNs: loss.fromNs - SESSION_FOLLOWS_PORT_NS, toNs: loss.toNs + SESSION_FOLLOWS_PORT_NS },
          episode,
        ),
      ),
  );
}

function sessionLostWhileUp(observation: LinkObservation): boolean | null {
  if (lonelySessionLosses(observation).length > 0) return true;
  // Routing may take longer to miss its neighbour than the loss lasts: that it did not is no sign.
  return observation.ends.some((end: EndObservation) => end.bfdKnown) ? false : null;
}

const RETRANSMISSIONS = [
  'nic_adaptive_retransmissions',
  'nic_local_ack_timeouts',
  'nic_packet_sequence_errors',
] as const;
/** NICs are polled apart from switches; what they count in this time belongs together. */
const POLLS_APART_NS = 1e9;

/** A full QP timeout may pass before the first repeat (4.3 s with NCCL's usual 20, and twice that). */
const LATEST_REPEAT_NS = 10e9;
/** Less time before tells no background. */
const LEAST_PAST_NS = 5e9;
/** Chance that more repeats than these are background. */
const CHANCE = 0.01;

/**
 * Loss on a host's link makes the host's own NIC repeat, since data or its ACKs are lost; loss between switches may
 * hit any NIC. More than the trickle before is asked for. Null when some NIC was not read, the repeat may still come, or
 * the link had nothing to lose.
 */
function sendersRetransmit(context: Context, observation: LinkObservation): boolean | null {
  const { topology, window } = context;
  const first = firstSign(context, observation);
  if (first === null) return null;
  const own = observation.ends.flatMap((end) => topology.nics[topology.ports[end.port].nic] ?? []);
  const { steps, isWhole } = own.length > 0 ? repeatsOf(context, own) : context.once(allRepeats);
  const around = { fromNs: first.fromNs - POLLS_APART_NS, toNs: first.toNs + POLLS_APART_NS };
  const before = { fromNs: window.fromNs, toNs: around.fromNs };
  const pastNs = before.toNs - before.fromNs;
  const trickle = pastNs < LEAST_PAST_NS ? 0 : gainIn(steps, before) / pastNs;
  const usual = poissonMaximum(trickle * (around.toNs - around.fromNs), 1, CHANCE);
  if (gainIn(steps, around) > usual) return true;
  const late = { fromNs: around.toNs, toNs: around.toNs + LATEST_REPEAT_NS };
  const isOpen = gainIn(steps, late) > poissonMaximum(trickle * LATEST_REPEAT_NS, 1, CHANCE);
  return isOpen || !isWhole || !sendsWithin(context, observation, around) ? null : false;
}

interface Repeats {
  steps: readonly Increment[];
  /** All of the NICs were read. */
  isWhole: boolean;
}

const allRepeats = (context: Context): Repeats => repeatsOf(context, context.topology.nics);

/** When some NICs repeated packets. */
function repeatsOf(context: Context, nics: readonly Nic[]): Repeats {
  const ofNic = nics.map(({ index }) => RETRANSMISSIONS.map((metric) => context.readNic(metric, index)));
  return {
    steps: ofNic.flatMap((series) => series.flatMap((one) => rises(one))),
    isWhole: ofNic.every((series) => series.some((one) => freshCount(one) > 1)),
  };
}

const gainIn = (steps: readonly Increment[], during: Interval): number =>
  steps.reduce((sum, step) => (overlaps(step, during) ? sum + step.gain : sum), 0);

/** Whether an end sent anything about then; what was not read may have. */
const sendsWithin = (context: Context, { ends }: LinkObservation, during: Interval): boolean =>
  ends.some(({ port }) => {
    const series = context.readPort('port_tx_bytes', port);
    return freshCount(series) < 2 || gainWithin(series, during) > 0;
  });

/** The stretch in which the link first showed that anything was wrong. */
function firstSign(context: Context, observation: LinkObservation): Interval | null {
  const stall = stallOf(context, observation);
  const signs = [
    ...observation.episodes.map(({ fromNs }) => ({ fromNs, toNs: fromNs })),
    ...observation.ends.flatMap((end) => end.downEvents ?? []),
    ...observation.sentBy.flatMap(({ began }) => (began === null ? [] : [began])),
    ...lonelySessionLosses(observation).map(({ fromNs }) => ({ fromNs, toNs: fromNs })),
    ...(stall === null ? [] : [{ fromNs: stall.fromNs, toNs: stall.fromNs }]),
  ];
  return signs.sort((one, other) => one.toNs - other.toNs)[0] ?? null;
}
