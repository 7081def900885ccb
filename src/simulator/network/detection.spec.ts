/**
 * Who notices a fault, when, and what the routes do about it.
 */
import { describe, expect, it } from '@jest/globals';
import type { Evidence } from '../../model/telemetry/series.js';
import {
  samplesOf,
  simulatedFabric,
  twoJobs,
  valueAt,
  type Impairment,
} from '../../../test/support/simulated-fabric.js';

/** Times that add up to sums one can tell apart; messages arrive at once. */
const settings = {
  carrierDetection: '7ms',
  carrierDebounce: '110ms',
  routeRepair: '40ms',
  bgpPropagation: '20ms',
  sessionRestore: '2s',
  bfdInterval: '100ms',
  bfdMultiplier: 3,
  deviceBoot: '500ms',
};
const telemetry = { eventDelay: '0s', noise: 0, opticInterval: '1s' };
const UPLINK = 'link:leaf-1/p17--spine-1/p1';
const FROM_S = 2;
const TO_S = 4;

async function observe(impairment: Impairment, overrides: object = {}, endS = 9): Promise<Evidence> {
  const fabric = simulatedFabric({ ...twoJobs, settings: { ...settings, ...overrides }, telemetry });
  await fabric.startJobs();
  await fabric.advance(FROM_S * 1e9);
  await fabric.apply('fault', impairment);
  await fabric.advance(TO_S * 1e9);
  await fabric.revert('fault', impairment, {});
  await fabric.advance(endS * 1e9);
  return fabric.observe({ fromNs: 0, toNs: endS * 1e9 });
}

/** Changes after the first report, as `[ms after the fault began, value]`. */
const changes = (evidence: Evidence, metric: string, element: string): [number, number][] =>
  samplesOf(evidence, metric, element)
    .slice(1)
    .map(([seconds, value]) => [Math.round((seconds - FROM_S) * 1e6) / 1e3, value]);

const rxPower = (evidence: Evidence, port: string): number =>
  valueAt(evidence, 'optic_rx_power_dbm', `port:${port}`, 3.5e9);

const counted = (evidence: Evidence, metric: string, port: string): number =>
  samplesOf(evidence, metric, `port:${port}`).at(-1)![1];

describe('a cut', () => {
  const impairment: Impairment = { type: 'link-cut', link: UPLINK };

  it('is seen by both ends after carrier detection and healed after the debounce', async () => {
    const evidence = await observe(impairment);
    for (const port of ['leaf-1/p17', 'spine-1/p1']) {
      expect(changes(evidence, 'port_oper_status', `port:${port}`)).toEqual([
        [7, 0],
        [2110, 1],
      ]);
      expect(changes(evidence, 'port_admin_status', `port:${port}`)).toEqual([]);
      expect(counted(evidence, 'port_link_down_events', port)).toBe(1);
      expect(rxPower(evidence, port)).toBe(-40);
    }
  });

  it('leaves the FIB of its ends after the repair time, and the others hop by hop', async () => {
    const evidence = await observe(impairment);
    const routes = (device: string): number[] =>
      changes(evidence, 'route_next_hops', `device:${device}`).map(([ms]) => ms);
    // Debounce and session restore pass before the link is used again.
    const backMs = 2000 + 110 + 2000;
    expect(routes('leaf-1')).toEqual([47, backMs]);
    expect(routes('spine-1')).toEqual([47, backMs]);
    expect(routes('leaf-2')).toEqual([67, backMs + 20]);
    expect(routes('spine-2')).toEqual([]);
    expect(changes(evidence, 'route_port_prefixes', 'port:leaf-1/p17')).toEqual([
      [47, 0],
      [backMs, 48],
    ]);
  });

  it('ends the BFD session with the port, not after the BFD timeout', async () => {
    const evidence = await observe(impairment);
    expect(changes(evidence, 'bfd_session_status', 'port:spine-1/p1')).toEqual([
      [7, 0],
      [4110, 1],
    ]);
  });

  it('of a host link comes back without a session, after the repair time', async () => {
    const evidence = await observe({ type: 'link-cut', link: 'link:host-1/nic-0--leaf-1/p1' });
    expect(changes(evidence, 'route_port_prefixes', 'port:leaf-1/p1')).toEqual([
      [47, 0],
      [2150, 1],
    ]);
    expect(changes(evidence, 'route_next_hops', 'device:spine-1').map(([ms]) => ms)).toEqual([67, 2170]);
  });
});

