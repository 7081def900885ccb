import { describe, expect, it } from '@jest/globals';
import { hashText } from '../../../core/prng.js';
import { buildTopology } from '../../../model/topology/topology-spec.js';
import type { Job } from '../../../model/workload/job.js';
import type { Flow } from '../lab/paths.js';
import { listeningPort, spreadConnections, type TracePaths } from './connections.js';

const topology = buildTopology({
  builder: 'leaf-spine',
  leaves: 2,
  spines: 2,
  hostsPerLeaf: 2,
  gpusPerHost: 1,
  nicsPerHost: 1,
  linksPerSpine: 1,
  hostRate: 0.05,
  fabricRate: 0.05,
} as never);

const leafOf = (host: number): number => (topology.devices[host].name <= 'host-2' ? 1 : 2);

/** Two leaves, two spines, and a hash of ports and ends that picks the spine. */
const trace: TracePaths = async (flows) => flows.map(pathOf);
function pathOf(flow: Flow): string[] {
  const [from, to] = [leafOf(flow.fromHost), leafOf(flow.toHost)];
  const link = (ending: string): string => topology.links.find(({ id }) => id.includes(ending))!.id;
  const [first, last] = [flow.fromHost, flow.toHost].map((host) =>
    link(`${topology.devices[host].name}/nic-0`),
  );
  if (from === to) return [first, last];
  const spine = 1 + (hashText(JSON.stringify(flow), 1) % 2);
  return [first, link(`leaf-${from}/p${2 + spine}`), link(`leaf-${to}/p${2 + spine}`), last];
}

const hosts = ['host-1', 'host-3', 'host-2', 'host-4'].map(
  (name) => topology.devices.find((device) => device.name === name)!.index,
);
const job: Job = {
  name: 'llm',
  placement: Int32Array.from(hosts, (host) => topology.gpus.findIndex((gpu) => gpu.host === host)),
  startNs: 0,
  queuePairs: 1,
  priority: 3,
  program: {
    operations: [
      {
        type: 'collective',
        name: 'data/all-reduce',
        collective: 'all-reduce',
        algorithm: 'ring',
        bytes: 1e6,
        groups: [[0, 1, 2, 3]],
        parallelism: 'data',
        after: [],
      },
    ],
  },
};
const placed = { job, index: 0, placement: job.placement, generation: 1 };

describe('connections of a job', () => {
  it('spread over the uplinks: two flows out of a leaf take two spines', async () => {
    const connections = await spreadConnections(topology, [placed], trace);
    expect(connections.map(({ fromRank, toRank }) => `${fromRank}-${toRank}`)).toEqual([
      '0-1',
      '1-2',
      '2-3',
      '3-0',
    ]);
    for (const leaf of [1, 2]) {
      const uplinks = connections.filter((one) => leafOf(one.fromHost) === leaf).map((one) => pathOf(one)[1]);
      expect(new Set(uplinks).size).toBe(2);
    }
  });

  it('are the same for every process that asks, and others in the next life of the job', async () => {
    const first = await spreadConnections(topology, [placed], trace);
    expect(await spreadConnections(topology, [placed], trace)).toEqual(first);
    const next = await spreadConnections(topology, [{ ...placed, generation: 2 }], trace);
    const ports = new Set(first.map((one) => one.destinationPort));
    expect(next.some((one) => ports.has(one.destinationPort))).toBe(false);
  });

  it('keep clear of each other: ranks, lives and jobs listen on ports of their own', () => {
    const ports = [0, 1, 2].flatMap((index) =>
      [1, 2, 3].flatMap((life) => [0, 1, 119].map((rank) => listeningPort(index, rank, life))),
    );
    expect(new Set(ports).size).toBe(ports.length);
    expect(Math.max(listeningPort(15, 119, 7))).toBeLessThan(65_536);
  });

  it('are still made where no kernel knows a way', async () => {
    const connections = await spreadConnections(topology, [placed], async (flows) => flows.map(() => null));
    expect(connections).toHaveLength(4);
  });
});
