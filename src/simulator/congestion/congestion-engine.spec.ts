/**
 * Laws of congestion as the devices show it: bytes are conserved, and nothing shows where nothing is contended.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Conservation } from '../../../test/support/conservation.js';
import { bytesOf, flowSimulator, nicOf, twoJobs, valueAt } from '../../../test/support/simulated-fabric.js';
import type { Evidence } from '../../model/telemetry/series.js';
import type { FlowSimulator } from '../flow-simulator.js';

const HOSTS = 6;
const END_NS = 2e9;

interface Scene {
  settings: object;
  /** Sending host, receiving host, Gbit/s, priority (3 when left out). */
  loads: [number, number, number, number?][];
  /** Gbit/s that the first host takes; 0 for all. */
  slow: number;
}

function run({ settings, loads, slow }: Scene): FlowSimulator {
  const simulator = flowSimulator({
    topology: { builder: 'leaf-spine', leaves: 3, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 },
    settings: { pfc: { priorities: [3, 4] }, ...settings },
    telemetry: { pollSpread: '0s' },
  });
  if (slow > 0) simulator.setHostRate(nicOf(simulator, 'host-1/nic-0'), slow, 'receive');
  loads.forEach(([from, to, rateGbps, priority = 3], index) => {
    if (from === to) return;
    simulator.injectTraffic(`load-${index}`, {
      fromNics: [nicOf(simulator, `host-${from}/nic-0`)],
      toNic: nicOf(simulator, `host-${to}/nic-0`),
      rateGbps,
      priority,
      queuePairs: 2,
    });
  });
  simulator.advance(END_NS);
  return simulator;
}

const sceneArbitrary = (settings: fc.Arbitrary<object>): fc.Arbitrary<Scene> =>
  fc.record({
    settings,
    loads: fc.array(
      fc.tuple(
        fc.integer({ min: 1, max: HOSTS }),
        fc.integer({ min: 1, max: HOSTS }),
        fc.integer({ min: 20, max: 400 }),
        fc.constantFrom(3, 4),
      ),
      { minLength: 1, maxLength: 8 },
    ),
    slow: fc.constantFrom(0, 0, 50, 200),
  });

class Reader {
  private readonly evidence: Evidence;

  constructor(readonly simulator: FlowSimulator) {
    this.evidence = simulator.evidence(0, END_NS);
  }

  at = (metric: string, element: string): number => valueAt(this.evidence, metric, element, END_NS);

  total(metric: string): number {
    return this.evidence.series
      .filter((series) => series.metric === metric)
      .reduce((sum, { values }) => sum + values[values.length - 1], 0);
  }
}

const SETTINGS = {
  'congestion control and pause': {},
  'pause alone': { dcqcn: { on: false } },
  'congestion control alone': { pfc: { on: false, priorities: [3, 4] } },
  'neither of them': { dcqcn: { on: false }, pfc: { on: false, priorities: [3, 4] } },
  'too little headroom': { dcqcn: { on: false }, pfc: { priorities: [3, 4], headroom: '4KB' } },
};

