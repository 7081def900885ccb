/**
 * Step times, bandwidths and utilisation against closed forms.
 */
import { describe, expect, it } from '@jest/globals';
import { expandCollective } from '../../model/workload/flows.js';
import { COLLECTIVES, type CollectiveOperation } from '../../model/workload/job.js';
import { oneWire, samplesOf, seriesOf, simulatedFabric } from '../../../test/support/simulated-fabric.js';

/** Frame sizes of the ns-3 peer, without a switch latency of our own. */
const peer = { mtu: '1000B', headerBytes: 48, ackBytes: 60, switchLatency: '0s' };

async function firstStep(
  spec: Record<string, unknown>,
  job: string,
): Promise<{ timeNs: number; utilisation: number; algbw: number; busbw: number }> {
  const fabric = simulatedFabric(spec);
  await fabric.startJobs();
  await fabric.advance(5e9);
  const evidence = await fabric.observe({ fromNs: 0, toNs: 5e9 });
  const first = (metric: string): number => samplesOf(evidence, metric, `job:${job}`)[0][1];
  return {
    timeNs: first('job_step_time_s') * 1e9,
    utilisation: first('job_gpu_utilisation'),
    algbw: first('job_algbw_gbytes_per_s'),
    busbw: first('job_busbw_gbytes_per_s'),
  };
}

describe('a step', () => {
  it('of one flow over two links takes (N + L - 1) packets, twice the delays and L ACKs', async () => {
    const { timeNs } = await firstStep(
      {
        ...oneWire,
        settings: peer,
        topology: {
          ...oneWire.topology,
          hostRate: '100Gbps',
          hostDelay: '1000ns',
        },
        jobs: [
          {
            ...oneWire.jobs[0],
            step: {
              compute: '0s',
              collectives: [{ collective: 'send-receive', parallelism: 'pipeline', bytes: '10MB' }],
            },
          },
        ],
      },
      'sender',
    );
    const packetNs = 1048 / 12.5;
    const ackNs = 60 / 12.5;
    expect(timeNs).toBeCloseTo((10_000 + 1) * packetNs + 4 * 1000 + 2 * ackNs, 3);
  });

  it('of a ring all-reduce takes 2(n-1)/n of the buffer with headers and the ACKs of its neighbour', async () => {
    const ranks = 8;
    const { timeNs, algbw, busbw, utilisation } = await firstStep(
      {
        settings: peer,
        topology: {
          builder: 'leaf-spine',
          leaves: 1,
          spines: 0,
          hostsPerLeaf: ranks,
          gpusPerHost: 1,
          hostRate: '100Gbps',
          hostDelay: '1000ns',
        },
        jobs: [
          {
            name: 'ring',
            gpus: ranks,
            queuePairs: 2,
            step: { compute: '20ms', collectives: [{ collective: 'all-reduce', bytes: '100MB' }] },
          },
        ],
      },
      'ring',
    );
    const wireBytes = ((2 * (ranks - 1)) / ranks) * 100e6 * 1.048;
    const transferNs = (wireBytes * (1 + 60 / 1048)) / 12.5;
    // Beside the first packet's own time: one more store-and-forward, two delays each way, two ACK times.
    const stepNs = 1048 / 12.5 + 4 * 1000 + (2 * 60) / 12.5;
    const collectiveNs = transferNs + 2 * (ranks - 1) * stepNs;
    expect(timeNs).toBeCloseTo(20e6 + collectiveNs, 3);
    expect(algbw).toBeCloseTo(100e6 / collectiveNs, 9);
    expect(busbw).toBeCloseTo(((100e6 / collectiveNs) * 2 * (ranks - 1)) / ranks, 9);
    expect(utilisation).toBeCloseTo(20e6 / (20e6 + collectiveNs), 9);
  });

  it('counts as busy while compute runs beside the network, and with scale-up traffic only', async () => {
    const topology = { builder: 'leaf-spine', leaves: 1, spines: 0, hostsPerLeaf: 2, gpusPerHost: 8 };
    const job = (overlap: number, parallelism: string): Record<string, unknown> => ({
      topology,
      jobs: [
        {
          name: 'a',
          gpus: 16,
          parallelism: { tensor: 8 },
          step: {
            compute: '500ms',
            collectives: [{ collective: 'all-reduce', parallelism, bytes: '1GB', overlap }],
          },
        },
      ],
    });
    expect((await firstStep(job(1, 'data'), 'a')).utilisation).toBe(1);
    expect((await firstStep(job(0, 'data'), 'a')).utilisation).toBeLessThan(1);
    const local = await firstStep(job(0, 'tensor'), 'a');
    expect(local.utilisation).toBe(1);
    expect(local.timeNs).toBeGreaterThan(500e6);
    expect(local.algbw).toBeNaN();
  });
});

