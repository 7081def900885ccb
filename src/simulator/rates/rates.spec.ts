/**
 * Slow links and slow host sides: what they cost, in closed form, and what shows of them.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  oneWire,
  simulatedFabric,
  twoJobs,
  valueAt,
  type Impairment,
  type SimulatedFabric,
} from '../../../test/support/simulated-fabric.js';

const LINK = 'link:host-1/nic-0--leaf-1/p1';
/** Payload share of a wire that carries 4096-byte packets with 82 bytes of headers. */
const PAYLOAD = 4096 / (4096 + 82);

const slowLink = (rateGbps: number, link = LINK): Impairment => ({ type: 'link-rate', link, rateGbps });
const slowHost = (rateGbps: number, nic: string): Impairment => ({ type: 'nic-host-rate', nic, rateGbps });

/** Payload Gbit/s over the edge from rank 0 to rank 1 between two instants. */
async function goodputGbps(fabric: SimulatedFabric, fromNs: number, toNs: number): Promise<number> {
  const evidence = await fabric.observe({ fromNs: 0, toNs });
  const bytes = (atNs: number): number => valueAt(evidence, 'edge_tx_bytes', 'edge:sender/0-1', atNs);
  return ((bytes(toNs) - bytes(fromNs)) * 8) / (toNs - fromNs);
}

async function oneWireUnder(impairment: Impairment): Promise<SimulatedFabric> {
  const fabric = simulatedFabric(oneWire);
  await fabric.startJobs();
  await fabric.advance(2e9);
  const saved = await fabric.readBack(impairment);
  await fabric.apply('slow', impairment);
  await fabric.advance(6e9);
  await fabric.revert('slow', impairment, saved);
  await fabric.advance(10e9);
  return fabric;
}

describe('a link that runs slower', () => {
  it('carries what its rate allows, while it does, and its full rate before and after', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 399 }), async (rateGbps) => {
        const fabric = await oneWireUnder(slowLink(rateGbps));
        const full = await goodputGbps(fabric, 1e9, 2e9);
        expect(full).toBeGreaterThan(400 * PAYLOAD * 0.99);
        const slow = await goodputGbps(fabric, 3e9, 6e9);
        expect(slow / (rateGbps * PAYLOAD)).toBeGreaterThan(0.99);
        expect(slow / (rateGbps * PAYLOAD)).toBeLessThan(1.001);
        expect(await goodputGbps(fabric, 8e9, 10e9)).toBeGreaterThan(full * 0.99);
      }),
      { numRuns: 10 },
    );
  }, 60_000);

  it('says so at both ends, counts no error and no link-down event, and says when it is well', async () => {
    const fabric = await oneWireUnder(slowLink(100));
    const evidence = await fabric.observe({ fromNs: 0, toNs: 10e9 });
    for (const port of ['port:host-1/nic-0', 'port:leaf-1/p1']) {
      const rates = [1.5e9, 5e9, 9e9].map((atNs) => valueAt(evidence, 'port_rate_gbps', port, atNs));
      expect(rates).toEqual([400, 100, 400]);
      for (const metric of ['port_rx_errors', 'port_link_down_events', 'port_pause_tx_s']) {
        expect(valueAt(evidence, metric, port, 10e9)).toBe(0);
      }
    }
    expect(valueAt(evidence, 'port_rate_gbps', 'port:leaf-1/p2', 5e9)).toBe(400);
  });

  it('slows only the job that sends over it', async () => {
    const fabric = simulatedFabric(twoJobs);
    await fabric.startJobs();
    await fabric.apply('slow', slowLink(100, 'link:host-1/nic-0--leaf-1/p1'));
    await fabric.advance(10e9);
    const steps = async (job: string): Promise<number> =>
      valueAt(await fabric.observe({ fromNs: 0, toNs: 10e9 }), 'job_steps', `job:${job}`, 10e9);
    const untouched = simulatedFabric(twoJobs);
    await untouched.startJobs();
    await untouched.advance(10e9);
    const before = valueAt(
      await untouched.observe({ fromNs: 0, toNs: 10e9 }),
      'job_steps',
      'job:llm-b',
      10e9,
    );
    expect(await steps('llm-b')).toBe(before);
    expect(await steps('llm-a')).toBeLessThan(before);
  });
});

describe('a NIC whose host side is slow', () => {
  it('bounds payload, stalls for the rest of the time, and shows no lower port speed', async () => {
    const fabric = await oneWireUnder(slowHost(100, 'nic:host-1/nic-0'));
    expect(await goodputGbps(fabric, 3e9, 6e9)).toBeCloseTo(100, 0);
    const evidence = await fabric.observe({ fromNs: 0, toNs: 10e9 });
    const at = (metric: string, element: string, atNs: number): number =>
      valueAt(evidence, metric, element, atNs);
    expect(at('nic_pcie_read_stalled_ratio', 'nic:host-1/nic-0', 5e9)).toBeCloseTo(0.75, 2);
    expect(at('nic_pcie_write_stalled_ratio', 'nic:host-1/nic-0', 5e9)).toBe(0);
    expect(at('nic_pcie_read_stalled_ratio', 'nic:host-1/nic-0', 9e9)).toBe(0);
    expect(at('nic_pcie_read_stalled_ratio', 'nic:host-2/nic-0', 5e9)).toBe(0);
    expect(at('port_rate_gbps', 'port:host-1/nic-0', 5e9)).toBe(400);
    // It can't send fast enough, so there is nobody to pause.
    expect(at('port_pause_tx_s', 'port:host-1/nic-0', 10e9)).toBe(0);
  });

  it('pauses the port that feeds it when it is the receiver, for as long as it is slow', async () => {
    const fabric = await oneWireUnder(slowHost(100, 'nic:host-2/nic-0'));
    const evidence = await fabric.observe({ fromNs: 0, toNs: 10e9 });
    const sent = valueAt(evidence, 'port_pause_tx_s', 'port:host-2/nic-0', 10e9);
    // Of 4 s: all of the time in which the wire would have carried more than the host takes.
    expect(sent).toBeCloseTo(4 * (1 - 100 / PAYLOAD / 400), 1);
    expect(valueAt(evidence, 'port_pause_rx_s', 'port:leaf-1/p2', 10e9)).toBeCloseTo(sent, 1);
    expect(valueAt(evidence, 'port_pause_rx_s', 'port:host-2/nic-0', 10e9)).toBe(0);
    expect(valueAt(evidence, 'port_pause_tx_s', 'port:leaf-1/p2', 10e9)).toBe(0);
    expect(valueAt(evidence, 'nic_pcie_write_stalled_ratio', 'nic:host-2/nic-0', 5e9)).toBeCloseTo(0.75, 2);
  });

  it('does not stall while it has nothing to move', async () => {
    const fabric = simulatedFabric(oneWire);
    await fabric.apply('slow', slowHost(100, 'nic:host-1/nic-0'));
    await fabric.advance(3e9);
    const evidence = await fabric.observe({ fromNs: 0, toNs: 3e9 });
    expect(valueAt(evidence, 'nic_pcie_read_stalled_ratio', 'nic:host-1/nic-0', 3e9)).toBe(0);
  });
});
