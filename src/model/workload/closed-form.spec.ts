import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { idealCollectiveNs, idealStepNs } from './closed-form.js';
import type { CollectiveOperation, Job, StepOperation } from './job.js';
import { PathLatencies } from './path-latency.js';
import { smallTopology } from './testing/small-topology.js';

const wire = { mtu: 1000, headerBytes: 48, ackBytes: 60 };
const none = { mtu: 1000, headerBytes: 0, ackBytes: 0 };

const collective = (shape: Partial<CollectiveOperation>): CollectiveOperation => ({
  type: 'collective',
  name: 'c',
  collective: 'all-reduce',
  algorithm: 'ring',
  bytes: 16e6,
  groups: [],
  parallelism: 'data',
  after: [],
  ...shape,
});
const ranks = (count: number) => Array.from({ length: count }, (_, rank) => rank);
const inOrder = (count: number) => Int32Array.from(ranks(count));
const job = (operations: StepOperation[], count: number): Job => ({
  name: 'a',
  placement: inOrder(count),
  program: { operations },
  startNs: 0,
  queuePairs: 1,
  priority: 3,
});

describe('path latency', () => {
  it('is the latency term of one flow over L equal links', () => {
    const tx = 1048 / 12.5;
    const ack = 60 / 12.5;
    const star = new PathLatencies(smallTopology({ hosts: 4 }), wire);
    expect(star.between(0, 3)).toBeCloseTo(tx + 4 * 1000 + 2 * ack, 9);
    const twoTiers = new PathLatencies(smallTopology({ hosts: 4, leaves: 2 }), wire);
    expect(twoTiers.between(0, 3)).toBeCloseTo(3 * tx + 8 * 1000 + 4 * ack, 9);
    expect(twoTiers.between(0, 1)).toBeCloseTo(tx + 4 * 1000 + 2 * ack, 9);
  });

  it('counts each switch twice, there and back', () => {
    const topology = smallTopology({ hosts: 4, leaves: 2 });
    const slower = new PathLatencies(topology, { ...wire, switchLatency: 500 });
    expect(slower.between(0, 3) - new PathLatencies(topology, wire).between(0, 3)).toBeCloseTo(3000, 9);
  });
});

