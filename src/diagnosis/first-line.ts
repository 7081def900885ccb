/**
 * What an operator asks first: network, host, job, storage, or can't it be told; then what changed, who is hit, whether
 * it is still on, and what to do next.
 */
import type { Attribution } from './attribution.js';
import type { Coverage } from './coverage.js';
import type { Explanation } from './explanation.js';
import { observeWork } from './features/jobs/work-done.js';
import { familyOf } from './hypotheses/catalog.js';
import { ADVICE } from './next-steps.js';
import type { Context } from './series/context.js';
import { freshColumn } from './series/samples.js';
import type { Area, FirstLine } from './verdict.js';
import { listed, nameOf, percent, time } from './wording.js';

const AREA_NAMES: Readonly<Record<Area, string>> = {
  network: 'Network',
  host: 'Host',
  job: 'Job',
  storage: 'Storage',
  none: 'Nothing lost',
  unknown: "Can't tell",
};

/** Never certain, and rounded, so that sums in another order read the same. */
const chance = (probability: number): number =>
  Number(Math.min(0.999, Math.max(0.001, probability)).toPrecision(3));

const lineOf = (area: Area, probability: number, parts: readonly string[], next: string): string =>
  `${AREA_NAMES[area]} (${percentOf(probability)}): ${parts.join('; ')}. Next: ${next}.`;

const percentOf = (probability: number): string =>
  probability > 0.99 ? `${Number((100 * probability).toPrecision(3))} %` : percent(probability);

/** A dead host is the host's. */
function areaOf(context: Context, { hypothesis, device }: Explanation): Area {
  if (hypothesis === 'node-down/device' && device !== undefined) {
    return context.topology.devices[device].role === 'host' ? 'host' : 'network';
  }
  return ADVICE[hypothesis].area;
}

/** @param culprits in their order; `affected` and `shares` of the attribution in the same */
export function firstLineFound(
  context: Context,
  culprits: readonly Explanation[],
  attribution: Attribution,
): FirstLine {
  const [first] = culprits;
  const area = areaOf(context, first);
  const weights = culprits.map((_, index) => attribution.shares[index] ?? 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const own = culprits.reduce(
    (sum, culprit, index) =>
      areaOf(context, culprit) === area ? sum + culprit.probability * weights[index] : sum,
    0,
  );
  const probability = chance(total > 0 ? own / total : first.probability);
  const last = culprits.find((culprit) => isOngoing(context, culprit));
  const ongoing = last !== undefined;
  const { next } = ADVICE[first.hypothesis];
  const more = culprits.length === 1 ? '' : `, and ${culprits.length - 1} more`;
  const jobs = [...new Set(attribution.affected.flat().map(({ job }) => job.name))];
  const endNs = Math.max(...culprits.map(({ during }) => during.toNs));
  const parts = [
    `${nameOf(context, first)} ${familyOf(first).cause(context, first)}${more}`,
    jobs.length === 0 ? 'whom it slows is not known' : `slows ${listed(jobs)}`,
    ongoing ? 'still on' : `over since ${time(endNs)} s`,
  ];
  return { area, probability, ongoing, next, text: lineOf(area, probability, parts, next) };
}

/** What its own series show last is still the trouble; the window may end before the next poll. */
function isOngoing(context: Context, culprit: Explanation): boolean {
  const lastNs = familyOf(culprit)
    .series(context, culprit)
    .map((series) => freshColumn(series))
    .reduce(
      (latest, { count, timesNs }) => Math.max(latest, count === 0 ? -Infinity : timesNs[count - 1]),
      0,
    );
  return culprit.during.toNs >= Math.min(context.window.toNs, Math.max(lastNs, context.window.fromNs));
}

export function firstLineNone(coverage: Coverage, doubt: number, odd: number): FirstLine {
  const probability = chance(Math.min(1, coverage.links) * (1 - doubt));
  const aside = odd === 0 ? [] : [`${odd} odd ${odd === 1 ? 'thing' : 'things'} cost nothing`];
  const next = odd === 0 ? 'nothing to do' : 'look at what is odd when there is time';
  const parts = ['no fault found', ...aside];
  return { area: 'none', probability, ongoing: null, next, text: lineOf('none', probability, parts, next) };
}

/** A share of the lost time from which on it is put down to one area. */
const MOSTLY = 0.8;

/** Time was lost, or may have been, and no element is to blame: the jobs themselves may tell that it was their work. */
export function firstLineUnknown(
  context: Context,
  attribution: Attribution,
  suspects: readonly Explanation[],
): FirstLine {
  const { work, storage, lostNs } = observeWork(context);
  const cost = attribution.lostGpuNs > 0;
  for (const [area, ns, what, next] of [
    ['job', work, 'steps take longer to compute on all ranks', 'ask the owner what the job does since then'],
    ['storage', storage, 'checkpoints take longer than before', 'look at the storage that is written to'],
  ] as const) {
    const share = lostNs === 0 ? 0 : ns / lostNs;
    if (!cost || share < MOSTLY) continue;
    const jobs = listed(context.jobs.map(({ name }) => name));
    const probability = chance(share * (1 - (suspects[0]?.probability ?? 0)));
    const text = lineOf(
      area,
      probability,
      [what, `slows ${jobs}`, 'nothing in the network accounts for it'],
      next,
    );
    return { area, probability, ongoing: null, next, text };
  }
  const nearest = suspects[0];
  const next =
    nearest === undefined
      ? 'get the missing telemetry and ask again'
      : `look closer at ${nameOf(context, nearest)}`;
  const probability = chance(1 - (nearest?.probability ?? 0));
  const parts = [cost ? 'time was lost and no element can be blamed' : 'the evidence does not suffice'];
  return {
    area: 'unknown',
    probability,
    ongoing: null,
    next,
    text: lineOf('unknown', probability, parts, next),
  };
}
