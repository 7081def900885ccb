/**
 * After the last fault is gone and its timers have run out, nothing of it is left.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Evidence } from '../../model/telemetry/series.js';
import {
  samplesOf,
  simulatedFabric,
  twoJobs,
  type Impairment,
} from '../../../test/support/simulated-fabric.js';

const END_NS = 12e9;
const { topology } = simulatedFabric(twoJobs).describe();
const switches = topology.devices.filter(({ role }) => role === 'switch');

/** Several faults, some on the same element, some overlapping; none takes a host's processes. */
const faults = fc.array(
  fc.record({
    impairment: fc.oneof(
      fc
        .constantFrom(...topology.links.slice(0, 80))
        .chain(({ id, portA, portB }) =>
          fc.constantFrom<Impairment[]>(
            { type: 'link-cut', link: id },
            { type: 'link-admin-down', link: id, port: `port:${topology.ports[portA].name}` },
            { type: 'blackhole', link: id, fromPort: `port:${topology.ports[portB].name}` },
          ),
        ),
      fc
        .constantFrom(...switches)
        .map(({ name }): Impairment => ({ type: 'node-down', device: `device:${name}` })),
    ),
    fromNs: fc.integer({ min: 1e9, max: 2e9 }),
    lengthNs: fc.oneof(fc.integer({ min: 1, max: 200e6 }), fc.integer({ min: 1, max: 1e9 })),
  }),
  { minLength: 1, maxLength: 5 },
);

describe('failback', () => {
  it('restores states, routes and step times whatever failed and healed, in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(faults, async (drawn) => {
        const fabric = simulatedFabric(twoJobs);
        await fabric.startJobs();
        const actions = drawn
          .flatMap(({ impairment, fromNs, lengthNs }, index) => [
            { timeNs: fromNs, act: () => fabric.apply(`${index}`, impairment) },
            { timeNs: fromNs + lengthNs, act: () => fabric.revert(`${index}`, impairment, {}) },
          ])
          .sort((a, b) => a.timeNs - b.timeNs);
        for (const { timeNs, act } of actions) {
          await fabric.advance(timeNs);
          await act();
        }
        await fabric.advance(END_NS);
        const evidence = await fabric.observe({ fromNs: 0, toNs: END_NS });
        const statuses = ['port_oper_status', 'port_admin_status', 'bfd_session_status', 'device_reachable'];
        const routes = ['route_next_hops', 'route_port_prefixes'];
        const wrong = evidence.series
          .filter(({ metric, values }) =>
            statuses.includes(metric)
              ? values.at(-1) !== 1
              : routes.includes(metric) && values.at(-1) !== values[0],
          )
          .map(({ metric, element }) => `${metric} ${element}`);
        expect(wrong).toEqual([]);
        for (const job of ['job:llm-a', 'job:llm-b']) {
          const steps = samplesOf(evidence, 'job_step_time_s', job);
          expect(steps.at(-1)![0]).toBeGreaterThan(END_NS / 1e9 - 1);
          expect(steps.at(-1)![1]).toBeCloseTo(steps[0][1], 9);
          expect(samplesOf(evidence, 'job_state', job)).toEqual([[0, 1]]);
        }
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});

describe('a switch that keeps stale next hops', () => {
  const uplink = topology.links.find(({ tier }) => tier === 'leaf-spine')!;
  const flap: Impairment = { type: 'link-cut', link: uplink.id };
  const leaf = [uplink.portA, uplink.portB]
    .map((port) => topology.devices[topology.ports[port].device])
    .find(({ tier }) => tier === 'leaf')!;

  async function afterFlap(settings: object): Promise<Evidence> {
    const fabric = simulatedFabric({ ...twoJobs, settings });
    await fabric.startJobs();
    await fabric.advance(1e9);
    await fabric.apply('flap', flap);
    await fabric.advance(2e9);
    await fabric.revert('flap', flap, {});
    await fabric.advance(END_NS);
    return fabric.observe({ fromNs: 0, toNs: END_NS });
  }
  const nextHops = (evidence: Evidence, device: string): number[] =>
    samplesOf(evidence, 'route_next_hops', `device:${device}`).map(([, value]) => value);

  it('is up with all sessions and forwards with one next hop less than before, it alone', async () => {
    const evidence = await afterFlap({ staleNextHops: true });
    for (const { metric, values } of evidence.series) {
      if (metric === 'port_oper_status' || metric === 'bfd_session_status') expect(values.at(-1)).toBe(1);
    }
    const wrong = switches.filter(({ name }) => {
      const counts = nextHops(evidence, name);
      return counts.at(-1) !== counts[0];
    });
    expect(wrong.map(({ name }) => name)).toEqual([leaf.name]);
    expect(nextHops(evidence, leaf.name).at(-1)).toBeLessThan(nextHops(evidence, leaf.name)[0]);
  });

  it('takes them all back where the forwarding plane follows the routes', async () => {
    const counts = nextHops(await afterFlap({}), leaf.name);
    expect(counts.at(-1)).toBe(counts[0]);
  });
});
