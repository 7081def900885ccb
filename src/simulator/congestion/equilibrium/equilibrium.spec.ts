/** Laws of the steady state, on networks and flows drawn at random: bytes, capacities, causes of pauses, and sameness. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { clos, GBPS, reactionPoint, twin } from '../../../../test/support/fluid-twin.js';
import { Equilibrium } from './equilibrium.js';
import type { EquilibriumFlow, EquilibriumNetwork, EquilibriumResult } from './model.js';

const marking = { kminBytes: 400e3, kmaxBytes: 1600e3, pmax: 0.2 };

const shape = fc.record({
  leaves: fc.integer({ min: 2, max: 4 }),
  spines: fc.integer({ min: 1, max: 3 }),
  hosts: fc.integer({ min: 2, max: 5 }),
  upGbps: fc.constantFrom(50, 100, 200, 400),
  bufferMib: fc.integer({ min: 4, max: 20 }),
  withDcqcn: fc.boolean(),
  lossless: fc.boolean(),
  ends: fc.array(fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000)), { minLength: 1, maxLength: 16 }),
});
type Shape = typeof shape extends fc.Arbitrary<infer Value> ? Value : never;

function draw({ withDcqcn, ends, ...options }: Shape) {
  const net = clos({ ...options, ...(withDcqcn ? { marking, dcqcn: reactionPoint } : {}) });
  const count = options.leaves * options.hosts;
  const flows = ends.map(([from, to, spine]) => {
    const sender = from % count;
    const receiver = to % count === sender ? (sender + 1) % count : to % count;
    return net.flow(sender, receiver, spine % options.spines);
  });
  return { net, ...twin(net.network, flows) };
}

/** Useful and wire bytes that flows put on each direction, from the rates alone. */
function loads(network: EquilibriumNetwork, flows: readonly EquilibriumFlow[], result: EquilibriumResult) {
  const load = new Float64Array(network.directions);
  flows.forEach(({ links, coefficients, count }, flow) => {
    for (let entry = 0; entry < count; entry++) load[links[entry]] += coefficients[entry] * result.rate[flow];
  });
  return load;
}

const copy = (result: EquilibriumResult): string =>
  JSON.stringify([
    Array.from(result.rate),
    Array.from(result.queueBytes),
    Array.from(result.pausedShare),
    Array.from(result.markRatio),
    Array.from(result.dropRatio),
  ]);

