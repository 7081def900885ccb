/** Layers: what each reads off the evidence of a drill, and that it says so when it can't. */
import { describe, expect, it } from '@jest/globals';
import { portId } from '../../core/elements.js';
import type { Evidence } from '../../model/telemetry/series.js';
import { layerReadings, NO_READINGS, type LayerInput } from './layers.js';
import {
  drill,
  END_S,
  evidenceOf,
  INJECTED_S,
  REVERTED_S,
  STEP_S,
  STORY,
  EvidenceWriter,
  type Story,
} from '../testing/synthetic-drill.js';

const S = 1e9;

const read = (
  story: Partial<Story> = {},
  change?: (writer: EvidenceWriter) => void,
  more: Partial<LayerInput> = {},
) =>
  layerReadings({
    ...drill(),
    evidence: evidenceOf({ ...STORY, ...story }, change),
    ...{ injectedNs: INJECTED_S * S, revertedNs: REVERTED_S * S, endNs: END_S * S },
    exposedJobs: ['exposed'],
    sharedWith: () => true,
    ...more,
  });

const without = (evidence: Evidence, metric: string): Evidence => ({
  ...evidence,
  series: evidence.series.filter((series) => series.metric !== metric),
});

const value = (reading: ReturnType<typeof read>['detect']): number => {
  if (reading.is !== 'measured') throw new Error(`nothing was measured: ${reading.is}`);
  return reading.value;
};

describe('the layers of a drill', () => {
  it('are the times and paces of its story', () => {
    const layers = read();
    expect(value(layers.throughput_before)).toBeCloseTo(1 / STEP_S, 9);
    expect(layers.detect).toEqual({ is: 'measured', value: expect.closeTo(0.01, 9), resolution: 0 });
    expect(value(layers.reroute)).toBeCloseTo(0.2, 9);
    expect(value(layers.routes_back)).toBeCloseTo(2, 9);
    expect(value(layers.failback)).toBeCloseTo(2, 9);
    // 1.5 s of 20 without a step
    const share = 1 - STORY.exposedStallS / (REVERTED_S - INJECTED_S);
    expect(value(layers.throughput_during) * STEP_S).toBeCloseTo(share, 6);
  });

  it('tell that something never came back, or never happened', () => {
    const layers = read({ failbackS: null });
    expect([layers.routes_back.is, layers.failback.is]).toEqual(['never', 'never']);
    const still = read({}, undefined, { injectedNs: 5 * S, revertedNs: 10 * S, endNs: 15 * S });
    expect([still.detect.is, still.reroute.is, still.routes_back.is]).toEqual([
      'never',
      'nothing',
      'nothing',
    ]);
  });

  it('count a port that lets go later, wherever it is, and one that is lost again', () => {
    const far = portId('leaf-2/p9');
    const layers = read({}, (writer) => {
      writer.add('route_port_prefixes', far, 0, 8);
      writer.add('route_port_prefixes', far, INJECTED_S + 0.7, 4);
      writer.add('route_port_prefixes', far, REVERTED_S + 1, 8);
      writer.add('route_port_prefixes', far, REVERTED_S + 4, 4);
      writer.add('route_port_prefixes', far, REVERTED_S + 5, 8);
    });
    expect(value(layers.reroute)).toBeCloseTo(0.7, 9);
    expect(value(layers.routes_back)).toBeCloseTo(5, 9);
  });

  it('leave out of detection what the other fabric does not tell', () => {
    const sharedWith: LayerInput['sharedWith'] = ({ metric }) => metric === 'route_port_prefixes';
    expect(value(read({}, undefined, { sharedWith }).detect)).toBeCloseTo(0.2, 9);
    expect(read({}, undefined, { sharedWith: () => false }).detect).toEqual({ is: 'unknown' });
  });

  it('give polled changes the resolution of their polls', () => {
    const sharedWith: LayerInput['sharedWith'] = ({ metric }) => metric === 'port_tx_bytes';
    const { detect } = read({}, undefined, { sharedWith });
    expect(detect).toMatchObject({ is: 'measured', resolution: 1 });
  });

  it('add up what the edges of the jobs deliver', () => {
    // two edges of 1 GB/s, 1.5 s of 20 without
    const { traffic_during: traffic } = read();
    expect(value(traffic)).toBeCloseTo(2 * (1 - STORY.exposedStallS / 20), 6);
    expect(read({}, undefined, { exposedJobs: [] }).traffic_during).toEqual({ is: 'nothing' });
  });

  it('tell training no more finely than by a step', () => {
    expect(read().throughput_during).toMatchObject({ resolution: 1 / (REVERTED_S - INJECTED_S) });
  });

  it('are unknown without the evidence that they rest on', () => {
    const evidence = evidenceOf(STORY);
    const noRoutes = read({}, undefined, { evidence: without(evidence, 'route_port_prefixes') });
    expect([noRoutes.reroute.is, noRoutes.routes_back.is]).toEqual(['unknown', 'unknown']);
    const noSteps = read({}, undefined, { evidence: without(evidence, 'job_steps') });
    const { throughput_before: before, throughput_during: during, failback } = noSteps;
    expect([before.is, during.is, failback.is]).toEqual(['unknown', 'unknown', 'unknown']);
    expect(read({}, undefined, { evidence: { ...evidence, series: [] } })).toEqual(NO_READINGS);
  });

  it('are of the jobs that the fault was to hit', () => {
    const share = (exposedJobs: readonly string[] | null): number =>
      value(read({ exposedStallS: 10 }, undefined, { exposedJobs }).throughput_during);
    expect(share(['bystander'])).toBeCloseTo(1 / STEP_S, 9);
    expect(share(null)).toBeCloseTo((share(['exposed']) + share(['bystander'])) / 2, 9);
  });
});

