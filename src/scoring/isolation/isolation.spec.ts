/** Isolation: victims among bystanders with a noise guard, flows, containment, honest nulls, bounds. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { edgeId, portId } from '../../core/elements.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import { isolationScore, scoreIsolation } from './isolation.js';
import { scoringProfileSchema } from '../profile.js';
import { SCORE_METRICS } from '../scorecard.js';
import {
  drill,
  END_S,
  EvidenceWriter,
  INJECTED_S,
  jobs,
  REVERTED_S,
  truth,
} from '../testing/synthetic-drill.js';

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

describe('flows of a bystander', () => {
  /** Bytes per ns of two flows beside those of the story, by the second. */
  const share = (rates: readonly ((timeS: number) => number)[], revertedS: number | null = REVERTED_S) => {
    const input = drill();
    const writer = new EvidenceWriter();
    rates.forEach((rate, at) => {
      let bytes = 0;
      for (let timeS = 0; timeS <= END_S; timeS++) {
        writer.add('edge_tx_bytes', edgeId('bystander', at, at + 10), timeS, bytes);
        bytes += rate(timeS) * 1e9;
      }
    });
    const kept = input.evidence.series.filter(({ metric }) => metric !== 'edge_tx_bytes');
    const evidence = { ...input.evidence, series: [...kept, ...writer.build().series] };
    const revertedNs = revertedS === null ? null : revertedS * 1e9;
    return scoreIsolation({ ...input, evidence, revertedNs }).metrics.victim_flow_share;
  };
  const slowed =
    (by: number, fromS = INJECTED_S) =>
    (timeS: number) =>
      timeS < fromS ? 1 : 1 - by;

  it('are hurt from two per cent on, during the fault or after the repair', () => {
    expect(share([slowed(0.021), slowed(0.019)])).toBe(0.5);
    expect(share([slowed(0.021, REVERTED_S), slowed(0.019, REVERTED_S)])).toBe(0.5);
    // two per cent of the time until the end, where nothing was repaired
    expect(share([slowed(0.05, REVERTED_S), slowed(0.03, REVERTED_S)], null)).toBe(0.5);
  });

  it('are judged by what they scattered before, of which a mean has less the longer it is', () => {
    // 0.8 and 1.2 in turn: a deviation of 0.2, and of the mean over 20 intervals 0.045; three of them are 13 %
    const scattered = (by: number) => (timeS: number) =>
      (timeS % 2 === 0 ? 0.8 : 1.2) * (timeS < INJECTED_S ? 1 : 1 - by);
    expect(share([scattered(0.14), scattered(0.13)])).toBe(0.5);
  });

  it('that sent nothing before are nobody’s, and are not counted', () => {
    const late = (timeS: number) => (timeS < INJECTED_S ? 0 : 1);
    expect(share([late, slowed(0.5)])).toBe(1);
    expect(share([late])).toBeNull();
  });

  it('that fall silent with the fault are not known, and do not count', () => {
    const silent = (timeS: number) => (timeS < INJECTED_S ? 1 : NaN);
    expect(share([silent])).toBeNull();
    expect(share([silent, slowed(0.5)])).toBe(1);
  });

  it('are those of every bystander', () => {
    const second = { ...jobs[1], name: 'second' };
    const input = drill({ bystanderStallS: 3 }, { jobs: [...jobs, second] });
    const still = drill()
      .evidence.series.filter(
        ({ metric, element }) => metric === 'edge_tx_bytes' && element.startsWith('edge:bystander/'),
      )
      .map((one) => ({ ...one, element: one.element.replace('bystander', 'second') }));
    const evidence = { ...input.evidence, series: [...input.evidence.series, ...still] };
    expect(scoreIsolation({ ...input, evidence }).metrics.victim_flow_share).toBe(0.5);
  });

  it('of exposed jobs do not count', () => {
    const input = drill({ exposedStallS: 15 });
    expect(scoreIsolation(input).metrics.victim_flow_share).toBe(0);
  });
});

