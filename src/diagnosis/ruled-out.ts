/**
 * What else it could have been, and which observation speaks against it.
 *
 * Only alternatives with an observation against them are listed; one that merely lacks evidence is not ruled out.
 */
import { deviceId, elementRef } from '../kernel/elements.js';
import { answeredWithin } from './features/device-observation.js';
import type { Context } from './features/context.js';
import { number } from './features/change.js';
import type { JobLoss } from './features/job-loss.js';
import { jobId } from '../kernel/elements.js';
import { samplesWithin } from './features/samples.js';
import { median } from './features/statistics.js';
import type { Observations } from './hypotheses/hypothesis.js';
import type { Outcome, Signature } from './likelihoods.js';
import type { Explanation } from './rank.js';
import type { RuledOut } from './verdict.js';

export function outcomeOf(culprit: Explanation, signature: Signature): Outcome {
  return culprit.findings.find((finding) => finding.signature === signature)?.outcome ?? 'unknown';
}

export function ruledOut(
  context: Context,
  observations: Observations,
  culprit: Explanation,
  affected: readonly JobLoss[],
): RuledOut[] {
  const own =
    culprit.device === undefined
      ? [...againstDevices(context, observations, culprit), ...againstLinkKinds(culprit)]
      : againstSingleLinks(context, observations, culprit);
  return [...own, ...affected.flatMap((loss) => againstStraggler(context, loss, culprit) ?? [])];
}

/** The devices at both ends live on. */
function againstDevices(context: Context, observations: Observations, culprit: Explanation): RuledOut[] {
  const link = observations.links[culprit.links[0]];
  return link.ends.flatMap(({ device }) => {
    const answered = answeredWithin(context, observations.devices[device], culprit.during);
    if (answered !== 'yes') return [];
    const others = context.topology.devices[device].ports
      .map((port) => observations.links[context.topology.ports[port].link])
      .filter((other) => other !== link && other.ends.some((end) => end.statusKnown));
    const up = others.filter((other) => other.episodes.length === 0).length;
    const rest = others.length === 0 ? '' : ` and ${up} of its ${others.length} other links stayed up`;
    const element = elementRef(deviceId(context.deviceName(device)));
    return [{ kind: 'node-down' as const, element, why: `it answered its polls throughout${rest}` }];
  });
}

interface Alternative {
  kind: RuledOut['kind'];
  signature: Signature;
  speaksAgainst: Outcome;
  why: string;
}

const LINK_ALTERNATIVES: readonly Alternative[] = [
  {
    kind: 'link-flap',
    signature: 'down-repeatedly',
    speaksAgainst: 'absent',
    why: 'it went down once, not again and again',
  },
  {
    kind: 'link-down',
    signature: 'down-repeatedly',
    speaksAgainst: 'present',
    why: 'it came back and went down again several times',
  },
  {
    kind: 'one-way-loss',
    signature: 'both-ends-down',
    speaksAgainst: 'present',
    why: 'both ends reported the port down, so neither direction worked',
  },
  {
    kind: 'link-down',
    signature: 'status-down',
    speaksAgainst: 'absent',
    why: 'both ends kept reporting the port up',
  },
];

function againstLinkKinds(culprit: Explanation): RuledOut[] {
  return LINK_ALTERNATIVES.filter(
    ({ kind, signature, speaksAgainst }) =>
      kind !== culprit.kind && outcomeOf(culprit, signature) === speaksAgainst,
  ).map(({ kind, why }) => ({ kind, element: culprit.element, why }));
}

function againstSingleLinks(context: Context, observations: Observations, culprit: Explanation): RuledOut[] {
  const down = culprit.findings.filter(
    ({ signature, outcome }) => signature === 'status-down' && outcome === 'present',
  );
  if (down.length < 2) return [];
  const first = observations.links[down[0].link ?? culprit.links[0]].link;
  const name = context.deviceName(culprit.device ?? 0);
  return [
    {
      kind: 'link-down',
      element: elementRef(first.id),
      why: `${down.length} of the ${culprit.links.length} links of ${name} went down together, so it is not this link alone`,
    },
  ];
}

const SAME_COMPUTE = 0.1;

/** A slow GPU would make the computing part of a step longer; the network makes the waiting part longer. */
function againstStraggler(context: Context, { job }: JobLoss, culprit: Explanation): RuledOut | null {
  const element = jobId(job.name);
  const onsetNs = culprit.onsetNs ?? culprit.during.fromNs;
  const before = computeTimes(context, element, context.window.fromNs, onsetNs);
  const after = computeTimes(context, element, onsetNs, culprit.during.toNs);
  if (before.length === 0 || after.length === 0) return null;
  const [was, is] = [median(before), median(after)];
  if (is > was * (1 + SAME_COMPUTE)) return null;
  return {
    kind: 'straggler',
    element: elementRef(element),
    why: `GPUs computed ${number(was)} s a step before and ${number(is)} s during the fault: they waited, they were not slow`,
  };
}

/** Time GPUs computed, step by step, from step time and utilisation told at the same instant. */
function computeTimes(context: Context, element: string, fromNs: number, toNs: number): number[] {
  const reach = { fromNs, toNs };
  const utilisation = new Map(
    samplesWithin(context.read('job_gpu_utilisation', element), reach).map(({ timeNs, value }) => [
      timeNs,
      value,
    ]),
  );
  return samplesWithin(context.read('job_step_time_s', element), reach).flatMap(({ timeNs, value }) => {
    const share = utilisation.get(timeNs);
    return share === undefined ? [] : [share * value];
  });
}
