/**
 * Whose fault the lost GPU time is: each slow interval goes to the culprits that were at work when it was lost.
 *
 * Slow steps that follow each other are one run, so that after-effects (retransmission timers, a late failback) stay
 * with their cause; a step that ended before the onset is nobody's. When several culprits share a run they split it
 * by the time they overlap with it, culprits on the job's own paths counting ten times as much.
 */
import type { Context, Interval } from './series/context.js';
import { AFTER_STEPS } from './features/jobs/job-loss.js';
import type { JobLoss, LossInterval } from './features/jobs/job-loss.js';
import { hostPortsBelow, jobUses } from './features/links/reach.js';
import type { Explanation } from './explanation.js';

export interface Attribution {
  /** Share of all GPU time lost, per culprit; null when nothing was lost or steps are not known. */
  shares: (number | null)[];
  /** GPU time lost in the window, ns summed over GPUs. */
  lostGpuNs: number;
  /** Share of the GPU time of all jobs that was lost; null when steps are not known. */
  lossRatio: number | null;
  /** A job told steps, and too few of them were free of the culprits to know its pace without them. */
  isPaceUnproven: boolean;
  /** Per culprit, its own part of each job's loss: the intervals it had a hand in, and the time it is blamed for. */
  affected: JobLoss[][];
}

const OFF_PATH_WEIGHT = 0.1;

export function attribute(
  context: Context,
  culprits: readonly Explanation[],
  losses: readonly JobLoss[],
): Attribution {
  const known = losses.filter((loss) => loss.normalStepNs !== null);
  const lostGpuNs = known.reduce((sum, loss) => sum + loss.lostNs * loss.gpus, 0);
  const windowNs = context.window.toNs - context.window.fromNs;
  const gpuNs = known.reduce((sum, loss) => sum + loss.gpus * windowNs, 0);
  const blamed = culprits.map(() => 0);
  const affected: JobLoss[][] = culprits.map(() => []);
  const below = culprits.map((culprit) => hostPortsOf(context, culprit));
  for (const loss of known) {
    const onPath = below.map((ports) => jobUses(context.topology, loss.job, ports));
    const parts = splitLoss(context, culprits, loss, onPath);
    parts.forEach((part, index) => {
      blamed[index] += part.lostNs * loss.gpus;
      if (part.lostNs > 0) affected[index].push(ownPart(loss, part));
    });
  }
  return {
    shares: blamed.map((ns) => (lostGpuNs > 0 ? Number(Math.min(1, ns / lostGpuNs).toPrecision(6)) : null)),
    lostGpuNs,
    lossRatio: gpuNs > 0 ? lostGpuNs / gpuNs : null,
    isPaceUnproven: known.some((loss) => !loss.isNormalProven),
    affected,
  };
}

interface Part {
  lostNs: number;
  losses: LossInterval[];
}

/** What one culprit did to a job, in the shape of the whole. */
function ownPart(loss: JobLoss, { lostNs, losses }: Part): JobLoss {
  const died = losses.some(({ fromNs }) => fromNs === loss.diedNs);
  const longest = Math.max(...losses.map((interval) => interval.lostNs));
  return {
    ...loss,
    lostNs,
    losses,
    slowestStepNs: longest + (loss.normalStepNs ?? 0),
    diedNs: died ? loss.diedNs : null,
    restarts: loss.restarts.filter(({ stopped }) =>
      losses.some(({ fromNs, toNs }) => stopped.fromNs < toNs && stopped.toNs > fromNs),
    ),
  };
}

function hostPortsOf(context: Context, { nic, device, links, reach }: Explanation): Set<number> {
  const { topology } = context;
  if (reach !== undefined) return new Set(reach);
  if (nic !== undefined) return new Set(topology.nics[nic].ports);
  if (device !== undefined) return hostPortsBelow(topology, device);
  const [lower] = context.endsOf(topology.links[links[0]]);
  // The lower end of a host's link is a port of its NIC, and no other port of that host uses the link.
  if (topology.ports[lower].nic >= 0) return new Set([lower]);
  return hostPortsBelow(topology, topology.ports[lower].device);
}

function splitLoss(
  context: Context,
  culprits: readonly Explanation[],
  loss: JobLoss,
  onPath: readonly boolean[],
): Part[] {
  const parts = culprits.map((): Part => ({ lostNs: 0, losses: [] }));
  const graceNs = AFTER_STEPS * (loss.normalStepNs ?? 0);
  for (const run of runsOf(loss.losses)) {
    const whole: Interval = { fromNs: run[0].fromNs, toNs: run[run.length - 1].toNs };
    const weights = culprits.map((culprit, index) => {
      const shared = sharedNs(whole, { ...culprit.during, toNs: culprit.during.toNs + graceNs });
      return shared * (onPath[index] ? 1 : OFF_PATH_WEIGHT);
    });
    for (const interval of run) {
      const present = weights.map((weight, index) =>
        interval.toNs > (culprits[index].onsetNs ?? context.window.fromNs) ? weight : 0,
      );
      const total = present.reduce((sum, weight) => sum + weight, 0);
      if (total === 0) continue;
      present.forEach((weight, index) => {
        if (weight === 0) return;
        parts[index].lostNs += (interval.lostNs * weight) / total;
        parts[index].losses.push(interval);
      });
    }
  }
  return parts;
}

/** Losses that follow each other without a normal step in between. */
function runsOf(losses: readonly LossInterval[]): LossInterval[][] {
  const runs: LossInterval[][] = [];
  for (const interval of losses) {
    const last = runs.at(-1);
    if (last !== undefined && interval.fromNs <= last[last.length - 1].toNs) last.push(interval);
    else runs.push([interval]);
  }
  return runs;
}

const sharedNs = (one: Interval, other: Interval): number =>
  Math.max(0, Math.min(one.toNs, other.toNs) - Math.max(one.fromNs, other.fromNs));