describe('an admin shutdown', () => {
  const impairment: Impairment = { type: 'link-admin-down', link: UPLINK, port: 'port:leaf-1/p17' };

  it('is reported by its own end at once, seen by the peer as loss of carrier, and leaves the light on', async () => {
    const evidence = await observe(impairment);
    expect(changes(evidence, 'port_admin_status', 'port:leaf-1/p17')).toEqual([
      [0, 0],
      [2000, 1],
    ]);
    expect(changes(evidence, 'port_oper_status', 'port:leaf-1/p17')[0]).toEqual([0, 0]);
    expect(changes(evidence, 'port_oper_status', 'port:spine-1/p1')[0]).toEqual([7, 0]);
    expect(changes(evidence, 'port_admin_status', 'port:spine-1/p1')).toEqual([]);
    for (const port of ['leaf-1/p17', 'spine-1/p1']) {
      expect(rxPower(evidence, port)).toBeGreaterThan(-5);
      expect(counted(evidence, 'port_link_down_events', port)).toBe(1);
    }
  });

  it('leaves no rate to report while the port is down', async () => {
    const evidence = await observe(impairment);
    expect(valueAt(evidence, 'port_rate_gbps', 'port:leaf-1/p17', 1e9)).toBe(400);
    expect(valueAt(evidence, 'port_rate_gbps', 'port:leaf-1/p17', 3e9)).toBeNaN();
  });
});

describe('a silent one-way loss', () => {
  const impairment: Impairment = { type: 'blackhole', link: UPLINK, fromPort: 'port:leaf-1/p17' };

  it('between switches is found by BFD while both ends stay up', async () => {
    const evidence = await observe(impairment);
    for (const port of ['leaf-1/p17', 'spine-1/p1']) {
      expect(changes(evidence, 'port_oper_status', `port:${port}`)).toEqual([]);
      expect(changes(evidence, 'bfd_session_status', `port:${port}`)).toEqual([
        [300, 0],
        [4000, 1],
      ]);
      expect(rxPower(evidence, port)).toBeGreaterThan(-5);
    }
    expect(changes(evidence, 'route_next_hops', 'device:leaf-1').map(([ms]) => ms)).toEqual([340, 4000]);
    const sent = counted(evidence, 'port_tx_bytes', 'leaf-1/p17');
    expect(sent).toBeGreaterThan(counted(evidence, 'port_rx_bytes', 'spine-1/p1'));
    expect(counted(evidence, 'port_tx_bytes', 'spine-1/p1')).toBe(
      counted(evidence, 'port_rx_bytes', 'leaf-1/p17'),
    );
  });

  it('is found by the BGP hold time where BFD is off, and then has no session to show', async () => {
    const evidence = await observe(impairment, { bfd: false, bgpHold: '1s' });
    expect(changes(evidence, 'route_next_hops', 'device:leaf-1').map(([ms]) => ms)).toEqual([1040, 4000]);
    expect(evidence.series.some(({ metric }) => metric === 'bfd_session_status')).toBe(false);
  });

  it('on a host link is found by nobody, unless link fault signalling is honoured', async () => {
    const hole: Impairment = {
      type: 'blackhole',
      link: 'link:host-1/nic-0--leaf-1/p1',
      fromPort: 'port:host-1/nic-0',
    };
    const unseen = await observe(hole);
    expect(changes(unseen, 'route_next_hops', 'device:leaf-1')).toEqual([]);
    expect(changes(unseen, 'port_oper_status', 'port:leaf-1/p1')).toEqual([]);
    const seen = await observe(hole, { linkFaultSignalling: true });
    expect(changes(seen, 'port_oper_status', 'port:leaf-1/p1')[0]).toEqual([7, 0]);
  });

  it('shorter than the detection time changes no route', async () => {
    const evidence = await observe(impairment, { bfdMultiplier: 255, bgpHold: '60s' });
    expect(changes(evidence, 'route_next_hops', 'device:leaf-1')).toEqual([]);
  });
});

describe('a dead switch', () => {
  it('falls silent, darkens its neighbours, and reports again once it has booted', async () => {
    const evidence = await observe({ type: 'node-down', device: 'device:spine-1' });
    const reachable = samplesOf(evidence, 'device_reachable', 'device:spine-1');
    expect(reachable.filter(([, value]) => value === 0).map(([seconds]) => Math.floor(seconds))).toEqual([
      3, 4,
    ]);
    const polls = samplesOf(evidence, 'port_tx_bytes', 'port:spine-1/p1').map(([seconds]) =>
      Math.floor(seconds),
    );
    expect(polls).toEqual([0, 1, 2, 5, 6, 7, 8, 9]);
    expect(rxPower(evidence, 'leaf-3/p17')).toBe(-40);
    expect(changes(evidence, 'port_oper_status', 'port:leaf-3/p17')).toEqual([
      [7, 0],
      [2610, 1],
    ]);
    expect(changes(evidence, 'port_oper_status', 'port:spine-1/p3')).toEqual([
      [2500, 0],
      [2610, 1],
    ]);
  });
});

