/**
 * A job whose ranks left a host: drained or evicted, it stopped, moved and went on from a checkpoint. Nothing is broken.
 *
 * Told by the scheduler (drains, allocations, restarts), by a step counter that goes back or stands, and by bytes that
 * vanish from one host and appear on another, while the ports of both stay up. Where the host itself was dead when its
 * ranks left, the move follows from that and the dead host is named instead, with the restart in its account.
 * Not modelled: jobs that leave several hosts at once for one reason; each is named by itself.
 */
import { deviceId, elementRef, jobId, portId } from '../../core/elements.js';
import type { Series } from '../../model/telemetry/series.js';
import { number, seconds } from '../series/change.js';
import type { Context, Interval } from '../series/context.js';
import { overlaps } from '../series/context.js';
import { answeredWithin } from '../features/links/device-observation.js';
import { observeHostMoves, sentRate, type HostMoves } from '../features/jobs/host-moves.js';
import { observeRestarts, type Restart } from '../features/jobs/restarts.js';
import type { Explanation } from '../explanation.js';
import type { Hypothesis } from '../likelihoods.js';
import type { ChainStep, RuledOut } from '../verdict.js';
import { listed, time, when } from '../wording.js';
import { outcome } from './hypothesis.js';
import type { Candidate } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';

const HYPOTHESES: readonly Hypothesis[] = ['job-migration/configuration', 'job-migration/unknown'];

/** A drain is the reason for a stop that comes within this time: the job may end its step and write a checkpoint first. */
const DRAIN_REACH_NS = 120e9;
/** Messages of the scheduler come this much late, or early, of the job's own log. */
const SLACK_NS = 5e9;
/** What a host that no rank is left on still sends, of what it sent. */
const SILENT_SHARE = 0.02;

/** One host that a job left, with what tells so. */
interface Leaving {
  host: number;
  restarts: Restart[];
  /** Null: not drained; undefined: nobody would tell. */
  drained: Interval | null | undefined;
  ranksLeft: boolean | null;
  /** Hosts that ranks came to meanwhile. */
  newHosts: number[];
  bytesGone: boolean | null;
  bytesCame: boolean | null;
}

export const jobMigration: Family = {
  hypotheses: HYPOTHESES,
  hypothesise: (context, observations) =>
    context
      .once(observeLeavings)
      .filter(({ host, restarts }) => !wasLost(context, observations, host, restarts))
      .flatMap((leaving) => candidatesOf(context, leaving)),
  cause,
  reason,
  series,
  steps,
  rivals,
};

function observeLeavings(context: Context): Leaving[] {
  const restarts = context.once(observeRestarts);
  const moves = context.once(observeHostMoves);
  return moves.flatMap((host): Leaving[] => {
    const concerned = restarts.filter((restart) => leaves(context, host, restart));
    if (concerned.length === 0) return [];
    const [{ stopped }] = concerned;
    const reach = reachOf(concerned);
    const newHosts = moves
      .filter(({ changes }) => changes.some(({ timeNs, gpus }) => gpus > 0 && within(timeNs, reach)))
      .map((other) => other.host);
    const before = { fromNs: context.window.fromNs, toNs: drainOf(host, stopped)?.fromNs ?? stopped.fromNs };
    const after = { fromNs: reach.toNs - SLACK_NS, toNs: context.window.toNs };
    return [
      {
        host: host.host,
        restarts: concerned,
        drained: host.known ? (drainOf(host, stopped) ?? null) : undefined,
        ranksLeft: host.known
          ? host.changes.some(({ timeNs, gpus }) => gpus < 0 && within(timeNs, reach))
          : null,
        newHosts,
        bytesGone: fellSilent(context, host.host, before, after),
        bytesCame: cameUp(context, newHosts, before, after),
      },
    ];
  });
}

const within = (timeNs: number, { fromNs, toNs }: Interval): boolean => timeNs >= fromNs && timeNs <= toNs;

/** From just before the first stop to just after the last start. */
const reachOf = (restarts: readonly Restart[]): Interval => ({
  fromNs: Math.min(...restarts.map(({ stopped }) => stopped.fromNs)) - SLACK_NS,
  toNs: Math.max(...restarts.map(({ stopped }) => stopped.toNs)) + SLACK_NS,
});

/** The drain during which, or soon after whose begin, a job stopped. */
const drainOf = ({ drained }: HostMoves, stopped: Interval): Interval | undefined =>
  drained.find(
    (span) => span.fromNs <= stopped.fromNs + SLACK_NS && stopped.fromNs - span.fromNs <= DRAIN_REACH_NS,
  );

/** Whether a restart may have taken ranks of its job from a host. */
function leaves(context: Context, host: HostMoves, { job, stopped }: Restart): boolean {
  const { topology } = context;
  const reach = { fromNs: stopped.fromNs - SLACK_NS, toNs: stopped.toNs + SLACK_NS };
  const fewer = host.changes.some(({ timeNs, gpus }) => gpus < 0 && within(timeNs, reach));
  if (fewer) return true;
  const placed = job.placement.some((gpu) => topology.gpus[gpu].host === host.host);
  if (!placed) return false;
  if (host.known) return drainOf(host, stopped) !== undefined;
  const before = { fromNs: context.window.fromNs, toNs: stopped.fromNs };
  return fellSilent(context, host.host, before, { fromNs: stopped.toNs, toNs: context.window.toNs }) === true;
}

function fellSilent(context: Context, host: number, before: Interval, after: Interval): boolean | null {
  const [usual, now] = [sentRate(context, host, before), sentRate(context, host, after)];
  return usual === null || now === null || usual === 0 ? null : now < SILENT_SHARE * usual;
}

