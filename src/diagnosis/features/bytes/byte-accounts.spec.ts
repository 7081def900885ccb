import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../../../core/prng.js';
import { edgeId, portId } from '../../../core/elements.js';
import type { MetricName } from '../../../model/telemetry/catalog.js';
import { SeriesBuilder } from '../../../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../../../model/topology/topology-spec.js';
import type { Job } from '../../../model/workload/job.js';
import { incast } from '../../hypotheses/incast.js';
import { byteAccounts } from './byte-accounts.js';
import { Context } from '../../series/context.js';
import { observeForeignLoads } from './foreign-load.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 }),
);
const HOSTS = 6;
const job: Job = {
  name: 'llm',
  placement: Int32Array.from(topology.gpus, (_, index) => index),
  program: { operations: [] },
  startNs: 0,
  queuePairs: 1,
  priority: 3,
};
const SECONDS = 30;
const SPEED = topology.links[0].rateGbps * 0.125e9;
const HEADERS = 1.05;
const FOREIGN = { fromS: 10.3, toS: 20.6 };

/** Payload of a connection up to an instant: half a second in each 1.3 s at 60 % of the speed. */
const payload = (atS: number): number => {
  const [whole, part] = [Math.floor(atS / 1.3), atS % 1.3];
  return 0.6 * SPEED * (whole * 0.5 + Math.min(part, 0.5));
};
const foreign = (atS: number, share: number): number =>
  share * SPEED * Math.max(0, Math.min(atS, FOREIGN.toS) - FOREIGN.fromS);

/** A ring of ranks, in which some NICs send to the first one's NIC beside it; some of the samples are lost. */
function contextOf({
  seed = 1,
  lost = 0,
  senders = [] as number[],
  receivers = [0],
  share = 0.2,
  apartS = 0.02,
}): Context {
  const random = new Prng(seed);
  const polled = (metric: MetricName, element: string, valueAt: (atS: number) => number) => {
    const builder = new SeriesBuilder(metric, element);
    const phaseS = apartS * random.uniform();
    for (let second = 0; second < SECONDS; second++) {
      const atS = second + phaseS;
      if (random.uniform() >= lost) builder.push(atS * 1e9, valueAt(atS));
    }
    return builder.build();
  };
  const series = topology.nics.flatMap(({ index, ports: [port] }) => {
    const element = portId(topology.ports[port].name);
    const sent = senders.includes(index) ? (share * receivers.length) / senders.length : 0;
    const received = receivers.includes(index) && senders.length > 0 ? share : 0;
    return [
      polled('edge_tx_bytes', edgeId('llm', index, (index + 1) % HOSTS), payload),
      polled('port_tx_bytes', element, (atS) => HEADERS * payload(atS) + foreign(atS, sent)),
      polled('port_rx_bytes', element, (atS) => HEADERS * payload(atS) + foreign(atS, received)),
    ];
  });
  return new Context({ topology, jobs: [job], evidence: { fromNs: 0, toNs: SECONDS * 1e9, series } });
}

/** The same where ranks send down a chain: the first is sent nothing, and the last sends nothing. */
function chainOf(program: Job['program'], hasAll = true): Context {
  const { topology: same, jobs, evidence } = contextOf({ senders: [2, 5] });
  const missing = [edgeId('llm', HOSTS - 1, 0), ...(hasAll ? [] : [edgeId('llm', 0, 1)])];
  const series = evidence.series.filter(({ element }) => !missing.includes(element));
  return new Context({ topology: same, jobs: [{ ...jobs[0], program }], evidence: { ...evidence, series } });
}