describe('a slowdown of a bystander', () => {
  it('after the repair alone makes it a victim as well', () => {
    const input = drill({ bystanderStallS: 3 });
    // as if the fault had been over before the bystander stood still
    const early = { ...input, injectedNs: 10e9, revertedNs: 15e9 };
    expect(scoreIsolation(early).metrics.blast_ratio).toBe(1);
    expect(scoreIsolation({ ...early, endNs: 19e9 }).metrics.blast_ratio).toBe(0);
  });

  it('of one among several is the share of them', () => {
    const twin = { ...jobs[1], name: 'exposed-too' };
    const input = drill({ bystanderStallS: 3 });
    const series = input.evidence.series
      .filter(({ element }) => element === 'job:exposed')
      .map((one) => ({ ...one, element: 'job:exposed-too' }));
    const evidence = { ...input.evidence, series: [...input.evidence.series, ...series] };
    const { metrics } = scoreIsolation({ ...input, evidence, jobs: [...jobs, twin], exposedJobs: [] });
    // the exposed one stood still as well, for 1.5 s of 20, and so did its like
    expect(metrics).toMatchObject({ exposed_jobs: 0, bystander_jobs: 3, blast_ratio: 1 });
    const calm = drill({ exposedStallS: 0, bystanderStallS: 3 }, { exposedJobs: [] });
    expect(scoreIsolation(calm).metrics.blast_ratio).toBe(0.5);
  });

  it('is not known where the pace of one bystander is not', () => {
    const silent = { ...jobs[1], name: 'silent' };
    const { score, metrics } = scoreIsolation(drill({}, { jobs: [...jobs, silent] }));
    expect([score, metrics.blast_ratio]).toEqual([null, null]);
  });
});

describe('where time was lost', () => {
  const rails = buildTopology(
    topologySchema.parse({ builder: 'rail-optimised', hosts: 4, gpusPerHost: 2, segments: 1, spines: 1 }),
  );
  const onRail = (rail: number) => ({
    ...truth,
    elements: [
      {
        type: 'link' as const,
        id: rails.links.find((one) => one.rail === rail && one.tier === 'host-leaf')!.id,
      },
    ],
  });
  const contained = (gpus: number[], story: Parameters<typeof drill>[0] = {}) => {
    const placed = jobs.map((job, at) => (at === 0 ? { ...job, placement: Int32Array.from(gpus) } : job));
    const input = drill(story, { topology: rails, truth: [onRail(0)], jobs: placed });
    return scoreIsolation(input).metrics.containment;
  };
  const of = (rail: number) =>
    rails.gpus.flatMap(({ nic }, gpu) =>
      rails.nics[nic].ports.some((port) => rails.links[rails.ports[port].link].rail === rail) ? [gpu] : [],
    );

  it('counts GPUs of the rail, of each job by what it lost', () => {
    expect(contained(of(0))).toBe(1);
    expect(contained(of(1))).toBe(0);
    expect(contained([...of(0).slice(0, 3), of(1)[0]])).toBeCloseTo(0.75, 9);
  });

  it('is not known where nothing was lost, or a pace is not known', () => {
    expect(contained(of(0), { exposedStallS: 0 })).toBeNull();
    const silent = { ...jobs[0], name: 'silent' };
    const input = drill({}, { topology: rails, truth: [onRail(0)], jobs: [...jobs, silent] });
    expect(scoreIsolation(input).metrics.containment).toBeNull();
  });
});

it('pauses are looked for until the revert, or to the end where nothing was reverted', () => {
  const input = drill();
  const paused = (revertedNs: number | null) => {
    const writer = new EvidenceWriter();
    for (let timeS = 0; timeS <= END_S; timeS++)
      writer.add('port_pause_rx_s', portId(input.topology.ports[0].name), timeS, Math.max(0, timeS - 45));
    const evidence = { ...input.evidence, series: [...input.evidence.series, ...writer.build().series] };
    return scoreIsolation({ ...input, evidence, revertedNs }).metrics.pause_depth_hops;
  };
  expect([paused(40e9), paused(null)]).toEqual([0, 1]);
});