describe('ideal collectives', () => {
  it('a ring pays headers, ACKs on the busy sender and a path a step', () => {
    const topology = smallTopology({ hosts: 16 });
    const one = collective({ groups: [ranks(16)] });
    const payloadNs = (2 * 15 * 16e6) / 16 / 12.5;
    const pathNs = 1048 / 12.5 + 4000 + (2 * 60) / 12.5;
    expect(idealCollectiveNs(one, inOrder(16), topology, wire)).toBeCloseTo(
      payloadNs * 1.108 + 30 * pathNs,
      3,
    );
  });

  // The peer truncates a packet's 83.84 ns to 83, a rate of 101.01 Gbps. Its ranks also wait for their own last ACK,
  // so every step costs the ring's longest path; the bound counts the mean and must stay below.
  it.each([
    [16, 4, 16e6, 2867.7],
    [64, 16, 64e6, 12042.4],
  ])(
    'a ring of %i hosts is up to 3 %% below the packet-level peer, never above',
    (hosts, leaves, bytes, measuredUs) => {
      const topology = smallTopology({ hosts, leaves, rateGbps: (100 * 83.84) / 83 });
      const one = collective({ bytes, groups: [ranks(hosts)] });
      const ratio = idealCollectiveNs(one, inOrder(hosts), topology, wire) / (measuredUs * 1e3);
      expect(ratio).toBeGreaterThan(0.97);
      expect(ratio).toBeLessThanOrEqual(1);
    },
  );

  it.each([
    ['all-reduce', 'ring', (n: number) => (2 * (n - 1)) / n],
    ['all-gather', 'ring', (n: number) => (n - 1) / n],
    ['reduce-scatter', 'ring', (n: number) => (n - 1) / n],
    ['all-to-all', 'ring', (n: number) => (n - 1) / n],
    ['broadcast', 'ring', () => 1],
    ['send-receive', 'ring', () => 1],
  ] as const)(
    '%s reaches the line rate in busbw when nothing but payload counts',
    (kind, algorithm, factor) => {
      fc.assert(
        fc.property(fc.integer({ min: 2, max: 20 }), (hosts) => {
          const topology = smallTopology({ hosts, delayNs: 0 });
          const one = collective({ collective: kind, algorithm, bytes: 1e12, groups: [ranks(hosts)] });
          const ideal = idealCollectiveNs(one, inOrder(hosts), topology, none);
          expect(ideal / ((factor(hosts) * 1e12) / 12.5)).toBeCloseTo(1, 6);
        }),
      );
    },
  );

  it('a double tree needs two buffers a NIC once it is deep enough', () => {
    const topology = smallTopology({ hosts: 16, delayNs: 0 });
    const one = collective({ algorithm: 'tree', bytes: 1e12, groups: [ranks(16)] });
    expect(idealCollectiveNs(one, inOrder(16), topology, none) / (2e12 / 12.5)).toBeCloseTo(1, 6);
  });

  it('eight NICs a host carry an eighth each', () => {
    const topology = smallTopology({
      hosts: 4,
      gpusPerHost: 8,
      delayNs: 0,
      scaleUpGbps: 7200,
      scaleUpDelayNs: 0,
    });
    const one = collective({ bytes: 1e12, groups: [ranks(32)] });
    const ideal = idealCollectiveNs(one, inOrder(32), topology, none);
    expect(ideal / ((2 * 31 * 1e12) / 32 / 8 / 12.5)).toBeCloseTo(1, 6);
  });

  it('inside a host the scale-up rate counts', () => {
    const topology = smallTopology({ hosts: 1, gpusPerHost: 8, scaleUpGbps: 2880, scaleUpDelayNs: 500 });
    const one = collective({ bytes: 36e6, groups: [ranks(8)] });
    const expected = (2 * 7 * 36e6) / 8 / 360 + 14 * 500;
    expect(idealCollectiveNs(one, inOrder(8), topology, wire)).toBeCloseTo(expected, 3);
  });
});

describe('leaf uplinks', () => {
  const topology = smallTopology({ hosts: 8, leaves: 2, delayNs: 0 });
  const pairs = (...groups: number[][]) =>
    idealCollectiveNs(
      collective({ collective: 'send-receive', bytes: 1e12, groups }),
      inOrder(8),
      topology,
      none,
    );

  it('four senders through one uplink of a NIC’s rate take four times as long', () => {
    expect(pairs([0, 4], [1, 5], [2, 6], [3, 7]) / pairs([0, 4])).toBeCloseTo(4, 6);
  });

  it('below one leaf the uplinks do not count', () => {
    expect(pairs([0, 1], [2, 3]) / pairs([0, 1])).toBeCloseTo(1, 6);
  });
});

describe('ideal step', () => {
  const topology = smallTopology({ hosts: 4 });
  const ring = collective({ groups: [ranks(4)], bytes: 1e9 });
  const alone = idealCollectiveNs(ring, inOrder(4), topology, wire);

  it('takes the longest chain of the program', () => {
    const operations: StepOperation[] = [
      { type: 'compute', name: 'early', durationNs: 40e6, after: [] },
      { type: 'compute', name: 'late', durationNs: 10e6, after: [0] },
      { ...ring, after: [0] },
    ];
    expect(idealStepNs(job(operations, 4), topology, wire)).toBeCloseTo(40e6 + alone, 3);
  });

  it('collectives side by side share the NIC', () => {
    const twice = idealStepNs(job([ring, { ...ring, name: 'd' }], 4), topology, wire);
    expect(twice).toBeGreaterThan(1.99 * alone);
    expect(twice).toBeLessThan(2 * alone);
  });

  it('an empty program takes no time', () => {
    expect(idealStepNs(job([], 4), topology, wire)).toBe(0);
  });
});
