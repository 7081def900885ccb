/**
 * Rings as a job on the simulated fabric, beside the packet-level peer's record of the same ring.
 *
 * The peer truncates a packet's 83.84 ns at 100G to 83; the simulated fabric has no such rounding, so its time is
 * scaled by that ratio before the two are compared.
 */
import { describe, expect, it } from '@jest/globals';
import { caseJson } from './cases.js';
import { samplesOf, simulatedFabric } from '../support/simulated-fabric.js';

const PEER_ROUNDING = 83 / 83.84;

async function ringMakespanNs(ranks: number, leaves: number, bytes: string): Promise<number> {
  const fabric = simulatedFabric({
    settings: { mtu: '1000B', headerBytes: 48, ackBytes: 60, switchLatency: '0s' },
    topology: {
      builder: 'leaf-spine',
      leaves,
      spines: 4,
      hostsPerLeaf: ranks / leaves,
      gpusPerHost: 1,
      hostRate: '100Gbps',
      fabricRate: '100Gbps',
      hostDelay: '1000ns',
      fabricDelay: '1000ns',
    },
    jobs: [
      {
        name: 'ring',
        gpus: ranks,
        queuePairs: 1,
        step: { compute: '0s', collectives: [{ collective: 'all-reduce', bytes }] },
      },
    ],
  });
  await fabric.startJobs();
  await fabric.advance(50e6);
  const evidence = await fabric.observe({ fromNs: 0, toNs: 50e6 });
  return samplesOf(evidence, 'job_step_time_s', 'job:ring')[0][1] * 1e9;
}

describe('a ring AllReduce as a job', () => {
  it.each([
    [16, 4, '16MB', 'hpcc_ring16_16MB_dcqcn.json'],
    [64, 16, '64MB', 'hpcc_ring64_64MB_dcqcn.json'],
  ])(
    'of %i ranks on %i leaves takes as long as at packet level, within 1 %%',
    async (ranks, leaves, bytes, file) => {
      const peer = caseJson(file) as { result: { makespan_ns: number } };
      const oursNs = (await ringMakespanNs(ranks, leaves, bytes)) * PEER_ROUNDING;
      expect(Math.abs(oursNs / peer.result.makespan_ns - 1)).toBeLessThanOrEqual(0.01);
    },
  );
});
