/**
 * How long the flow-level simulation of one drill takes: 64 GPUs, two jobs, 60 simulated seconds, a link cut.
 *
 * Eight hosts of eight GPUs, tensor parallel within the host and data-parallel rings between hosts, steps of about
 * 0.4 s; the cut lasts from 20 s to 40 s. Prints the wall time of building and of simulating, best of three.
 */
import { fabricSpecSchema } from '../src/fabric-api/definition.js';
import { createSimulatedFabric } from '../src/drivers/simulated/create-simulated-fabric.js';

/** The fabric of this bench; `builder` gives the rest of the topology. */
export function drillFabric(topology: object): ReturnType<typeof fabricSpecSchema.parse> {
  const job = (name: string, offset: number, bytes: string): object => ({
    name,
    gpus: 32,
    placement: { strategy: 'packed', offset },
    parallelism: { tensor: 8 },
    step: {
      compute: '300ms',
      collectives: [
        { collective: 'all-reduce', parallelism: 'tensor', bytes: '1GB', overlap: 0.5 },
        { collective: 'all-reduce', parallelism: 'data', bytes },
      ],
    },
  });
  return fabricSpecSchema.parse({ topology, jobs: [job('llm-a', 0, '2GB'), job('llm-b', 32, '2GB')] });
}

const TOPOLOGIES: Record<string, object> = {
  'leaf-spine': { builder: 'leaf-spine', leaves: 4, spines: 4, hostsPerLeaf: 2, gpusPerHost: 8 },
  'rail-optimised': { builder: 'rail-optimised', hosts: 8, spines: 4, segments: 2 },
};

export async function measure(
  topology: object,
): Promise<{ buildMs: number; simulateMs: number; evidenceMs: number; steps: number }> {
  const startMs = performance.now();
  const fabric = createSimulatedFabric({ name: 'bench', spec: drillFabric(topology) }, 1);
  const builtMs = performance.now();
  const { links } = fabric.describe().topology;
  const crossing = await Promise.all(links.map((link) => fabric.jobsCrossing(link.id)));
  const used = (tier: string): number =>
    links.findIndex((link, index) => link.tier.startsWith(tier) && crossing[index].length > 0);
  // Within one segment of a rail-optimised fabric rings never climb to a spine.
  const at = used('leaf-spine') >= 0 ? used('leaf-spine') : used('');
  const impairment = { type: 'link-cut', link: links[at].id } as const;
  await fabric.startJobs();
  await fabric.advance(20e9);
  const saved = await fabric.readBack(impairment);
  await fabric.apply('cut', impairment);
  await fabric.advance(40e9);
  await fabric.revert('cut', impairment, saved);
  await fabric.advance(60e9);
  const ranMs = performance.now();
  const evidence = await fabric.observe({ fromNs: 0, toNs: 60e9 });
  const endMs = performance.now();
  const steps = evidence.series.filter((series) => series.metric === 'job_steps');
  return {
    buildMs: builtMs - startMs,
    simulateMs: ranMs - builtMs,
    evidenceMs: endMs - ranMs,
    steps: steps.reduce((sum, series) => sum + Math.max(...series.values), 0),
  };
}

if (process.argv[1]?.endsWith('flow-drill.js')) {
  for (const [name, topology] of Object.entries(TOPOLOGIES)) {
    for (let round = 0; round < 3; round++) {
      const { buildMs, simulateMs, evidenceMs, steps } = await measure(topology);
      process.stdout.write(
        `${name}: build ${buildMs.toFixed(0)} ms, simulate ${simulateMs.toFixed(0)} ms, evidence ${evidenceMs.toFixed(0)} ms, ${steps} steps\n`,
      );
    }
  }
}