describe('a dead host', () => {
  it('fails its job when the peers give up, and leaves the others alone', async () => {
    const evidence = await observe(
      { type: 'node-down', device: 'device:host-1' },
      { ackTimeoutExponent: 14, adaptiveRetransmission: false },
    );
    const [[failedS]] = samplesOf(evidence, 'job_state', 'job:llm-a').filter(([, state]) => state === 0);
    const patienceS = 8 * 0.067108864;
    expect(failedS).toBeGreaterThanOrEqual(FROM_S + patienceS);
    // At most one computation passes before the peers miss it.
    expect(failedS).toBeLessThan(FROM_S + patienceS + 0.5);
    expect(samplesOf(evidence, 'job_state', 'job:llm-b')).toEqual([[0, 1]]);
    expect(samplesOf(evidence, 'nic_retries_exceeded', 'nic:host-1/nic-0').at(-1)![1]).toBe(0);
    const peers = ['host-2', 'host-3', 'host-4'].map(
      (host) => samplesOf(evidence, 'nic_retries_exceeded', `nic:${host}/nic-0`).at(-1)![1],
    );
    expect(Math.max(...peers)).toBeGreaterThan(0);
  });
});

describe('a member of a LAG', () => {
  /** Two links between each leaf and each spine, and NICs with two ports. */
  const parallel = {
    topology: {
      builder: 'leaf-spine',
      leaves: 2,
      spines: 2,
      linksPerSpine: 2,
      hostsPerLeaf: 2,
      gpusPerHost: 1,
    },
    jobs: [
      {
        name: 'ring',
        gpus: 4,
        placement: { strategy: 'spread' },
        queuePairs: 8,
        step: { compute: '50ms', collectives: [{ collective: 'all-reduce', bytes: '500MB' }] },
      },
    ],
  };
  const dual = {
    ...parallel,
    topology: { builder: 'dual-tor-dual-plane', hosts: 4, gpusPerHost: 1, spinesPerPlane: 2, segments: 2 },
  };

  /** Steps done in the last second of an outage of 10 s, and in a second before it. */
  async function pace(fabricSpec: object, lacp: string, link: string, fromPort: string) {
    const fabric = simulatedFabric({ ...fabricSpec, settings: { ...settings, lacp }, telemetry });
    await fabric.startJobs();
    await fabric.advance(2e9);
    await fabric.apply('hole', { type: 'blackhole', link, fromPort });
    await fabric.advance(12e9);
    const steps = samplesOf(await fabric.observe({ fromNs: 0, toNs: 12e9 }), 'job_steps', 'job:ring');
    const between = (fromS: number, toS: number): number =>
      steps.filter(([seconds]) => seconds > fromS && seconds <= toS).length;
    const stalled = steps.find(([seconds], at) => seconds > FROM_S && seconds - steps[at - 1][0] > 0.5);
    return { before: between(1, 2), late: between(11, 12), backS: stalled?.[0] ?? FROM_S };
  }

  const UP = 'link:leaf-1/p3--spine-1/p1';
  const NIC = 'link:host-1/nic-0/p0--leaf-1/p1';

  it('between switches that silently loses is found by LACP in 3 s where the LAG hides it from BFD', async () => {
    const alone = await pace(parallel, 'off', UP, 'port:leaf-1/p3');
    expect(alone.backS).toBeLessThan(FROM_S + 3);
    const fast = await pace(parallel, 'fast', UP, 'port:leaf-1/p3');
    expect(fast.backS).toBeGreaterThan(FROM_S + 3);
    expect(fast.late).toBeGreaterThan(0);
    const slow = await pace(parallel, 'slow', UP, 'port:leaf-1/p3');
    expect(slow.late).toBe(0);
  });

  it('at a dual-ToR NIC that silently loses is found by LACP, and the other port carries on', async () => {
    const nobody = await pace(dual, 'off', NIC, 'port:host-1/nic-0/p0');
    expect(nobody.late).toBe(0);
    const fast = await pace(dual, 'fast', NIC, 'port:host-1/nic-0/p0');
    expect(fast.backS).toBeGreaterThan(FROM_S + 3);
    expect(fast.late).toBeGreaterThan(0);
    expect(fast.late).toBeLessThanOrEqual(fast.before);
  });

  it.each<[string, Impairment]>([
    ['port', { type: 'link-cut', link: NIC }],
    ['leaf', { type: 'node-down', device: 'device:leaf-1' }],
  ])(
    'at a dual-ToR NIC that goes down with its %s costs less than a second and half of its speed',
    async (_, fault) => {
      const fabric = simulatedFabric({ ...dual, settings, telemetry });
      await fabric.startJobs();
      await fabric.advance(FROM_S * 1e9);
      await fabric.apply('fault', fault);
      await fabric.advance(6e9);
      const steps = samplesOf(await fabric.observe({ fromNs: 0, toNs: 6e9 }), 'job_steps', 'job:ring');
      const timesS = steps.map(([seconds]) => seconds);
      const longestS = Math.max(...timesS.slice(1).map((seconds, at) => seconds - timesS[at]));
      const within = (fromS: number, toS: number): number =>
        timesS.filter((seconds) => seconds > fromS && seconds <= toS).length;
      expect(longestS).toBeLessThan(1);
      expect(within(4, 6)).toBeLessThan(within(0, 2));
      expect(within(4, 6)).toBeGreaterThanOrEqual(within(0, 2) / 2);
    },
  );
});
