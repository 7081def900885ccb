/**
 * The causal chain, from the symptom down to the cause: job ← edge ← route ← port ← link or device.
 *
 * Every step is something the evidence shows, with the time at which it began; a step without evidence is left out,
 * so that a thin chain looks thin.
 */
import { elementRef, jobId } from '../core/elements.js';
import { peerPort } from '../model/topology/model.js';
import { describeChange, number, seconds } from './series/change.js';
import type { Context } from './series/context.js';
import type { JobLoss } from './features/jobs/job-loss.js';
import type { Restart } from './features/jobs/restarts.js';
import { rises } from './series/samples.js';
import { overlaps } from './series/context.js';
import { stalledEdges } from './citations.js';
import type { Explanation } from './explanation.js';
import { familyOf } from './hypotheses/catalog.js';
import type { ChainStep } from './verdict.js';

export function chainOf(context: Context, culprit: Explanation, affected: readonly JobLoss[]): ChainStep[] {
  const family = familyOf(culprit);
  const causeStep: ChainStep = {
    element: culprit.element,
    claim: family.cause(context, culprit),
    onset_s: culprit.onsetNs === null ? null : seconds(culprit.onsetNs),
  };
  return [
    ...affected.map((loss) => jobStep(loss, culprit)),
    ...edgeSteps(context, culprit, affected),
    ...routeSteps(context, culprit),
    ...family.steps(context, culprit),
    causeStep,
  ];
}

function jobStep(loss: JobLoss, culprit: Explanation): ChainStep {
  const first = loss.losses.find((interval) => interval.toNs > (culprit.onsetNs ?? -Infinity));
  const normal = number((loss.normalStepNs ?? 0) / 1e9);
  const [restart] = loss.restarts;
  const claim =
    loss.diedNs !== null
      ? `the job died at ${number(seconds(loss.diedNs))} s, after steps of ${normal} s`
      : restart !== undefined
        ? restartClaim(restart)
        : `steps of ${normal} s took up to ${number((loss.slowestStepNs ?? 0) / 1e9)} s`;
  return {
    element: elementRef(jobId(loss.job.name)),
    claim,
    onset_s: first === undefined ? null : seconds(Math.max(first.fromNs, culprit.onsetNs ?? first.fromNs)),
  };
}

function restartClaim({ stopped, resumed, redoneSteps }: Restart): string {
  const stop = `the job was stopped at ${number(seconds(stopped.fromNs))} s`;
  if (!resumed) return `${stop} and waits for its processes`;
  const again = redoneSteps === 0 ? '' : `, with ${redoneSteps} steps to do again`;
  return `${stop} and trained again from ${number(seconds(stopped.toNs))} s${again}`;
}

function edgeSteps(context: Context, culprit: Explanation, affected: readonly JobLoss[]): ChainStep[] {
  return stalledEdges(context, culprit.during, affected)
    .slice(0, 1)
    .map((series) => {
      const stalls = rises(series).filter((step) => overlaps(step, culprit.during));
      const stalledS = stalls.reduce((sum, step) => sum + step.gain, 0);
      return {
        element: elementRef(series.element),
        claim: `had data to send and nothing was acknowledged for ${number(stalledS)} s`,
        onset_s: seconds(Math.max(stalls[0].fromNs, stalls[0].toNs - stalls[0].gain * 1e9)),
      };
    });
}

/** Switches next to the cause that took it out of their routes. */
function routeSteps(context: Context, culprit: Explanation): ChainStep[] {
  const devices = new Set(
    nearPorts(context, culprit)
      .map((port) => context.topology.ports[port].device)
      .filter((device) => context.topology.devices[device].role === 'switch'),
  );
  return [...devices].slice(0, 2).flatMap((device) => {
    const series = context.readDevice('route_next_hops', device);
    const change = describeChange(context, series, culprit.during);
    if (series === undefined || change === null) return [];
    const moved = series.timesNs.find((timeNs) => timeNs >= culprit.during.fromNs);
    return [
      {
        element: elementRef(series.element),
        claim: `installed routes changed: ${change.text}`,
        onset_s: moved === undefined ? null : seconds(moved),
      },
    ];
  });
}

/** The ports at both ends of a link or of a NIC's links, or the neighbours' ports of a device. */
function nearPorts(context: Context, { element, links, device }: Explanation): number[] {
  const { topology } = context;
  if (element.type === 'device' && device !== undefined) {
    return topology.devices[device].ports.map((port) => peerPort(topology, port));
  }
  return links.flatMap((link) => context.endsOf(topology.links[link]));
}
