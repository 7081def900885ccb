/** Isolation: victims among bystanders with a noise guard, flows, containment, honest nulls, bounds. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import { isolationScore, scoreIsolation } from './isolation.js';
import { scoringProfileSchema } from '../profile.js';
import { SCORE_METRICS } from '../scorecard.js';
import { drill, truth } from '../testing/synthetic-drill.js';

describe('isolation of a fault that only its own job feels', () => {
  const { score, metrics } = scoreIsolation(drill());

  it('publishes exactly the metrics of the interface', () => {
    expect(Object.keys(metrics)).toEqual([...SCORE_METRICS.isolation]);
  });

  it('counts exposed and bystander jobs and finds no victim', () => {
    expect(metrics).toMatchObject({
      exposed_jobs: 1,
      bystander_jobs: 1,
      blast_ratio: 0,
      victim_flow_share: 0,
    });
    expect(score).toBe(100);
  });

  it('leaves pause figures unknown where no port tells of pauses, and containment where the element has neither pod nor rail', () => {
    expect(metrics).toMatchObject({ pause_depth_hops: null, pause_spread_ratio: null, containment: null });
  });
});

describe('a bystander', () => {
  it('is a victim when it stands still for long enough, with its flows', () => {
    const { score, metrics } = scoreIsolation(drill({ bystanderStallS: 3 }));
    expect(metrics).toMatchObject({ blast_ratio: 1, victim_flow_share: 1 });
    expect(score).toBe(0);
  });

  it('is no victim within the noise of its own baseline', () => {
    // 3 s of 20 s are 15 %: beyond 2 %, within three deviations of a pace that scatters by 10 %.
    expect(scoreIsolation(drill({ bystanderStallS: 3, jitter: 0.1 })).metrics.blast_ratio).toBe(0);
    expect(scoreIsolation(drill({ bystanderStallS: 9, jitter: 0.1 })).metrics.blast_ratio).toBe(1);
  });

  it('is no victim below two per cent, unless the profile is stricter', () => {
    // 0.3 s of 20 s
    const slight = { bystanderStallS: 0.3 };
    expect(scoreIsolation(drill(slight)).metrics.blast_ratio).toBe(0);
    expect(scoreIsolation(drill({ bystanderStallS: 0.9 })).metrics.blast_ratio).toBe(1);
    const strict = scoringProfileSchema.parse({ isolation: { slowdown: 0.01 } });
    expect(scoreIsolation(drill(slight, { profile: strict })).metrics.blast_ratio).toBe(1);
  });
});

describe('what can not be known', () => {
  it('is everything about jobs when the fabric can not trace paths', () => {
    const { score, metrics } = scoreIsolation(drill({}, { exposedJobs: null }));
    expect(score).toBeNull();
    expect(metrics).toMatchObject({ exposed_jobs: null, bystander_jobs: null, blast_ratio: null });
  });

  it('is the blast when every job is exposed, the score of an unused target, and all of a control', () => {
    const all = scoreIsolation(drill({}, { exposedJobs: ['exposed', 'bystander'] }));
    expect(all).toMatchObject({
      score: null,
      metrics: { exposed_jobs: 2, bystander_jobs: 0, blast_ratio: null },
    });
    expect(scoreIsolation(drill({}, { targetBytesInBaseline: false })).score).toBeNull();
    const control = scoreIsolation(drill({}, { truth: [], injectedNs: null, revertedNs: null }));
    expect(control.score).toBeNull();
    expect(Object.values(control.metrics).every((value) => value === null)).toBe(true);
  });

  it('is the flows where no flow counter is seen; jobs then stand for them', () => {
    const input = drill({ bystanderStallS: 3 });
    const series = input.evidence.series.filter(({ metric }) => metric !== 'edge_tx_bytes');
    const { score, metrics } = scoreIsolation({ ...input, evidence: { ...input.evidence, series } });
    expect(metrics.victim_flow_share).toBeNull();
    expect(score).toBe(0);
  });
});

describe('containment', () => {
  it('is the share of the lost GPU time on the rail of the element', () => {
    const rails = buildTopology(
      topologySchema.parse({ builder: 'rail-optimised', hosts: 4, gpusPerHost: 2, segments: 1, spines: 1 }),
    );
    const link = rails.links.find(({ rail, tier }) => rail === 0 && tier === 'host-leaf')!;
    const entry = { ...truth, elements: [{ type: 'link' as const, id: link.id }] };
    // Each host has one GPU on each of the two rails, and a job that waits waits on both.
    expect(scoreIsolation(drill({}, { topology: rails, truth: [entry] })).metrics.containment).toBeCloseTo(
      0.5,
      9,
    );
  });
});

describe('the isolation score', () => {
  const ratio = fc.double({ min: 0, max: 1, noNaN: true });

  it('stays within 0 and 100, whatever the figures', () => {
    const wild = fc.oneof(fc.double({ noNaN: true }), fc.constant(null));
    fc.assert(
      fc.property(wild, wild, (blast, flows) => {
        const score = isolationScore({
          blast_ratio: blast,
          victim_flow_share: flows,
          pause_spread_ratio: null,
        });
        if (blast === null) expect(score).toBeNull();
        else expect(score! >= 0 && score! <= 100).toBe(true);
      }),
    );
  });

  it('never rises when more jobs or flows are hurt', () => {
    fc.assert(
      fc.property(ratio, fc.option(ratio), ratio, (blast, flows, worse) => {
        const score = isolationScore({
          blast_ratio: blast,
          victim_flow_share: flows,
          pause_spread_ratio: null,
        })!;
        const moreJobs = isolationScore({
          blast_ratio: Math.max(blast, worse),
          victim_flow_share: flows,
          pause_spread_ratio: null,
        })!;
        expect(moreJobs).toBeLessThanOrEqual(score + 1e-9);
        if (flows === null) return;
        const moreFlows = isolationScore({
          blast_ratio: blast,
          victim_flow_share: Math.max(flows, worse),
          pause_spread_ratio: null,
        })!;
        expect(moreFlows).toBeLessThanOrEqual(score + 1e-9);
      }),
    );
  });

  it('counts pauses where the profile weighs them', () => {
    const figures = { blast_ratio: 0, victim_flow_share: 0, pause_spread_ratio: 0.5 };
    expect(isolationScore(figures)).toBe(100);
    const profile = scoringProfileSchema.parse({ isolation: { weights: { jobs: 1, flows: 0, pauses: 1 } } });
    expect(isolationScore(figures, profile)).toBe(75);
  });
});
