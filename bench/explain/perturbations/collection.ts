/**
 * Collection that is not perfect: targets that are not read for a while, values that stand, counters that begin again.
 *
 * A scrape that takes longer than its limit is a silent gap, seen on 5 to 35 % of targets at once (dcgm-exporter #607);
 * a restarted agent counts from 0; one sensor in a thousand tells the same for ever.
 */
import { edited, isCounter, isPolled, notAvailable, tellerOf, withSamples, withValues } from './edits.js';
import { uniform, type Perturbation } from './perturbation.js';

const GAP = { leastShare: 0.05, mostShare: 0.35, lengthNs: 10e9 };

export const COLLECTION: readonly Perturbation[] = [
  {
    name: 'scrape-gap',
    what: '5 to 35 % of targets are not read for 10 s',
    apply: ({ evidence }, seed) => {
      const share = GAP.leastShare + (GAP.mostShare - GAP.leastShare) * uniform(seed, 'share');
      const spanNs = evidence.toNs - evidence.fromNs;
      const fromNs = evidence.fromNs + (spanNs - GAP.lengthNs) * uniform(seed, 'when');
      return {
        evidence: edited(evidence, (series) => {
          const teller = tellerOf(series);
          if (teller === '' || !isPolled(series) || uniform(seed, 'gap', teller) >= share) return series;
          return withSamples(series, (timeNs) => timeNs < fromNs || timeNs > fromNs + GAP.lengthNs);
        }),
      };
    },
  },
  {
    name: 'blanks',
    what: 'one series in a hundred is N/A all the time',
    apply: ({ evidence }, seed) => ({
      evidence: edited(evidence, (series) =>
        isPolled(series) && uniform(seed, series.metric, series.element) < 0.01
          ? notAvailable(series, evidence.fromNs, evidence.toNs)
          : series,
      ),
    }),
  },
  {
    name: 'counters-begin-again',
    what: 'the counters of one device in ten fall to 0 once',
    apply: ({ topology, evidence }, seed) => {
      const names = topology.devices.map(({ name }) => name);
      const chosen = new Set(names.filter((name) => uniform(seed, 'reset', name) < 0.1));
      const atNs = evidence.fromNs + (evidence.toNs - evidence.fromNs) * (0.1 + 0.8 * uniform(seed, 'when'));
      return {
        evidence: edited(evidence, (series) => {
          if (!isCounter(series) || !chosen.has(tellerOf(series))) return series;
          const last = series.timesNs.findLastIndex((timeNs) => timeNs < atNs);
          const start = last < 0 ? 0 : series.values[last];
          // a counter that begins again has counted for long
          const life = series.metric.endsWith('_bytes') ? 1e14 : 1e5;
          return withValues(series, (old, timeNs) => (timeNs < atNs ? old + life : Math.max(0, old - start)));
        }),
      };
    },
  },
  {
    name: 'stuck-sensors',
    what: 'one optic reading in a hundred tells the same for ever',
    apply: ({ evidence }, seed) => ({
      evidence: edited(evidence, (series) =>
        series.metric.startsWith('optic_') && uniform(seed, series.metric, series.element) < 0.01
          ? withValues(series, () => series.values[0])
          : series,
      ),
    }),
  },
];
