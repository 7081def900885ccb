/**
 * Reuse of repeated steps is no approximation: switched off, the evidence has the same bytes.
 */
import { describe, expect, it } from '@jest/globals';
import { createSimulatedFabric } from '../src/drivers/simulated/create-simulated-fabric.js';
import { clusterFabric, drillCluster, hashEvidence, type ClusterCase } from './cluster-case.js';

const CLUSTER: ClusterCase = { gpus: 64, jobs: 2, seconds: 12, tenMetrics: false };

async function evidenceHash(reuse: boolean, seed = 1): Promise<string> {
  const spec = clusterFabric(CLUSTER);
  const fabric = createSimulatedFabric({ name: 'cluster', spec }, seed, { reuse });
  return hashEvidence(await drillCluster(fabric, CLUSTER.seconds));
}

describe('a cluster of 64 GPUs', () => {
  it('gives the same evidence, byte for byte, whether repeated steps are looked up or worked out anew', async () => {
    const looked = await evidenceHash(true);
    expect(await evidenceHash(false)).toBe(looked);
    expect(await evidenceHash(true, 2)).not.toBe(looked);
  });
});