function cameUp(
  context: Context,
  hosts: readonly number[],
  before: Interval,
  after: Interval,
): boolean | null {
  const known = hosts.flatMap((host) => fellSilent(context, host, after, before) ?? []);
  return known.length === 0 ? null : known.some(Boolean);
}

/** The host was dead around the time at which its ranks left. */
function wasLost(
  context: Context,
  { devices, links }: Observations,
  host: number,
  restarts: readonly Restart[],
): boolean {
  const reach = reachOf(restarts);
  if (answeredWithin(context, devices[host], reach) === 'no') return true;
  const { topology } = context;
  const itsLinks = topology.devices[host].ports.map((port) => links[topology.ports[port].link]);
  return (
    itsLinks.length > 0 && itsLinks.every(({ episodes }) => episodes.some((span) => overlaps(span, reach)))
  );
}

function candidatesOf(context: Context, leaving: Leaving): Candidate[] {
  const { host, restarts, drained, ranksLeft, newHosts, bytesGone, bytesCame } = leaving;
  const fromNs = drained?.fromNs ?? restarts[0].stopped.fromNs;
  const during = { fromNs, toNs: Math.max(...restarts.map(({ stopped }) => stopped.toNs)) };
  return HYPOTHESES.map((hypothesis): Candidate => ({
    hypothesis,
    element: elementRef(deviceId(context.deviceName(host))),
    direction: 'both',
    covers: [`placement ${host}`],
    links: [],
    device: host,
    findings: [
      { signature: 'job-restarts', outcome: 'present' },
      { signature: 'host-drained', outcome: outcome(drained === undefined ? null : drained !== null) },
      { signature: 'ranks-left', outcome: outcome(ranksLeft) },
      {
        signature: 'ranks-came-elsewhere',
        outcome: outcome(ranksLeft === null ? null : newHosts.length > 0),
      },
      { signature: 'bytes-left-with-them', outcome: outcome(bytesGone) },
      { signature: 'bytes-came-elsewhere', outcome: outcome(bytesCame) },
    ],
    during,
    onsetNs: fromNs <= context.window.fromNs ? null : fromNs,
  }));
}

const leavingOf = (context: Context, { device }: Explanation): Leaving | undefined =>
  context.once(observeLeavings).find(({ host }) => host === device);

function cause(context: Context, culprit: Explanation): string {
  const leaving = leavingOf(context, culprit);
  if (leaving === undefined) return `was left by its ranks ${when(culprit)}`;
  const { drained, restarts, newHosts } = leaving;
  const what = drained ? `was drained ${when(culprit)} and left by` : `was left ${when(culprit)} by`;
  const where =
    newHosts.length === 0 ? '' : ` on ${listed(newHosts.map((host) => context.deviceName(host)))}`;
  const jobs = restarts.map(({ job, stopped, resumed }) =>
    resumed
      ? `${job.name}, which stood still from ${time(stopped.fromNs)} s to ${time(stopped.toNs)} s and then trained again${where}`
      : `${job.name}, which has stood still from ${time(stopped.fromNs)} s and waits for a host`,
  );
  return `${what} ${listed(jobs)}`;
}

function reason(context: Context, culprit: Explanation): string {
  const { restarts = [], drained } = leavingOf(context, culprit) ?? {};
  const back = restarts.map(({ job, redoneSteps, fromStep }) =>
    redoneSteps > 0
      ? `The step counter of ${job.name} went back by ${redoneSteps} to the checkpoint at step ${fromStep}.`
      : fromStep === null
        ? ''
        : `${job.name} lost no finished step: it went on from step ${fromStep}.`,
  );
  const why = drained ? 'Nothing is broken there: the scheduler was told to empty the host.' : '';
  return [...back, why].filter((sentence) => sentence !== '').join(' ');
}

function series(context: Context, culprit: Explanation): (Series | undefined)[] {
  const leaving = leavingOf(context, culprit);
  if (leaving === undefined) return [];
  const { topology } = context;
  const firstPort = (host: number): string => portId(topology.ports[topology.devices[host].ports[0]].name);
  return [
    context.readDevice('host_drained', leaving.host),
    ...[leaving.host, ...leaving.newHosts].flatMap((host) => [
      context.readDevice('host_allocated_gpus', host),
      context.read('port_tx_bytes', firstPort(host)),
    ]),
    ...leaving.restarts.flatMap(({ job }) => [
      context.read('job_restarts', jobId(job.name)),
      context.read('job_redone_steps', jobId(job.name)),
    ]),
  ];
}

/** Where the ranks went. */
function steps(context: Context, culprit: Explanation): ChainStep[] {
  const moves = context.once(observeHostMoves);
  return (leavingOf(context, culprit)?.newHosts ?? []).flatMap((host) => {
    const came = moves.find((one) => one.host === host)?.changes.find(({ gpus }) => gpus > 0);
    if (came === undefined) return [];
    return [
      {
        element: elementRef(deviceId(context.deviceName(host))),
        claim: `was given ranks on ${number(came.gpus)} GPUs`,
        onset_s: seconds(came.timeNs),
      },
    ];
  });
}

/** It lives. */
function rivals(context: Context, observations: Observations, culprit: Explanation): RuledOut[] {
  const host = culprit.device ?? 0;
  if (answeredWithin(context, observations.devices[host], culprit.during) !== 'yes') return [];
  const why = 'it answered all its polls while its ranks left, and its ports stayed up';
  return [{ kind: 'node-down', element: culprit.element, why }];
}
