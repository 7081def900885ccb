/** Recovery: figures that follow from the story, censoring, honest nulls, and a bounded, monotone score. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jobId, portId } from '../../core/elements.js';
import { QUALITY } from '../../model/telemetry/series.js';
import { carriedJobBytes } from '../measures/link-traffic.js';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import { recoveryScore, scoreRecovery } from './recovery.js';
import type { RecoveryFigures } from './recovery.js';
import { SCORE_METRICS } from '../scorecard.js';
import {
  INJECTED_S,
  LEAF_PORT,
  LINK,
  REVERTED_S,
  SPINE_PORT,
  STORY,
  drill,
  evidenceOf,
  topology,
  truth,
} from '../testing/synthetic-drill.js';

const without = (input: ReturnType<typeof drill>, drop: (metric: string, element: string) => boolean) => ({
  ...input,
  evidence: {
    ...input.evidence,
    series: input.evidence.series.filter(({ metric, element }) => !drop(metric, element)),
  },
});

describe('recovery of a cut uplink', () => {
  // One step is caught by the stall: 0.5 s of work in 2 s, so 1.5 s are lost of 40 s watched.
  const { score, metrics } = scoreRecovery(drill());

  it('publishes exactly the metrics of the interface', () => {
    expect(Object.keys(metrics)).toEqual([...SCORE_METRICS.recovery]);
  });

  it('finds the first sign, the reroute within a poll, the recovery at the step end and the failback', () => {
    expect(metrics.time_to_detect_s).toBeCloseTo(0.01, 9);
    // Traffic is back after 1.5 s; the first poll interval that is wholly good starts at 2 s.
    expect(metrics.time_to_reroute_s).toBeCloseTo(2, 9);
    expect(metrics.time_to_recover_s).toBeCloseTo(2, 9);
    expect(metrics.recovered).toBe(true);
    expect(metrics.failback_s).toBeCloseTo(2, 9);
    expect(metrics.failed_back).toBe(true);
  });

  it('counts the lost time of the exposed job and of all jobs', () => {
    expect(metrics.resilience_loss).toBeCloseTo(1.5 / 40, 9);
    expect(metrics.lost_gpu_hours).toBeCloseTo((4 * 1.5) / 3600, 9);
    expect(metrics.ettr).toBeCloseTo(1 - (4 * 1.5) / (8 * 40), 9);
    expect(metrics.redone_steps).toBe(0);
  });

  it('gives the score of the published formula', () => {
    const share = 0.4 * 2 ** (-2 / 30) + 0.2 * 2 ** (-2 / 30) + 0.2 * (1 - 1.5 / 40) + 0.2 * (1 - 6 / 320);
    expect(score).toBeCloseTo(100 * share, 6);
  });
});

describe('time to reroute', () => {
  const losing = (lostS: (timeS: number) => boolean): ReturnType<typeof drill> => {
    const input = drill();
    const series = input.evidence.series.map((one) => {
      if (!one.metric.startsWith('port_') || !one.metric.endsWith('_bytes')) return one;
      const kept = [...one.timesNs.keys()].filter((at) => !lostS(one.timesNs[at] / 1e9));
      const { metric, element } = one;
      return {
        metric,
        element,
        timesNs: Float64Array.from(kept, (at) => one.timesNs[at]),
        values: Float64Array.from(kept, (at) => one.values[at]),
        quality: Uint8Array.from(kept, (at) => one.quality[at]),
      };
    });
    return { ...input, evidence: { ...input.evidence, series } };
  };

  it('is not known, instead of longer, where polls were lost before it', () => {
    const reroute = (input: ReturnType<typeof drill>) => scoreRecovery(input).metrics.time_to_reroute_s;
    expect(reroute(losing(() => false))).toBeCloseTo(2, 9);
    expect(reroute(losing((timeS) => timeS === 21))).toBeNull();
    expect(reroute(losing((timeS) => timeS >= 21 && timeS <= 26))).toBeNull();
    // what is lost once all has settled hides nothing
    expect(reroute(losing((timeS) => timeS === 35))).toBeCloseTo(2, 9);
  });

  it('is never before the last route has left the dead link, however short the gap in the bytes', () => {
    const input = drill({ exposedStallS: 0 });
    expect(scoreRecovery(input).metrics.time_to_reroute_s).toBeCloseTo(0.2, 9);
    const unlogged = without(input, (metric) => metric === 'route_port_prefixes');
    expect(scoreRecovery(unlogged).metrics.time_to_reroute_s).toBe(0);
  });

  it('is not known when traffic never settles on the siblings', () => {
    expect(scoreRecovery(drill({ exposedStallS: 100 })).metrics.time_to_reroute_s).toBeNull();
  });
});

describe('recovery that did not happen', () => {
  it('is censored when a job dies: not recovered, no time, no failback', () => {
    const { score, metrics } = scoreRecovery(drill({ exposedDiesS: 25, exposedStallS: 100 }));
    expect(metrics).toMatchObject({
      recovered: false,
      time_to_recover_s: null,
      failed_back: false,
      failback_s: null,
    });
    // Steps were on time until 20 s; what was begun then was never finished.
    expect(metrics.resilience_loss).toBeCloseTo(1, 9);
    expect(score).toBeLessThan(20);
  });

  it('gives an unfinished step the benefit of its bound and no more', () => {
    const { metrics } = scoreRecovery(drill({ exposedStallS: 100 }));
    expect(metrics.recovered).toBe(false);
    expect(metrics.resilience_loss).toBeCloseTo(1 - 0.5 / 40, 9);
  });

  it('is told apart from a slower pace that lasts', () => {
    const { metrics } = scoreRecovery(drill({ slowdown: 1.25 }));
    expect(metrics.recovered).toBe(false);
    expect(metrics.failed_back).toBe(false);
    expect(metrics.resilience_loss).toBeGreaterThan(0.2);
  });

  it('counts the steps that a restart repeats, on top of the time it took', () => {
    const calm = scoreRecovery(drill()).metrics;
    const { metrics } = scoreRecovery(drill({ restart: { atS: 30, stepsBack: 10 } }));
    expect(metrics.redone_steps).toBe(10 - 1);
    expect(metrics.lost_gpu_hours as number).toBeGreaterThan(
      (calm.lost_gpu_hours as number) + (4 * 9 * 0.5) / 3600,
    );
  });
});

/** The drill as polls see it that fall into computation now and then: half of the traffic in every third interval. */
function beating(story: typeof STORY): ReturnType<typeof drill> {
  const evidence = evidenceOf(story);
  for (const { metric, values } of evidence.series) {
    if (!/^port_.x_bytes$/.test(metric)) continue;
    const before = values.slice();
    for (let at = 1, kept = before[0]; at < values.length; at++) {
      kept += (before[at] - before[at - 1]) * (at % 3 === 0 ? 0.5 : 1);
      values[at] = kept;
    }
  }
  return { ...drill(), evidence };
}

