/**
 * Loads beside the jobs: what arrives, what they share, what they leave alone.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../core/problem.js';
import {
  bytesOf,
  flowSimulator,
  nicOf,
  oneWire,
  twoJobs,
  valueAt,
} from '../../test/support/simulated-fabric.js';
import type { FlowSimulator } from './flow-simulator.js';
import type { TrafficRequest } from './injected-traffic.js';

/** Wire bytes per payload byte of 4096-byte packets with 82 bytes of headers. */
const WIRE = (4096 + 82) / 4096;
const ACK = 86 / (4096 + 82);

const star = (hosts: number, settings: object = {}): FlowSimulator =>
  flowSimulator({
    topology: { builder: 'leaf-spine', leaves: 1, spines: 0, hostsPerLeaf: hosts, gpusPerHost: 1 },
    settings,
    telemetry: { pollSpread: '0s' },
  });

function load(simulator: FlowSimulator, senders: number, more: Partial<TrafficRequest> = {}): TrafficRequest {
  const fromNics = Array.from({ length: senders }, (_, index) => nicOf(simulator, `host-${index + 2}/nic-0`));
  const toNic = nicOf(simulator, 'host-1/nic-0');
  return { fromNics, toNic, rateGbps: 100, priority: 3, queuePairs: 2, ...more };
}

const received = (simulator: FlowSimulator, atNs: number): number =>
  valueAt(simulator.evidence(0, atNs), 'port_rx_bytes', 'port:host-1/nic-0', atNs);

describe('a load of one sender', () => {
  it('sends at its rate, what its NIC allows at most, from its start until it is removed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 800 }), async (rateGbps) => {
        const simulator = star(2);
        simulator.advance(1e9);
        simulator.injectTraffic('load', load(simulator, 1, { rateGbps }));
        simulator.advance(3e9);
        simulator.removeTraffic('load');
        simulator.advance(5e9);
        const expected = (Math.min(rateGbps, 400) / 8) * 2e9;
        expect(received(simulator, 5e9) / expected).toBeCloseTo(1, 6);
        expect(received(simulator, 1e9)).toBe(0);
      }),
      { numRuns: 10 },
    );
  });

  it('stops by itself after its bytes, each counted once, and its ACKs too', () => {
    const simulator = star(2);
    simulator.injectTraffic('load', load(simulator, 1, { bytesPerSender: 4096e6 }));
    simulator.advance(10e9);
    expect(received(simulator, 10e9)).toBe(Math.floor(4096e6 * WIRE));
    const sent = valueAt(simulator.evidence(0, 10e9), 'port_tx_bytes', 'port:host-1/nic-0', 10e9);
    expect(sent).toBe(Math.floor(4096e6 * WIRE * ACK));
    expect(simulator.traffic('load')?.bytesPerSender).toBe(4096e6);
  });

  it('takes the place of one of the same id', () => {
    const simulator = star(3);
    simulator.injectTraffic('load', load(simulator, 1, { rateGbps: 100 }));
    simulator.injectTraffic('load', load(simulator, 1, { rateGbps: 40 }));
    simulator.advance(2e9);
    expect(received(simulator, 2e9) / 10e9).toBeCloseTo(1, 6);
    simulator.removeTraffic('load');
    simulator.removeTraffic('load');
    expect(simulator.traffic('load')).toBeUndefined();
  });
});

describe('a load beside a job', () => {
  it('shares the receiver with it, and gives all back', () => {
    const simulator = flowSimulator({
      ...oneWire,
      topology: { ...oneWire.topology, hostsPerLeaf: 3 },
      telemetry: { pollSpread: '0s' },
    });
    simulator.startJobs();
    simulator.advance(2e9);
    const from = nicOf(simulator, 'host-3/nic-0');
    const to = nicOf(simulator, 'host-2/nic-0');
    simulator.injectTraffic('load', {
      fromNics: [from],
      toNic: to,
      rateGbps: 400,
      priority: 3,
      queuePairs: 1,
    });
    simulator.advance(6e9);
    simulator.removeTraffic('load');
    simulator.advance(10e9);
    const evidence = simulator.evidence(0, 10e9);
    const edge = (atNs: number): number => valueAt(evidence, 'edge_tx_bytes', 'edge:sender/0-1', atNs);
    const before = (edge(2e9) - edge(1e9)) / 1e9;
    const during = (edge(6e9) - edge(3e9)) / 3e9;
    const after = (edge(10e9) - edge(7e9)) / 3e9;
    // Congestion control leaves some of the link unused.
    expect(during / before).toBeGreaterThan(0.45);
    expect(during / before).toBeLessThan(0.51);
    expect(after / before).toBeCloseTo(1, 3);
  });

  it('adds no series, and leaves alone what it does not meet', () => {
    const run = (inject: boolean): FlowSimulator => {
      const simulator = flowSimulator({ ...twoJobs, telemetry: { pollSpread: '0s' } });
      simulator.startJobs();
      simulator.advance(1e9);
      if (inject) {
        const nics = ['host-7/nic-7', 'host-8/nic-7'].map((name) => nicOf(simulator, name));
        simulator.injectTraffic('load', {
          fromNics: [nics[0]],
          toNic: nics[1],
          rateGbps: 400,
          priority: 3,
          queuePairs: 4,
        });
      }
      simulator.advance(3e9);
      return simulator;
    };
    const [calm, loaded] = [run(false), run(true)].map((simulator) => simulator.evidence(0, 3e9));
    const names = (evidence: typeof calm): string[] =>
      evidence.series.map(({ metric, element }) => `${metric} ${element}`);
    expect(names(loaded)).toEqual(names(calm));
    const ofFirstJob = (evidence: typeof calm): Buffer =>
      bytesOf({ ...evidence, series: evidence.series.filter(({ element }) => element.includes('llm-a')) });
    expect(ofFirstJob(loaded).equals(ofFirstJob(calm))).toBe(true);
    expect(bytesOf(loaded).equals(bytesOf(calm))).toBe(false);
  });

  it('ends at a sender that loses its power, and goes on at the others', () => {
    const simulator = star(3);
    simulator.injectTraffic('load', load(simulator, 2, { rateGbps: 40 }));
    simulator.advance(2e9);
    simulator.setPower(simulator.topology.nics[nicOf(simulator, 'host-2/nic-0')].host, false);
    simulator.advance(4e9);
    const bytes = received(simulator, 4e9) - received(simulator, 2e9);
    expect(bytes / 10e9).toBeCloseTo(1, 6);
  });
});

describe('a load is refused', () => {
  const refusal = (change: Partial<TrafficRequest>): string => {
    const simulator = star(3);
    try {
      simulator.injectTraffic('load', load(simulator, 2, change));
    } catch (error) {
      if (error instanceof InputError) return `${error.issues[0].pointer} ${error.issues[0].message}`;
      throw error;
    }
    return 'taken';
  };

  it.each([
    [{ priority: 5 }, "/priority no queue serves priority 5; the fabric's classes are 3, 6"],
    [{ fromNics: [1, 1] }, '/fromNics a NIC is named twice among the senders'],
    [{ fromNics: [0, 1], toNic: 0 }, "/fromNics host-1/nic-0 can't send to itself"],
  ])('with %j', (change, words) => {
    expect(refusal(change)).toBe(words);
  });

  it('and nothing is injected', () => {
    const simulator = star(3);
    expect(() => simulator.injectTraffic('load', load(simulator, 2, { priority: 0 }))).toThrow(InputError);
    simulator.advance(2e9);
    expect(received(simulator, 2e9)).toBe(0);
    expect(simulator.traffic('load')).toBeUndefined();
  });
});
