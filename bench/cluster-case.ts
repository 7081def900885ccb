/**
 * A training cluster of any size for the scale bench: what is built, what happens to it, what it costs.
 *
 * Rail-optimised without oversubscription: hosts of eight GPUs, 32 hosts a segment at most, a leaf per rail and segment,
 * as many spines as a leaf has hosts. Jobs take turns over the hosts and over the segments, so that their data-parallel
 * rings climb to the spines and share them; steps of about 0.4 s with tensor parallelism within the host. One fiber
 * between leaf and spine is cut for the middle third of the time.
 */
import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { fabricSpecSchema } from '../src/fabric-api/definition.js';
import { createSimulatedFabric } from '../src/drivers/simulated/create-simulated-fabric.js';
import type { SimulatedFabric } from '../src/drivers/simulated/simulated-fabric.js';
import type { Evidence } from '../src/model/telemetry/series.js';

const GPUS_PER_HOST = 8;
const MOST_HOSTS_A_SEGMENT = 32;

/** Ten counters and gauges of every port, each second, and what is told of devices and jobs beside them. */
export const TEN_PORT_METRICS = [
  ...['port_tx_bytes', 'port_rx_bytes', 'port_tx_discards', 'port_rx_errors', 'port_rate_gbps'],
  ...['port_link_down_events', 'port_pause_rx_s', 'port_pause_tx_s'],
  ...['port_fec_corrected_codewords', 'port_fec_uncorrected_codewords'],
];
const BESIDE_PORTS = [
  ...['device_reachable', 'port_oper_status', 'route_next_hops', 'edge_tx_bytes', 'edge_stalled_s'],
  ...['job_state', 'job_steps', 'job_step_time_s', 'job_gpu_utilisation', 'job_busbw_gbytes_per_s'],
];

export interface ClusterCase {
  gpus: number;
  jobs: number;
  /** Simulated. */
  seconds: number;
  /** Ten metrics of every port instead of all there are. */
  tenMetrics: boolean;
  /** False works repeated steps out anew. */
  reuse?: boolean;
  /** Whether to hash all evidence. */
  hash?: boolean;
}

export interface ClusterCost {
  /** Wall clock, s: from the description to the fabric, then to the end of the simulated time, evidence at hand. */
  buildS: number;
  simulateS: number;
  cpuS: number;
  /** Most resident memory up to the end of the simulation, bytes. */
  residentBytes: number;
  steps: number;
  series: number;
  hash?: string;
}

export function clusterFabric({ gpus, jobs, tenMetrics }: ClusterCase) {
  const hosts = gpus / GPUS_PER_HOST;
  const hostsPerSegment = Math.min(MOST_HOSTS_A_SEGMENT, hosts / 2);
  return fabricSpecSchema.parse({
    topology: {
      builder: 'rail-optimised',
      hosts,
      gpusPerHost: GPUS_PER_HOST,
      segments: hosts / hostsPerSegment,
      spines: hostsPerSegment,
    },
    telemetry: tenMetrics ? { metrics: [...TEN_PORT_METRICS, ...BESIDE_PORTS] } : {},
    jobs: Array.from({ length: jobs }, (_, job) => ({
      name: `llm-${job + 1}`,
      gpus: gpus / jobs,
      placement: {
        strategy: 'spread',
        hosts: Array.from({ length: hosts / jobs }, (__, turn) => `host-${turn * jobs + job + 1}`),
      },
      parallelism: { tensor: GPUS_PER_HOST },
      step: {
        compute: '300ms',
        collectives: [
          { collective: 'all-reduce', parallelism: 'tensor', bytes: '1GB', overlap: 0.5 },
          { collective: 'all-reduce', parallelism: 'data', bytes: '2GB' },
        ],
      },
    })),
  });
}

/** Lets the cluster run, with a fiber cut in the middle third. */
export async function drillCluster(fabric: SimulatedFabric, seconds: number): Promise<Evidence> {
  const impairment = { type: 'link-cut', link: await usedUplink(fabric) } as const;
  await fabric.startJobs();
  await fabric.advance((seconds / 3) * 1e9);
  const saved = await fabric.readBack(impairment);
  await fabric.apply('cut', impairment);
  await fabric.advance(((2 * seconds) / 3) * 1e9);
  await fabric.revert('cut', impairment, saved);
  await fabric.advance(seconds * 1e9);
  return fabric.observe({ fromNs: 0, toNs: seconds * 1e9 });
}

async function usedUplink(fabric: SimulatedFabric): Promise<string> {
  for (const { id, tier } of fabric.describe().topology.links) {
    if (tier === 'leaf-spine' && (await fabric.jobsCrossing(id)).length > 0) return id;
  }
  throw new Error('no job of this cluster uses a spine');
}

export async function runCluster(cluster: ClusterCase): Promise<ClusterCost> {
  const { seconds, reuse = true } = cluster;
  const spec = clusterFabric(cluster);
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const fabric = createSimulatedFabric({ name: 'cluster', spec }, 1, { reuse });
  const builtMs = performance.now();
  const evidence = await drillCluster(fabric, seconds);
  const endMs = performance.now();
  const { user, system } = process.cpuUsage(startCpu);
  const cost: ClusterCost = {
    buildS: (builtMs - startMs) / 1e3,
    simulateS: (endMs - builtMs) / 1e3,
    cpuS: (user + system) / 1e6,
    residentBytes: process.resourceUsage().maxRSS * 1024,
    steps: stepsOf(evidence),
    series: evidence.series.length,
  };
  if (cluster.hash === true) cost.hash = hashEvidence(evidence);
  return cost;
}

function stepsOf(evidence: Evidence): number {
  const ended = evidence.series.filter(({ metric }) => metric === 'job_steps');
  return ended.reduce((sum, { values }) => sum + (values.at(-1) ?? 0), 0);
}

/** Tells any two evidences apart: every series, time, value and quality code goes in. */
export function hashEvidence(evidence: Evidence): string {
  const hash = createHash('sha256');
  for (const { metric, element, timesNs, values, quality } of evidence.series) {
    hash.update(`${metric} ${element} ${timesNs.length}\n`);
    for (const { buffer, byteOffset, byteLength } of [timesNs, values, quality]) {
      hash.update(new Uint8Array(buffer, byteOffset, byteLength));
    }
  }
  return hash.digest('hex');
}