describe('failback', () => {
  it('is false when pace is back but the link carries nothing and a next hop is missing', () => {
    const { metrics } = scoreRecovery(drill({ failbackS: null }));
    expect(metrics).toMatchObject({ recovered: true, failed_back: false, failback_s: null });
  });

  it('rests on next hops alone where no bytes are counted, and the other way round', () => {
    const input = drill();
    expect(scoreRecovery(without(input, (metric) => /_bytes$/.test(metric))).metrics.failed_back).toBe(true);
    expect(scoreRecovery(without(input, (metric) => /^route_/.test(metric))).metrics.failed_back).toBe(true);
    const stale = drill({ failbackS: null });
    expect(scoreRecovery(without(stale, (metric) => /_bytes$/.test(metric))).metrics.failed_back).toBe(false);
    expect(scoreRecovery(without(stale, (metric) => /^route_/.test(metric))).metrics.failed_back).toBe(false);
  });

  it('is true though polls scatter by half, as where steps and polls are not in step', () => {
    expect(scoreRecovery(beating(STORY)).metrics).toMatchObject({ failed_back: true });
    expect(scoreRecovery(beating({ ...STORY, failbackS: null })).metrics.failed_back).toBe(false);
  });

  it('is not known from pace alone, nor when the watch ends right after the repair', () => {
    const blind = without(drill(), (metric) => /^route_|_bytes$/.test(metric));
    expect(scoreRecovery(blind).metrics.failed_back).toBeNull();
    expect(scoreRecovery(blind).score).toBeNull();
    expect(scoreRecovery(drill({}, { endNs: (REVERTED_S + 1) * 1e9 })).metrics.failed_back).toBeNull();
  });
});

