/** Less than everything is watched: one side only, seldom, or from when it was already wrong. */
import type { DiagnosisInput } from '../../../src/diagnosis/index.js';
import { windowOf } from '../../../src/model/telemetry/window.js';
import { edited, isPolled, withSamples } from './edits.js';
import type { Perturbation } from './perturbation.js';

/** The training's own software, and what it tells of connections. */
const isOfJobs = (element: string): boolean => /^(job|rank|edge):/.test(element);

/** Every nth poll, as a poll so many times slower would have seen it. */
function thinned({ evidence }: DiagnosisInput, intervalNs: number) {
  return {
    evidence: edited(evidence, (series) => {
      if (!isPolled(series) || series.timesNs.length < 2) return series;
      let nextNs = -Infinity;
      return withSamples(series, (timeNs) => {
        if (timeNs < nextNs) return false;
        nextNs = timeNs + 0.95 * intervalNs;
        return true;
      });
    }),
  };
}

export const VIEWS: readonly Perturbation[] = [
  {
    name: 'fabric-only',
    what: "only the fabric's telemetry",
    apply: ({ evidence }) => ({
      evidence: edited(evidence, (series) => (isOfJobs(series.element) ? undefined : series)),
    }),
  },
  {
    name: 'jobs-only',
    what: "only the jobs' telemetry",
    apply: ({ evidence }) => ({
      evidence: edited(evidence, (series) => (isOfJobs(series.element) ? series : undefined)),
    }),
  },
  { name: 'polls-10s', what: 'polls every 10 s', apply: (world) => thinned(world, 10e9) },
  {
    name: 'no-past',
    what: 'watched from 18 s on, when the fault is there already',
    apply: ({ evidence }) => ({ evidence: windowOf(evidence, 18e9, evidence.toNs) }),
  },
];