describe('compute jitter', () => {
  it('spreads step times around their mean and repeats with the seed', async () => {
    const spec = {
      ...oneWire,
      settings: { computeJitter: 0.1 },
      jobs: [{ ...oneWire.jobs[0], step: { ...oneWire.jobs[0].step, compute: '20ms' } }],
    };
    const times = async (seed: number): Promise<number[]> => {
      const fabric = simulatedFabric(spec, seed);
      await fabric.startJobs();
      await fabric.advance(5e9);
      const evidence = await fabric.observe({ fromNs: 0, toNs: 5e9 });
      return samplesOf(evidence, 'job_step_time_s', 'job:sender').map(([, seconds]) => seconds);
    };
    const first = await times(1);
    expect(new Set(first).size).toBeGreaterThan(first.length / 2);
    expect(await times(1)).toEqual(first);
    expect(await times(2)).not.toEqual(first);
  });
});

describe('a job', () => {
  it('starts at its own time', async () => {
    const fabric = simulatedFabric({ ...oneWire, jobs: [{ ...oneWire.jobs[0], start: '2s' }] });
    await fabric.advance(1e9);
    await fabric.startJobs();
    await fabric.advance(3e9);
    const evidence = await fabric.observe({ fromNs: 0, toNs: 3e9 });
    expect(samplesOf(evidence, 'job_steps', 'job:sender')[0]).toEqual([2, 0]);
    expect(samplesOf(evidence, 'job_state', 'job:sender')).toEqual([[2, 1]]);
  });

  const kinds = [...COLLECTIVES.map((kind) => [kind, 'ring']), ['all-reduce', 'tree']];
  it.each(kinds)(
    'delivers in every step what %s by %s sends over each edge',
    async (collective, algorithm) => {
      const fabric = simulatedFabric({
        topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 2 },
        jobs: [
          {
            name: 'job',
            gpus: 8,
            queuePairs: 2,
            step: { compute: '1s', collectives: [{ collective, algorithm, bytes: '80MB' }] },
          },
        ],
      });
      const { topology, jobs } = fabric.describe();
      const operation = jobs[0].program.operations.find(
        ({ type }) => type === 'collective',
      ) as CollectiveOperation;
      await fabric.startJobs();
      await fabric.advance(10e9);
      const evidence = await fabric.observe({ fromNs: 0, toNs: 10e9 });
      const steps = seriesOf(evidence, 'job_steps', 'job:job').values.at(-1)!;
      expect(steps).toBe(9);
      const expected = new Map<string, number>();
      for (const group of operation.groups) {
        for (const { edges } of expandCollective(operation, group, jobs[0].placement, topology)) {
          for (const { sourceRank, destinationRank, bytes } of edges) {
            const id = `edge:job/${sourceRank}-${destinationRank}`;
            expected.set(id, (expected.get(id) ?? 0) + bytes);
          }
        }
      }
      const seen = evidence.series.filter(({ metric }) => metric === 'edge_tx_bytes');
      expect(seen.length).toBeGreaterThan(0);
      for (const { element, values } of seen) {
        expect(Math.abs(values.at(-1)! - steps * expected.get(element)!)).toBeLessThanOrEqual(1);
      }
    },
  );
});