describe('what can not be known', () => {
  it('is null without a step log, and never a good score', () => {
    const { score, metrics } = scoreRecovery(without(drill(), (metric) => metric === 'job_steps'));
    expect(score).toBeNull();
    for (const name of [
      'time_to_recover_s',
      'recovered',
      'resilience_loss',
      'lost_gpu_hours',
      'ettr',
      'redone_steps',
    ]) {
      expect(metrics[name]).toBeNull();
    }
  });

  it('is null when the last word on the steps is N/A: silence is no stall', () => {
    const evidence = evidenceOf({ ...STORY, exposedStallS: 100 }, (writer) =>
      writer.add('job_steps', jobId('exposed'), 30, NaN, QUALITY.notAvailable),
    );
    expect(scoreRecovery(drill({}, { evidence })).metrics.recovered).toBeNull();
  });

  it('is the time to reroute of a host link, which has no sibling', () => {
    const host = topology.links.find(({ tier }) => tier === 'host-leaf')!;
    const entry = { ...truth, elements: [{ type: 'link' as const, id: host.id }] };
    expect(scoreRecovery(drill({}, { truth: [entry] })).metrics.time_to_reroute_s).toBeNull();
  });

  it('is every figure of a control, and the score of a target that carried nothing', () => {
    expect(Object.values(scoreRecovery(drill({}, { truth: [], injectedNs: null })).metrics)).toEqual(
      SCORE_METRICS.recovery.map(() => null),
    );
    expect(scoreRecovery(drill({}, { targetBytesInBaseline: false })).score).toBeNull();
    expect(scoreRecovery(drill({}, { targetBytesInBaseline: null })).score).toBeNull();
  });
});

describe('traffic of the target before the fault', () => {
  const carried = (input: ReturnType<typeof drill>, id = LINK) =>
    carriedJobBytes(
      new EvidenceIndex(input.evidence),
      topology,
      [{ ...truth, elements: [{ type: 'link', id }] }],
      INJECTED_S * 1e9,
    );

  it('is true for a used uplink, false for one that only saw control traffic, null without counters', () => {
    expect(carried(drill())).toBe(true);
    const idle = evidenceOf(STORY);
    for (const series of idle.series) {
      const onLink = [portId(LEAF_PORT), portId(SPINE_PORT)].includes(series.element);
      // A few hundred bytes a second: sessions that keep the link alive.
      if (onLink && /_bytes$/.test(series.metric))
        series.values.forEach((_, at) => (series.values[at] = 300 * at));
    }
    expect(carried({ ...drill(), evidence: idle })).toBe(false);
    expect(carried(without(drill(), (metric) => /_bytes$/.test(metric)))).toBeNull();
  });
});

const figures: fc.Arbitrary<RecoveryFigures> = fc.record({
  recovered: fc.boolean(),
  time_to_recover_s: fc.double({ min: 0, max: 1e4, noNaN: true }),
  failed_back: fc.boolean(),
  failback_s: fc.double({ min: 0, max: 1e4, noNaN: true }),
  resilience_loss: fc.double({ min: 0, max: 1, noNaN: true }),
  ettr: fc.double({ min: 0, max: 1, noNaN: true }),
});

describe('the recovery score', () => {
  it('stays within 0 and 100, also for figures out of their range', () => {
    const wild = fc.double({ noNaN: true });
    fc.assert(
      fc.property(figures, wild, wild, (base, loss, ettr) => {
        for (const one of [base, { ...base, resilience_loss: loss, ettr }]) {
          const score = recoveryScore(one)!;
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(100);
        }
      }),
    );
  });

  it('never rises when any one figure gets worse', () => {
    const more = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(figures, more, (base, worse) => {
        const score = recoveryScore(base)!;
        const variants: RecoveryFigures[] = [
          { ...base, time_to_recover_s: base.time_to_recover_s! + worse },
          { ...base, recovered: false, time_to_recover_s: null },
          { ...base, failback_s: base.failback_s! + worse },
          { ...base, failed_back: false, failback_s: null },
          { ...base, resilience_loss: Math.min(1, base.resilience_loss! + worse / 100) },
          { ...base, ettr: Math.max(0, base.ettr! - worse / 100) },
        ];
        for (const variant of variants) expect(recoveryScore(variant)!).toBeLessThanOrEqual(score + 1e-9);
      }),
    );
  });

  it('is null as soon as a figure that it rests on is', () => {
    fc.assert(
      fc.property(
        figures,
        fc.constantFrom('recovered', 'failed_back', 'resilience_loss', 'ettr'),
        (base, name) => {
          expect(recoveryScore({ ...base, [name]: null })).toBeNull();
        },
      ),
    );
  });

  it('falls with a longer stall, from evidence to score', () => {
    const scores = [0.5, 1.5, 4, 9, 19].map(
      (exposedStallS) => scoreRecovery(drill({ exposedStallS })).score!,
    );
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(new Set(scores).size).toBe(scores.length);
  });
});