describe.each(Object.entries(SETTINGS))('bytes with %s', (name, settings) => {
  const lossy = name === 'neither of them' || name === 'too little headroom';

  it('are conserved on every link, in every switch and its queues', () => {
    fc.assert(
      fc.property(sceneArbitrary(fc.constant(settings)), (scene) => {
        expect(new Conservation(run(scene), lossy, false).imbalances()).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });

  it('never fill a link beyond its rate', () => {
    fc.assert(
      fc.property(sceneArbitrary(fc.constant(settings)), (scene) => {
        const reader = new Reader(run(scene));
        for (const { name } of reader.simulator.topology.ports) {
          // The equilibrium is found by search, notifications take no room, and repeats leave none for ACKs.
          expect(reader.at('port_tx_bytes', `port:${name}`)).toBeLessThanOrEqual(
            50 * END_NS * (lossy ? 1.05 : 1.005),
          );
        }
      }),
      { numRuns: 8 },
    );
  });
});

describe('classes on one link', () => {
  // Two hosts want 300 Gbps each of the 400 of a third; data has what ACKs leave.
  const loads: Scene['loads'] = [
    [2, 1, 300, 3],
    [4, 1, 300, 4],
  ];
  it.each([
    ['share it equally where nothing is set', {}, 200, 200],
    ['share it by their weights', { weights: { 3: 5, 4: 3 } }, 250, 150],
    ['take what a heavier class does not want', { weights: { 3: 9 } }, 300, 100],
    ['leave a strict one all it wants', { strict: [4] }, 100, 300],
    ['go by priority where both are strict', { strict: [3, 4], weights: { 3: 9 } }, 100, 300],
  ])('%s', (_, scheduling, firstGbps, secondGbps) => {
    for (const dcqcn of [true, false]) {
      const settings = { scheduling, dcqcn: { on: dcqcn } };
      const reader = new Reader(run({ settings, loads, slow: 0 }));
      const gbps = [3, 4].map(
        (priority) => (8 * reader.at('queue_tx_bytes', `queue:leaf-1/p1/${priority}`)) / END_NS,
      );
      expect(Math.abs(gbps[0] / firstGbps - 1)).toBeLessThan(0.03);
      expect(Math.abs(gbps[1] / secondGbps - 1)).toBeLessThan(0.03);
    }
  });
});

describe('congestion', () => {
  const signs = [
    'queue_ecn_marked_packets',
    'queue_depth_bytes',
    'queue_depth_max_bytes',
    'queue_drop_packets',
    'port_pause_rx_s',
    'port_pause_rx_frames',
    'port_rx_discards',
    'nic_cnp_sent',
    'nic_ecn_marked_packets',
    'device_buffer_used_max_bytes',
  ];
  const incast: Scene['loads'] = [2, 3, 4, 5, 6].map((from) => [from, 1, 300]);
  const shown = (scene: Scene): string[] => {
    const reader = new Reader(run(scene));
    return signs.filter((metric) => reader.total(metric) > 0);
  };

  it('shows nowhere where hosts ask for no more than links carry', () => {
    const loads: Scene['loads'] = [
      [1, 2, 400],
      [3, 4, 400],
      [5, 6, 200],
      [6, 5, 400],
    ];
    expect(shown({ settings: {}, loads, slow: 0 })).toEqual([]);
    expect(shown({ settings: SETTINGS['neither of them'], loads, slow: 0 })).toEqual([]);
  });

  it('shows as marks before pauses where marking begins first', () => {
    const seen = shown({ settings: {}, loads: incast, slow: 0 });
    expect(seen).toContain('queue_ecn_marked_packets');
    expect(seen).toContain('nic_cnp_sent');
    expect(seen).not.toContain('port_pause_rx_frames');
    expect(seen).not.toContain('queue_drop_packets');
  });

  it('shows as pauses where nothing marks', () => {
    const seen = shown({
      settings: { ecn: { pmax: 0, kmin: '900MB', kmax: '990MB' } },
      loads: incast,
      slow: 0,
    });
    expect(seen).toContain('port_pause_rx_frames');
    expect(seen).not.toContain('queue_ecn_marked_packets');
    expect(seen).not.toContain('nic_cnp_sent');
  });

  it('shows as drops where nothing pauses or slows down', () => {
    const seen = shown({ settings: SETTINGS['neither of them'], loads: incast, slow: 0 });
    expect(seen).toContain('queue_drop_packets');
    expect(seen).not.toContain('port_pause_rx_frames');
    expect(seen).not.toContain('nic_cnp_sent');
  });

  it('of a slow receiver shows as pause from its NIC, whatever the senders do', () => {
    for (const on of [true, false]) {
      const reader = new Reader(run({ settings: { dcqcn: { on } }, loads: [[2, 1, 400]], slow: 100 }));
      expect(reader.at('port_pause_tx_s', 'port:host-1/nic-0')).toBeGreaterThan(1);
      expect(reader.at('port_pause_rx_s', 'port:host-2/nic-0') > 0).toBe(!on);
    }
  });

  it('of a slow receiver in a class that is not paused shows as drops at its NIC, and as no pause', () => {
    const lossy = [{ pfc: { on: false } }, { dcqcn: { cnpPriority: 5 }, pfc: { priorities: [3] } }];
    lossy.forEach((settings, index) => {
      const priority = index === 0 ? 3 : 5;
      const loads: Scene['loads'] = [
        [2, 1, 300, priority],
        [2, 3, 50, priority],
      ];
      const reader = new Reader(run({ settings, loads, slow: 100 }));
      const nicDrops = reader.at('nic_rx_discards', 'nic:host-1/nic-0');
      expect(nicDrops).toBeGreaterThan(1e5);
      expect(reader.at('port_rx_discards', 'port:host-1/nic-0')).toBe(nicDrops);
      expect(reader.total('queue_drop_packets')).toBe(0);
      expect(reader.total('port_pause_tx_s')).toBe(0);
      expect(reader.total('port_pause_rx_s')).toBe(0);
      // All of it crosses the link; who shares the sender's port is not held.
      expect(reader.at('port_rx_bytes', 'port:host-1/nic-0') / (37.5 * END_NS)).toBeCloseTo(1, 1);
      expect(reader.at('port_rx_bytes', 'port:host-3/nic-0') / (6.25 * END_NS)).toBeCloseTo(1, 2);
      expect(new Conservation(reader.simulator, true, false).imbalances()).toEqual([]);
    });
  });

  it('counts as many notifications sent as heeded, and at most one per queue pair in 50 µs', () => {
    const reader = new Reader(run({ settings: {}, loads: incast, slow: 0 }));
    const sent = reader.total('nic_cnp_sent');
    expect(Math.abs(sent - reader.total('nic_cnp_handled'))).toBeLessThan(HOSTS);
    expect(sent).toBeGreaterThan(1000);
    expect(sent).toBeLessThanOrEqual((incast.length * 2 * END_NS) / 50e3);
    expect(sent).toBeLessThanOrEqual(reader.total('nic_ecn_marked_packets'));
  });

  it('peaks at a start, before the senders have been told', () => {
    const simulator = run({ settings: {}, loads: [], slow: 0 });
    const queue = 'queue:leaf-1/p1/3';
    const depth = (metric: string, atNs: number): number =>
      valueAt(simulator.evidence(0, simulator.nowNs), metric, queue, atNs);
    for (let from = 2; from <= HOSTS; from++) {
      simulator.injectTraffic(`load-${from}`, {
        fromNics: [nicOf(simulator, `host-${from}/nic-0`)],
        toNic: nicOf(simulator, 'host-1/nic-0'),
        rateGbps: 400,
        priority: 3,
        queuePairs: 2,
      });
    }
    simulator.advance(END_NS + 4e9);
    // The watermark of the first second holds the start, later ones the steady state.
    expect(depth('queue_depth_max_bytes', END_NS + 1e9)).toBeGreaterThan(
      1.5 * depth('queue_depth_max_bytes', END_NS + 3e9),
    );
    expect(depth('queue_depth_max_bytes', END_NS + 3e9)).toBe(depth('queue_depth_max_bytes', END_NS + 4e9));
    const marked = (atNs: number): number => depth('queue_ecn_marked_packets', atNs);
    expect(marked(END_NS + 1e9)).toBeGreaterThan(marked(END_NS + 3e9) - marked(END_NS + 2e9));
  });

  it('shows the same whether repeated sets are looked up or solved again', () => {
    const evidence = [true, false].map((reuse) => {
      const simulator = flowSimulator({ ...twoJobs, telemetry: { pollSpread: '0s' } }, 1, { reuse });
      simulator.startJobs();
      simulator.advance(1.3e9);
      const nics = ['host-1/nic-0', 'host-5/nic-0', 'host-3/nic-0'].map((nic) => nicOf(simulator, nic));
      const [toNic, ...fromNics] = nics;
      simulator.injectTraffic('load', { fromNics, toNic, rateGbps: 300, priority: 3, queuePairs: 2 });
      simulator.advance(3e9);
      simulator.setPauseStorm(nics[0], 3, true);
      simulator.advance(4e9);
      simulator.setPauseStorm(nics[0], 3, false);
      simulator.advance(7e9);
      return bytesOf(simulator.evidence(0, 7e9));
    });
    expect(evidence[0].equals(evidence[1])).toBe(true);
  });

  it('is forgotten when its cause is gone', () => {
    const simulator = run({ settings: {}, loads: incast, slow: 0 });
    incast.forEach((_, index) => simulator.removeTraffic(`load-${index}`));
    simulator.advance(3e9);
    simulator.advance(4e9);
    const evidence = simulator.evidence(0, 4e9);
    for (const metric of ['queue_depth_bytes', 'queue_depth_max_bytes']) {
      expect(valueAt(evidence, metric, 'queue:leaf-1/p1/3', 4e9)).toBe(0);
    }
    const marked = (atNs: number): number =>
      valueAt(evidence, 'queue_ecn_marked_packets', 'queue:leaf-1/p1/3', atNs);
    expect(marked(4e9)).toBe(marked(3e9));
    expect(valueAt(evidence, 'device_buffer_used_bytes', 'device:leaf-1', 4e9)).toBe(0);
  });
});
