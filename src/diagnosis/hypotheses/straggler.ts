/**
 * A host that computes slower than its peers: a throttled GPU, or all of them. The network is innocent.
 *
 * Most slow jobs are slowed by a slow rank and not by the network (OSDI'25), and from outside both look alike: everybody
 * waits in a collective. Told by who does not wait: the slow rank computes longer than its peers and waits less, while
 * its peers compute as before. Network faults leave compute times alone.
 * Not modelled: work that is uneven by design; a host all of whose peers became slow with it.
 */
import { deviceId, elementRef, jobId, rankId } from '../../core/elements.js';
import type { Series } from '../../model/telemetry/series.js';
import { number, seconds } from '../series/change.js';
import { compareWithPeers, observeCompute } from '../features/jobs/compute.js';
import type { ComputeObservation, SlowRank } from '../features/jobs/compute.js';
import type { Context, Interval } from '../series/context.js';
import { freshSamples, samplesWithin } from '../series/samples.js';
import { median } from '../series/statistics.js';
import type { Explanation } from '../explanation.js';
import type { ChainStep, RuledOut } from '../verdict.js';
import { listed, since, until } from '../wording.js';
import { outcome } from './hypothesis.js';
import type { Candidate } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';

export const straggler: Family = {
  hypotheses: ['straggler/host'],
  hypothesise: (context) =>
    context
      .once(observeCompute)
      .flatMap((host) => (host.slow.length === 0 ? [] : [candidateOf(context, host)])),
  cause: (context, culprit) => {
    const ratio = number(Math.max(...slowRanks(context, culprit).map((slow) => slow.ratio)));
    return `took ${ratio} times as long as its peers to compute from ${since(culprit)} ${until(context, culprit)}`;
  },
  reason: (context, culprit) => {
    const slow = slowRanks(context, culprit);
    const names = [...new Set(slow.map(({ job }) => job))].map((job) => {
      const ranks = slow.filter((one) => one.job === job).map(({ rank }) => String(rank));
      return `${ranks.length > 1 ? 'ranks' : 'rank'} ${listed(ranks)} of ${job.name}`;
    });
    const gpus = slow.length > 1 ? 'GPUs are' : 'GPU is';
    return `The others waited for ${listed(names)}, whose ${gpus} slow; look at clocks, temperature and power there, not at the network.`;
  },
  series,
  steps,
  rivals,
};

function candidateOf(context: Context, { host, slow }: ComputeObservation): Candidate {
  const during = {
    fromNs: Math.min(...slow.map((one) => one.during.fromNs)),
    toNs: Math.max(...slow.map((one) => one.during.toNs)),
  };
  const past = slow.some(({ hadPast }) => hadPast);
  return {
    hypothesis: 'straggler/host',
    element: elementRef(deviceId(context.deviceName(host))),
    direction: 'both',
    covers: [`compute ${host}`],
    links: [],
    device: host,
    findings: [
      { signature: 'computes-longer-than-peers', outcome: 'present' },
      { signature: 'computed-as-fast-before', outcome: outcome(past ? true : null) },
      { signature: 'waits-less-than-peers', outcome: outcome(waitsLess(context, slow)) },
    ],
    during,
    onsetNs: past ? onsetOf(context, slow) : null,
  };
}

/** Ranks that wait for the slow ones are taken for the peers; at least a quarter of them must. */
const WAITING_SHARE = 0.75;

/** Whether slow ranks wait less than others in the polls in which they are slow; null when nobody told. */
function waitsLess(context: Context, slow: readonly SlowRank[]): boolean | null {
  const shares = [...new Set(slow.map(({ job }) => job))].flatMap((job) => {
    const own = slow.filter((one) => one.job === job);
    const ranks = own.map(({ rank }) => rank);
    const waits = compareWithPeers(context, job, ranks, 'rank_wait_time_s', WAITING_SHARE);
    return own.flatMap(({ firstSlowNs, during }, at) =>
      waits[at]
        .filter(({ timeNs }) => timeNs >= firstSlowNs && timeNs <= during.toNs)
        .map(({ value }) => value),
    );
  });
  return shares.length === 0 ? null : median(shares) < 1;
}

/** Amid the first step that took longer, which the polls on both sides of the change enclose; else amid these polls. */
function onsetOf(context: Context, slow: readonly SlowRank[]): number {
  const first = slow.reduce((one, other) => (other.firstSlowNs < one.firstSlowNs ? other : one));
  const bracket: Interval = { fromNs: first.during.fromNs, toNs: first.firstSlowNs };
  const steps = freshSamples(context.read('job_step_time_s', jobId(first.job.name)));
  const usual = median(steps.filter(({ timeNs }) => timeNs <= bracket.fromNs).map(({ value }) => value));
  const longer = steps.find(
    ({ timeNs, value }) => timeNs > bracket.fromNs && timeNs <= bracket.toNs && value > usual,
  );
  if (longer === undefined) return (bracket.fromNs + bracket.toNs) / 2;
  return Math.max(context.window.fromNs, longer.timeNs - (longer.value * 1e9) / 2);
}

const slowRanks = (context: Context, culprit: Explanation): SlowRank[] =>
  context.once(observeCompute).find(({ host }) => host === culprit.device)?.slow ?? [];

const MOST_RANKS = 3;

function series(context: Context, culprit: Explanation): (Series | undefined)[] {
  return slowRanks(context, culprit)
    .slice(0, MOST_RANKS)
    .flatMap(({ job, rank }) => [
      context.read('rank_compute_time_s', rankId(job.name, rank)),
      ...waiting(context, job.name, rank, job.placement.length),
    ]);
}

/** The rank's own wait, and that of a peer. */
function waiting(context: Context, job: string, rank: number, ranks: number): (Series | undefined)[] {
  const peer = (rank + Math.floor(ranks / 2)) % ranks;
  return [rank, peer].map((one) => context.read('rank_wait_time_s', rankId(job, one)));
}

function steps(context: Context, culprit: Explanation): ChainStep[] {
  return slowRanks(context, culprit)
    .slice(0, MOST_RANKS)
    .map(({ job, rank, ratio, firstSlowNs }) => ({
      element: elementRef(rankId(job.name, rank)),
      claim: `computed ${number(ratio)} times as long as its peers, which waited for it`,
      onset_s: seconds(firstSlowNs),
    }));
}

/** Its network links went on as before. */
function rivals(context: Context, observations: Observations, culprit: Explanation): RuledOut[] {
  const ports = context.topology.devices[culprit.device ?? 0].ports;
  return ports.slice(0, 1).flatMap((port): RuledOut[] => {
    const { link, ends, episodes } = observations.links[context.topology.ports[port].link];
    if (episodes.length > 0 || !ends.some((end) => end.statusKnown)) return [];
    const read = samplesWithin(context.readPort('port_tx_bytes', port), culprit.during).length > 0;
    const why = `its ports stayed up${read ? ' and went on sending' : ''}; the time was lost in computing`;
    return [{ kind: 'link-down', element: elementRef(link.id), why }];
  });
}
