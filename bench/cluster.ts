/**
 * The scale rows of the flow bench: ten simulated minutes of a cluster with one fault, from 64 to 16 384 GPUs.
 *
 * Each run is a process of its own; wall clock and memory of the best of the repeats. Growth is the exponent e of
 * cost ~ GPUs^e in CPU time between the smallest and the largest size that ran, with the same ten metrics of every
 * port. With reuse of repeated steps switched off, the evidence must come out byte for byte the same. The largest
 * cluster runs when it is asked for by name, since it takes minutes.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ClusterCase, ClusterCost } from './cluster-case.js';
import { measured, unmeasured, type BenchRow } from './row.js';

const SECONDS = 600;
/** Without reuse every step costs what the first one does. */
const REUSE_SECONDS = 6;
const GIGABYTE = 1e9;

interface ScaleRow {
  name: string;
  cluster: ClusterCase;
  floorS: number;
  aimS: number;
  floorGigabytes: number;
  aimGigabytes: number;
  /** Only when named. */
  large: boolean;
}

const CLUSTERS: readonly ScaleRow[] = [
  {
    name: 'cluster_1024',
    cluster: { gpus: 1024, jobs: 2, seconds: SECONDS, tenMetrics: false },
    ...{ floorS: 10, aimS: 2, floorGigabytes: 1, aimGigabytes: 1, large: false },
  },
  {
    name: 'cluster_16384',
    cluster: { gpus: 16_384, jobs: 8, seconds: SECONDS, tenMetrics: true },
    ...{ floorS: 120, aimS: 20, floorGigabytes: 4, aimGigabytes: 2, large: true },
  },
];
const GROWTH = 'cluster_growth';
const SMALLEST: ClusterCase = { gpus: 64, jobs: 2, seconds: SECONDS, tenMetrics: true };
const MIDDLE: ClusterCase = { gpus: 1024, jobs: 2, seconds: SECONDS, tenMetrics: true };

export const CLUSTER_CASES: readonly string[] = [...CLUSTERS.map(({ name }) => name), GROWTH];

export interface ClusterBenchOptions {
  only: readonly string[];
  repeats: number;
  onCase?: (name: string) => void;
}

/** Rows of the clusters that are asked for; all but the largest when none is named. */
export function clusterRows({ only, repeats, onCase }: ClusterBenchOptions): BenchRow[] {
  const asked = (name: string): boolean => only.length === 0 || only.includes(name);
  const rows: BenchRow[] = [];
  let largest: { cluster: ClusterCase; cost: ClusterCost } | undefined;
  for (const row of CLUSTERS.filter(({ name }) => asked(name))) {
    if (row.large && !only.includes(row.name)) {
      rows.push(
        unmeasured(row.name, 'run_s', 's', `takes minutes; run it with: bench flow --only ${row.name}`),
      );
      continue;
    }
    onCase?.(row.name);
    const cost = best(row.cluster, row.large ? 1 : repeats);
    if (row.cluster.tenMetrics) largest = { cluster: row.cluster, cost };
    rows.push(...costRows(row, cost));
    if (!row.large) rows.push(reuseRow(row));
  }
  if (asked(GROWTH) || largest !== undefined) {
    onCase?.(GROWTH);
    rows.push(growthRow(repeats, largest));
  }
  return rows;
}

function costRows(row: ScaleRow, cost: ClusterCost): BenchRow[] {
  const { name, floorS, aimS, floorGigabytes, aimGigabytes } = row;
  return [
    measured(name, 'run_s', cost.buildS + cost.simulateS, { unit: 's', floor: floorS, aim: aimS }),
    measured(name, 'build_s', cost.buildS, { unit: 's' }),
    measured(name, 'cpu_s', cost.cpuS, { unit: 's' }),
    measured(name, 'resident_gb', cost.residentBytes / GIGABYTE, {
      unit: 'GB',
      floor: floorGigabytes,
      aim: aimGigabytes,
    }),
    measured(name, 'steps', cost.steps, { unit: 'steps' }),
    measured(name, 'series', cost.series, { unit: 'series' }),
  ];
}

/** Evidence of the same cluster with and without reuse; fewer simulated seconds, since without it is slow. */
function reuseRow({ name, cluster }: ScaleRow): BenchRow {
  const hashOf = (reuse: boolean): string | undefined =>
    run({ ...cluster, seconds: REUSE_SECONDS, reuse, hash: true }).hash;
  return measured(name, 'reuse_changes_evidence', Number(hashOf(true) !== hashOf(false)), {
    unit: '1 yes, 0 no',
    floor: 0,
    aim: 0,
  });
}

function growthRow(
  repeats: number,
  largest: { cluster: ClusterCase; cost: ClusterCost } | undefined,
): BenchRow {
  const from = best(SMALLEST, repeats);
  const { cluster, cost } = largest ?? { cluster: MIDDLE, cost: best(MIDDLE, repeats) };
  const exponent = Math.log(cost.cpuS / from.cpuS) / Math.log(cluster.gpus / SMALLEST.gpus);
  return measured(GROWTH, `exponent_${SMALLEST.gpus}_to_${cluster.gpus}_gpus`, exponent, {
    unit: 'exponent',
    floor: 1.2,
    aim: 1,
  });
}

function best(cluster: ClusterCase, repeats: number): ClusterCost {
  const costs = Array.from({ length: Math.max(1, repeats) }, () => run(cluster));
  return costs.reduce((least, cost) =>
    cost.buildS + cost.simulateS < least.buildS + least.simulateS ? cost : least,
  );
}

function run(cluster: ClusterCase): ClusterCost {
  const program = fileURLToPath(new URL('./cluster-run.js', import.meta.url));
  const output = execFileSync(
    process.execPath,
    ['--max-old-space-size=8192', program, JSON.stringify(cluster)],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  return JSON.parse(output) as ClusterCost;
}