describe('the steady state', () => {
  it('carries no more than links can, and through a queue what comes, less what it drops', () => {
    fc.assert(
      fc.property(shape, (drawn) => {
        const { network, flows } = draw(drawn);
        const result = new Equilibrium(network).solve(flows);
        const load = loads(network, flows, result);
        for (let link = 0; link < network.directions; link++) {
          expect(load[link]).toBeLessThanOrEqual(network.capacity[link] * (1 + 1e-3));
          if (!result.congested) continue;
          const [comes, leaves] = [result.arrivalRate[link], result.carriedRate[link]];
          expect(leaves).toBeLessThanOrEqual(network.capacity[link] * (1 + 1e-9));
          expect(Math.abs(comes * (1 - result.dropRatio[link]) - leaves)).toBeLessThan(1e-9);
          if (comes > 0 && drawn.lossless) expect(Math.abs(comes / load[link] - 1)).toBeLessThan(1e-6);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('pauses, marks and drops nobody where everything fits', () => {
    const net = clos({ leaves: 2, spines: 2, hosts: 4, marking, dcqcn: reactionPoint });
    const flows = [net.flow(0, 4, 0), net.flow(4, 1, 1), net.flow(2, 3), net.flow(5, 6)];
    const asked = twin(net.network, flows);
    const result = new Equilibrium(asked.network).solve(asked.flows);
    expect(result.congested).toBe(false);
    expect(result.queueBytes.every((bytes) => bytes === 0)).toBe(true);
    expect(result.rate[2] / GBPS).toBeCloseTo(100, 6);
  });

  it('pauses only in front of a queue that stands, and a lossy switch never', () => {
    fc.assert(
      fc.property(shape, (drawn) => {
        const { network, flows } = draw(drawn);
        const result = new Equilibrium(network).solve(flows);
        for (let link = 0; link < network.directions; link++) {
          if (result.pausedShare[link] === 0) continue;
          expect(drawn.lossless).toBe(true);
          const behind = flows.some(({ paths }) => {
            const at = Array.from(paths.links).indexOf(link);
            return at >= 0 && at + 1 < paths.links.length && result.queueBytes[paths.links[at + 1]] > 1000;
          });
          expect(behind).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('gives the same bytes for the same flows, whatever was asked before', () => {
    fc.assert(
      fc.property(shape, (drawn) => {
        const { network, flows } = draw(drawn);
        const solver = new Equilibrium(network);
        const first = copy(solver.solve(flows));
        solver.solve(flows.slice(1));
        expect(copy(solver.solve(flows))).toBe(first);
        expect(copy(new Equilibrium(network).solve(flows))).toBe(first);
      }),
      { numRuns: 25 },
    );
  });

  it('is the same however directions are numbered and flows are listed', () => {
    fc.assert(
      fc.property(shape, (drawn) => {
        const { network, flows } = draw({ ...drawn, lossless: true, withDcqcn: false });
        const last = network.directions - 1;
        const turned = <T extends Int32Array | Float64Array>(values: T): T => values.slice().reverse() as T;
        const renamed = {
          ...network,
          fromDevice: turned(network.fromDevice),
          toDevice: turned(network.toDevice),
          capacity: turned(network.capacity),
          delayNs: turned(network.delayNs),
          freeShareFactor: turned(network.freeShareFactor!),
        };
        const relisted = flows
          .map((flow) => ({
            ...flow,
            links: flow.links.map((link) => last - link),
            paths: { ...flow.paths, links: flow.paths.links.map((link) => last - link) },
          }))
          .reverse();
        const found = new Equilibrium(network).solve(flows).rate.slice(0, flows.length);
        const other = new Equilibrium(renamed).solve(relisted).rate.slice(0, flows.length).reverse();
        found.forEach((rate, flow) => expect(Math.abs(other[flow] / rate - 1)).toBeLessThan(0.03));
      }),
      { numRuns: 40 },
    );
  });

  it('never carries more to one receiver over a slower link', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 12 }),
        fc.double({ min: 0.05, max: 0.95, noNaN: true }),
        (count, share) => {
          const net = clos({ leaves: 1, spines: 1, hosts: count + 1 });
          const asked = twin(
            net.network,
            Array.from({ length: count }, (_, host) => net.flow(host, count)),
          );
          const total = (): number =>
            new Equilibrium(asked.network)
              .solve(asked.flows)
              .rate.subarray(0, count)
              .reduce((sum, rate) => sum + rate, 0);
          const before = total();
          asked.network.capacity[net.link(count + 1, count)] *= share;
          expect(total() / before).toBeCloseTo(share, 2);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a receiver that accepts nothing', () => {
  it('stops who sends to it, who only shares a link with those, and nobody else', () => {
    const net = clos({ leaves: 2, spines: 1, hosts: 3 });
    const flows = [net.flow(0, 3), net.flow(0, 4), net.flow(1, 4), net.flow(4, 5), net.flow(2, 1)];
    const asked = twin(net.network, flows);
    const toHost = net.link(7, 3);
    const network = { ...asked.network, accepts: (link: number) => (link === toHost ? 0 : Infinity) };
    const result = new Equilibrium(network).solve(asked.flows);
    expect(Array.from(result.rate.subarray(0, 3))).toEqual([0, 0, 0]);
    expect(result.rate[3] / GBPS).toBeCloseTo(100, 6);
    // Leaf, spine and both senders stand still; the queue to the host is as long as its port may make it.
    for (const link of [toHost, net.link(8, 7), net.link(6, 8), net.link(0, 6)]) {
      expect(result.pausedShare[link]).toBe(1);
    }
    expect(result.queueBytes[toHost]).toBeGreaterThan(1e5);
    expect(result.pausedShare[net.link(2, 6)]).toBe(0);
  });
});

describe('classes on one link', () => {
  it('get what is left, and each no less than its part', () => {
    const net = clos({ leaves: 1, spines: 1, hosts: 4 });
    const asked = twin(net.network, [net.flow(0, 3), net.flow(1, 3), net.flow(2, 3)]);
    const network = { ...asked.network, classes: 2 };
    const rates = (caps: number[]): number[] => {
      const flows = asked.flows.map((flow, index) => ({
        ...flow,
        classIndex: Math.min(1, index),
        potential: caps[index] * GBPS,
      }));
      return Array.from(new Equilibrium(network).solve(flows).rate.subarray(0, 3), (rate) => rate / GBPS);
    };
    const [small, ...rest] = rates([20, 100, 100]);
    expect(small).toBeCloseTo(20, 1);
    for (const rate of rest) expect(rate).toBeCloseTo(40, 0);
    const [alone, ...others] = rates([100, 100, 100]);
    expect(alone).toBeCloseTo(50, 0);
    for (const rate of others) expect(rate).toBeCloseTo(25, 0);
  });
});

describe('a switch without pauses', () => {
  it('drops what its link can not carry, and senders repeat most of what they send', () => {
    const net = clos({ leaves: 1, spines: 1, hosts: 5, lossless: false });
    const asked = twin(
      net.network,
      Array.from({ length: 4 }, (_, host) => net.flow(host, 4)),
    );
    const result = new Equilibrium(asked.network).solve(asked.flows);
    const link = net.link(5, 4);
    expect(result.dropRatio[link]).toBeCloseTo(0.75, 1);
    expect(result.carriedRate[link] / GBPS).toBeCloseTo(100, 3);
    expect(result.pathSentRatio[0]).toBeGreaterThan(3);
    expect(4 * result.rate[0]).toBeLessThan(result.carriedRate[link]);
    expect(result.pausedShare.every((share) => share === 0)).toBe(true);
  });

  it('and a headroom too small lose bytes at every pause', () => {
    const net = clos({ leaves: 1, spines: 1, hosts: 5 });
    const asked = twin(
      net.network,
      Array.from({ length: 4 }, (_, host) => net.flow(host, 4)),
    );
    const roomy = new Equilibrium(asked.network).solve(asked.flows);
    expect(roomy.discardRate.every((rate) => rate === 0)).toBe(true);
    const of = asked.network.switchClass;
    const switchClass: typeof of = (device, index) => ({ ...of(device, index), headroomBytes: 8192 });
    const tight = new Equilibrium({ ...asked.network, switchClass }).solve(asked.flows);
    expect(tight.discardRate[net.link(0, 5)]).toBeGreaterThan(0);
    expect(tight.pathSentRatio[0]).toBeGreaterThan(1);
  });
});