describe('ports that let go of prefixes', () => {
  const far = portId('leaf-2/p9');
  const logged = (...samples: [number, number][]) =>
    read(
      {},
      (writer) => {
        for (const [timeS, prefixes] of samples) writer.add('route_port_prefixes', far, timeS, prefixes);
      },
      // the log of the faulted port is left out: this one is alone
      {},
    );
  const alone = (...samples: [number, number][]) => {
    const evidence = without(evidenceOf(STORY), 'route_port_prefixes');
    const writer = new EvidenceWriter();
    for (const [timeS, prefixes] of samples) writer.add('route_port_prefixes', far, timeS, prefixes);
    const { reroute, routes_back: back } = read({}, undefined, {
      evidence: { ...evidence, series: [...evidence.series, ...writer.build().series] },
    });
    return [reroute, back].map((reading) => (reading.is === 'measured' ? reading.value : reading.is));
  };

  it('count from the injection to the revert, both of them apart and included', () => {
    expect(alone([0, 8], [INJECTED_S, 4])).toEqual(['nothing', 'nothing']);
    expect(alone([0, 8], [REVERTED_S, 4], [REVERTED_S + 1, 8])).toEqual([20, 1]);
    expect(alone([0, 8], [REVERTED_S + 0.5, 4], [REVERTED_S + 1, 8])).toEqual(['nothing', 'nothing']);
  });

  it('do not count where they get more, or were not known before', () => {
    expect(alone([0, 8], [25, 9])).toEqual(['nothing', 'nothing']);
    expect(alone([25, 8], [26, 4])).toEqual(['nothing', 'nothing']);
  });

  it('are back with the revert where they came back before it, never where they still lack one at the end', () => {
    expect(alone([0, 8], [25, 4], [30, 8])).toEqual([5, 0]);
    expect(alone([0, 8], [25, 4], [42, 9])).toEqual([5, 2]);
    expect(alone([0, 8], [25, 4], [42, 7])).toEqual([5, 'never']);
    expect(alone([0, 8], [25, 4], [END_S + 1, 8])).toEqual([5, 'never']);
  });

  it('reroute with the last of them', () => {
    expect(value(logged([0, 8], [21, 4], [22, 3]).reroute)).toBeCloseTo(1, 9);
  });
});

describe('traffic', () => {
  it('is unknown as soon as one counter of a job is silent', () => {
    const lost = evidenceOf(STORY, (writer) => writer.add('edge_tx_bytes', 'edge:exposed/5-6', 0, 0));
    expect(read({}, undefined, { evidence: lost }).traffic_during).toEqual({ is: 'unknown' });
  });
});

describe('failback', () => {
  it('is told no more finely than the coarsest of steps and polls', () => {
    expect(read().failback).toMatchObject({ resolution: 1 });
    const evidence = without(evidenceOf(STORY), 'port_tx_bytes');
    expect(read({}, undefined, { evidence }).failback).toMatchObject({ resolution: STEP_S });
  });

  it('is unknown where the pace of one job is', () => {
    const silent = { ...drill().jobs[0], name: 'silent' };
    const layers = read({}, undefined, { jobs: [...drill().jobs, silent], exposedJobs: null });
    expect([layers.failback.is, layers.throughput_before.is]).toEqual(['unknown', 'unknown']);
  });
});