describe('connections that lead one way only', () => {
  const ranks = Array.from({ length: HOSTS }, (_, rank) => rank);
  const chain: Job['program'] = {
    operations: [
      {
        type: 'collective',
        name: 'activations',
        collective: 'send-receive',
        algorithm: 'ring',
        bytes: 1e9,
        groups: [ranks],
        parallelism: 'pipeline',
        after: [],
      },
    ],
  };
  const known = (context: Context): boolean[] => byteAccounts(context, 1).map((one) => one !== null);

  it('are whole where the program of the job asks for no others', () => {
    expect(known(chainOf(chain))).toEqual(ranks.map(() => true));
  });

  it('are not known to be whole where one is missing, or nobody tells the program', () => {
    expect(known(chainOf(chain, false)).slice(0, 2)).toEqual([false, false]);
    expect(known(chainOf({ operations: [] }))[0]).toBe(false);
  });
});

describe('bytes that no job accounts for', () => {
  it('are found with their receiver, their senders and their time', () => {
    const [load, ...others] = observeForeignLoads(contextOf({ senders: [2, 5] }));
    expect(others).toEqual([]);
    expect(load.nic).toBe(0);
    expect(load.senders.map(({ nic }) => nic).sort()).toEqual([2, 5]);
    expect(Math.abs(load.during.fromNs / 1e9 - FOREIGN.fromS)).toBeLessThan(0.2);
    expect(Math.abs(load.during.toNs / 1e9 - FOREIGN.toS)).toBeLessThan(0.2);
    expect(Math.abs(load.bytes / foreign(SECONDS, 0.2) - 1)).toBeLessThan(0.05);
  });

  it('at two receivers at once are told of both, since bytes do not tell which sender sends to whom', () => {
    const context = contextOf({ senders: [2, 5], receivers: [0, 1] });
    const told = incast
      .hypothesise(context, { devices: [], links: [] })
      .map((one) => incast.cause(context, { ...one, kind: 'incast', side: 'unknown', probability: 1 }));
    const [first, second] = [0, 1].map((nic) => topology.nics[nic].name);
    expect(told).toHaveLength(2);
    expect(told[0]).toContain(`sent to ${first} (or to ${second}: which of them to whom is not told)`);
    expect(told[1]).toContain(`sent to ${second} (or to ${first}:`);
    const [alone] = incast.hypothesise(contextOf({ senders: [2, 5] }), { devices: [], links: [] });
    const cause = incast.cause(contextOf({ senders: [2, 5] }), {
      ...alone,
      kind: 'incast',
      side: 'unknown',
      probability: 1,
    });
    expect(cause).toContain(`sent to ${first} at once`);
  });

  it('are nothing where there are none, whichever samples are lost and however polls beat with the traffic', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.double({ min: 0, max: 0.5, noNaN: true }), (seed, lost) => {
        expect(observeForeignLoads(contextOf({ seed, lost, apartS: 0.9 }))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('are never said to be certain beyond what there were, between any two polls', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.double({ min: 0, max: 0.5, noNaN: true }), (seed, lost) => {
        const [account] = byteAccounts(contextOf({ seed, lost, senders: [2, 3], apartS: 0.5 }), 1);
        if (account === null) return;
        const { timesNs, least, most } = account;
        const truth = timesNs.map((timeNs) => foreign(timeNs / 1e9, 0.2));
        let beyond = -Infinity;
        for (let to = 1; to < timesNs.length; to++) {
          for (let from = 0; from < to; from++) {
            beyond = Math.max(beyond, least[to] - most[from] - (truth[to] - truth[from]));
          }
        }
        expect(beyond).toBeLessThanOrEqual(1);
      }),
      { numRuns: 40 },
    );
  });

  it('are not known at a NIC of whose connections some are missing', () => {
    const context = contextOf({ senders: [2, 3] });
    const input = {
      topology,
      jobs: [job],
      evidence: {
        ...context.window,
        series: context.all('port_rx_bytes').concat(context.all('edge_tx_bytes').slice(1)),
      },
    };
    const [first, second, third] = byteAccounts(new Context(input), 1);
    expect([first, second]).toEqual([null, null]);
    expect(third).not.toBeNull();
  });
});
