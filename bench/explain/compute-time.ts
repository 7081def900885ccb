/**
 * How long one diagnosis computes, on fabrics of 512 and of 16 384 GPUs with one cut link.
 *
 * Measured alone, after all cases, as the median of several. The large one runs only when it is asked for: to simulate it
 * and to collect its 2.4 million series takes longer than to diagnose it. Reading the evidence is part of the time, simulating
 * is not.
 */
import { diagnose } from '../../src/diagnosis/index.js';
import { createSimulatedFabric } from '../../src/drivers/simulated/create-simulated-fabric.js';
import { fabricSpecSchema } from '../../src/fabric-api/definition.js';
import type { Evidence } from '../../src/model/telemetry/series.js';
import { measured, unmeasured, type BenchRow } from '../row.js';
import { quantile } from './figures.js';

interface Size {
  hosts: number;
  segments: number;
  spines: number;
  linksPerSpine: number;
  jobs: number;
  floor: number;
  aim: number;
  repeats: number;
}

const SIZES: Readonly<Record<string, Size>> = {
  'diagnosis-512-gpus': {
    ...{ hosts: 64, segments: 4, spines: 4, linksPerSpine: 4, jobs: 2 },
    ...{ floor: 1, aim: 0.1, repeats: 5 },
  },
  'diagnosis-16384-gpus': {
    ...{ hosts: 2048, segments: 32, spines: 16, linksPerSpine: 4, jobs: 8 },
    ...{ floor: 20, aim: 3, repeats: 3 },
  },
};
const USUAL = 'diagnosis-512-gpus';

/** Names under which the computations can be asked for. */
export const COMPUTE_CASES: readonly string[] = Object.keys(SIZES);

/** @param asked the computations asked for by name; the usual one is timed as well when `usual` */
export async function computeTimeRows(
  asked: readonly string[],
  usual: boolean,
  onCase?: (name: string) => void,
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const name of COMPUTE_CASES) {
    if (asked.includes(name) || (usual && name === USUAL)) {
      onCase?.(name);
      rows.push(await computeTime(name, SIZES[name]));
    } else if (usual) {
      rows.push(unmeasured(name, 'compute_s', 's', `takes a while and 2 GB: ask with --only ${name}`));
    }
  }
  return rows;
}

const WINDOW_NS = 45e9;

async function computeTime(name: string, size: Size): Promise<BenchRow> {
  const { topology, jobs, evidence } = await observe(size);
  const times = Array.from({ length: size.repeats }, () => {
    const startedMs = performance.now();
    diagnose({ topology, jobs, evidence });
    return (performance.now() - startedMs) / 1e3;
  });
  return measured(
    name,
    'compute_s',
    quantile(times, 0.5) ?? NaN,
    {
      unit: 's',
      reference: 'Minder, arXiv 2411.01791, on its own machines',
      referenceValue: 3.6,
      floor: size.floor,
      aim: size.aim,
    },
    true,
  );
}

async function observe(size: Size) {
  const { hosts, segments, spines, linksPerSpine } = size;
  const each = hosts / size.jobs;
  const spec = fabricSpecSchema.parse({
    topology: { builder: 'rail-optimised', hosts, gpusPerHost: 8, segments, spines, linksPerSpine },
    jobs: Array.from({ length: size.jobs }, (_, job) => ({
      name: `job-${job + 1}`,
      gpus: 8 * each,
      placement: { strategy: 'spread' as const, hosts: `host-[${job * each + 1}-${(job + 1) * each}]` },
      parallelism: { tensor: 8 },
      step: {
        compute: '300ms',
        collectives: [{ collective: 'all-reduce' as const, bytes: '2GB', parallelism: 'data' as const }],
      },
    })),
  });
  const fabric = createSimulatedFabric({ name: 'timed', spec }, 1);
  const { topology, jobs } = fabric.describe();
  const link = topology.links.find(({ tier }) => tier === 'host-leaf')!.id;
  await fabric.startJobs();
  await fabric.advance(WINDOW_NS / 3);
  await fabric.apply('cut', { type: 'link-cut', link });
  await fabric.advance(WINDOW_NS);
  const evidence: Evidence = await fabric.observe({ fromNs: 0, toNs: WINDOW_NS });
  await fabric.close();
  return { topology, jobs, evidence };
}
