/**
 * The congestion equilibrium beside the long run of the stepwise fluid, which recorded packet-level runs bear out.
 *
 * Back-pressure alone within 5 % of rates; with DCQCN rates, mean queue and marks of the
 * bottleneck within 20 %: both swing, and a window of tens of milliseconds knows their means no better.
 */
import { describe, expect, it } from '@jest/globals';
import { congestionScene, parseCongestionCase } from '../../bench/congestion-case.js';
import type { CongestionFlow, CongestionNetwork } from '../../src/simulator/fluid/network.js';
import { Equilibrium } from '../../src/simulator/congestion/equilibrium/equilibrium.js';
import { clos, GBPS, longRun, reactionPoint, twin } from '../support/fluid-twin.js';
import { caseJson } from './cases.js';

const relative = (value: number, reference: number): number => Math.abs(value / reference - 1);
const mean = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;

function solve(network: CongestionNetwork, flows: readonly CongestionFlow[]) {
  const asked = twin(network, flows);
  const { dcqcn } = asked.network;
  // The fluid's receivers echo a mark in each interval that a sender can answer.
  const echoing = dcqcn && { ...dcqcn, cnpIntervalNs: dcqcn.decreaseIntervalNs };
  return new Equilibrium({ ...asked.network, dcqcn: echoing }).solve(asked.flows);
}

function recorded(name: string) {
  const document = caseJson(`${name}.json`) as {
    topology: { switches: number[] };
    flows: { src: number; dst: number; path?: number[] }[];
  };
  const [center] = document.topology.switches;
  const flows = document.flows.map((flow) => ({
    path: [flow.src, center, flow.dst],
    ack_path: [flow.dst, center, flow.src],
    ...flow,
  }));
  return congestionScene(parseCongestionCase({ ...document, flows, result: { makespan_ns: 1 } }));
}

describe('back-pressure alone', () => {
  it.each([
    'hpcc_incast32_1MB_star_pfconly',
    'hpcc_victim_pfconly',
    'hpcc_pausevictim_core400_pfconly',
    'hpcc_perm16_5MB_pfconly',
  ])('%s shares as the fluid does, within 5 % of rates and 0.05 of the time paused', (name) => {
    const { network, flows } = recorded(name);
    const found = solve(network, flows);
    const fluid = longRun(network, flows, 1e6, 4e6);
    flows.forEach((_, flow) => expect(relative(found.rate[flow], fluid.rate[flow])).toBeLessThan(0.05));
    fluid.pausedShare.forEach((share, link) =>
      expect(Math.abs(found.pausedShare[link] - share)).toBeLessThan(0.05),
    );
  });

  it('slows a parking lot by its ports, not by its flows', () => {
    const net = clos({ leaves: 2, spines: 1, hosts: 4 });
    // Three senders cross to host 4, one beside it sends there as well: the last one is a port of its own.
    const flows = [net.flow(0, 4), net.flow(1, 4), net.flow(2, 4), net.flow(5, 4)];
    const found = solve(net.network, flows);
    const fluid = longRun(net.network, flows, 1e6, 4e6);
    flows.forEach((_, flow) => expect(relative(found.rate[flow], fluid.rate[flow])).toBeLessThan(0.05));
    expect(found.rate[3] / found.rate[0]).toBeGreaterThan(2.5);
  });

  it('of a slow receiver spreads to who only shares a paused link', () => {
    const scene = { leaves: 2, spines: 1, hosts: 3 };
    const slow = clos({ ...scene, slowHost: { host: 3, gbps: 20 } });
    const flows = [slow.flow(0, 3), slow.flow(1, 4)];
    const fluid = longRun(slow.network, flows, 2e6, 6e6);
    const net = clos(scene);
    const asked = twin(net.network, flows);
    const toHost = net.link(7, 3);
    const network = {
      ...asked.network,
      accepts: (direction: number) => (direction === toHost ? 20 * GBPS : Infinity),
    };
    const found = new Equilibrium(network).solve(asked.flows);
    flows.forEach((_, flow) => expect(relative(found.rate[flow], fluid.rate[flow])).toBeLessThan(0.05));
    expect(found.pausedShare[toHost]).toBeCloseTo(0.8, 2);
    expect(found.rate[1] / GBPS).toBeLessThan(40);
  });
});

describe('DCQCN', () => {
  it.each([
    ['hpcc_dcqcn15_N2_40G', 30e6, 95e6],
    ['hpcc_dcqcn15_N16_40G', 50e6, 95e6],
    ['hpcc_fair2_dcqcn', 30e6, 100e6],
    ['hpcc_victim_dcqcn', 20e6, 50e6],
  ])('%s: goodput, mean queue and marks of the bottleneck within 20 %%', (name, fromNs, toNs) => {
    const { network, flows } = recorded(name);
    const found = solve(network, flows);
    const fluid = longRun(network, flows, fromNs, toNs);
    expect(relative(mean(found.rate.subarray(0, flows.length)), mean(fluid.rate))).toBeLessThan(0.05);
    flows.forEach((_, flow) => expect(relative(found.rate[flow], fluid.rate[flow])).toBeLessThan(0.2));
    const sent = mean(found.pathCnpPerNs.subarray(0, flows.length));
    expect(relative(sent, mean(fluid.cutsPerNs))).toBeLessThan(0.25);
    const bottleneck = fluid.queueBytes.indexOf(Math.max(...fluid.queueBytes));
    expect(relative(found.queueBytes[bottleneck], fluid.queueBytes[bottleneck])).toBeLessThan(0.2);
    const marks = (found.markRatio[bottleneck] * found.carriedRate[bottleneck]) / network.packetBytes;
    expect(relative(marks, fluid.markedPerNs[bottleneck])).toBeLessThan(0.2);
    expect(found.pausedShare.every((share) => share === 0)).toBe(true);
  });

  it('loses capacity where marks begin far too early, and as much as the fluid', () => {
    const marking = { kminBytes: 10e3, kmaxBytes: 40e3, pmax: 0.2 };
    const net = clos({ leaves: 1, spines: 1, hosts: 9, marking, dcqcn: reactionPoint });
    const flows = Array.from({ length: 8 }, (_, host) => net.flow(host, 8));
    const found = solve(net.network, flows);
    // The fluid starts at line rate and needs some 20 ms to forget it.
    const fluid = longRun(net.network, flows, 20e6, 60e6);
    const used = 8 * mean(found.rate.subarray(0, 8));
    expect(relative(used, 8 * mean(fluid.rate))).toBeLessThan(0.05);
    expect(used / GBPS).toBeLessThan(98);
  });

  it('holds nobody where marks come too late: ports pause first', () => {
    const marking = { kminBytes: 15e6, kmaxBytes: 16e6, pmax: 0.1 };
    const late = clos({ leaves: 1, spines: 1, hosts: 9, marking, dcqcn: reactionPoint });
    const flows = Array.from({ length: 8 }, (_, host) => late.flow(host, 8));
    const found = solve(late.network, flows);
    const fluid = longRun(late.network, flows, 1e6, 4e6);
    flows.forEach((_, flow) => {
      expect(found.markRatio.every((ratio) => ratio === 0)).toBe(true);
      expect(Math.abs(found.pausedShare[2 * flow] - fluid.pausedShare[2 * flow])).toBeLessThan(0.05);
    });
  });
});
