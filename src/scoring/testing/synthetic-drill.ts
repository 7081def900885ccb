/**
 * A drill made by hand for the scoring specs: two leaves, three spines, an exposed and a bystander job, one uplink
 * cut at 20 s and repaired at 40 s, 60 s in all. Every figure follows from the few numbers in `Story`.
 */
import { deviceId, edgeId, jobId, linkId, portId } from '../../core/elements.js';
import { SeriesBuilder } from '../../model/telemetry/series.js';
import type { Evidence } from '../../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import type { Topology } from '../../model/topology/model.js';
import type { TruthEntry } from '../../faults/ground-truth.js';
import type { Job } from '../../model/workload/job.js';
import { plainVerdict, type Culprit } from '../../diagnosis/verdict.js';
import type { ScoringInput } from '../input.js';

const S = 1e9;
export const INJECTED_S = 20;
export const REVERTED_S = 40;
export const END_S = 60;
export const STEP_S = 0.5;

export interface Story {
  /** How long each job stands still from the injection on, seconds. */
  exposedStallS: number;
  bystanderStallS: number;
  /** Time one step takes afterwards, as a multiple of the step before. */
  slowdown: number;
  /** When the job's scheduler declares the exposed job dead, seconds; null for never. */
  exposedDiesS: number | null;
  /** Seconds from the repair until the link carries traffic and next hops are back; null for never. */
  failbackS: number | null;
  /** Extra baseline scatter of step times, relative, alternating sign. */
  jitter: number;
  /** The exposed job restarts once at this time from a checkpoint so many steps back. */
  restart: { atS: number; stepsBack: number } | null;
}

export const STORY: Story = {
  exposedStallS: 1.5,
  bystanderStallS: 0,
  slowdown: 1,
  exposedDiesS: null,
  failbackS: 2,
  jitter: 0,
  restart: null,
};

/** Builds series by metric and element. */
export class EvidenceWriter {
  private readonly builders = new Map<string, SeriesBuilder>();

  add(metric: string, element: string, timeS: number, value: number, quality?: number): void {
    const key = `${metric} ${element}`;
    let builder = this.builders.get(key);
    if (builder === undefined) this.builders.set(key, (builder = new SeriesBuilder(metric, element)));
    builder.push(timeS * S, value, quality);
  }

  build(endS = END_S): Evidence {
    return {
      fromNs: 0,
      toNs: endS * S,
      series: [...this.builders.values()].map((builder) => builder.build()),
    };
  }
}

export const topology: Topology = buildTopology(
  topologySchema.parse({
    builder: 'leaf-spine',
    leaves: 2,
    spines: 3,
    hostsPerLeaf: 2,
    gpusPerHost: 2,
    hostRate: '100Gbps',
    fabricRate: '100Gbps',
  }),
);

const job = (name: string, hosts: readonly string[]): Job => ({
  name,
  placement: Int32Array.from(
    topology.gpus.flatMap((gpu, index) => (hosts.includes(topology.devices[gpu.host].name) ? [index] : [])),
  ),
  program: { operations: [] },
  startNs: 0,
  queuePairs: 1,
  priority: 3,
});

export const jobs: readonly Job[] = [
  job('exposed', ['host-1', 'host-3']),
  job('bystander', ['host-2', 'host-4']),
];

const portBetween = (from: string, to: string): string => {
  const device = topology.devices.find(({ name }) => name === from)!;
  const index = device.ports.find((port) => {
    const link = topology.links[topology.ports[port].link];
    const peer = link.portA === port ? link.portB : link.portA;
    return topology.devices[topology.ports[peer].device].name === to;
  })!;
  return topology.ports[index].name;
};

export const LEAF_PORT = portBetween('leaf-1', 'spine-2');
export const SPINE_PORT = portBetween('spine-2', 'leaf-1');
export const LINK = linkId(LEAF_PORT, SPINE_PORT);
export const SIBLING_LINK = linkId(portBetween('leaf-1', 'spine-1'), portBetween('spine-1', 'leaf-1'));

export const truth: TruthEntry = {
  kind: 'link-down',
  elements: [
    { type: 'link', id: LINK },
    { type: 'port', id: portId(LEAF_PORT) },
    { type: 'port', id: portId(SPINE_PORT) },
  ],
  side: 'cable',
  direction: 'both',
  fromNs: INJECTED_S * S,
  toNs: REVERTED_S * S,
};

function writeSteps(writer: EvidenceWriter, name: string, stallS: number, story: Story): void {
  const id = jobId(name);
  const exposed = name === 'exposed';
  const dies = exposed ? story.exposedDiesS : null;
  let restart = exposed ? story.restart : null;
  writer.add('job_state', id, 0, 1);
  writer.add('job_steps', id, 0, 0);
  let nowS = 0;
  let stalled = stallS;
  for (let step = 1, done = 1; ; step++, done++) {
    const scatter = 1 + (step % 2 === 0 ? story.jitter : -story.jitter);
    let next = nowS + STEP_S * scatter * (nowS >= INJECTED_S ? story.slowdown : 1);
    if (next > INJECTED_S && stalled > 0) {
      next += stalled;
      stalled = 0;
    }
    if (next > END_S || (dies !== null && next > dies)) break;
    if (restart !== null && next > restart.atS) {
      done -= restart.stepsBack;
      restart = null;
    }
    writer.add('job_steps', id, next, done);
    writer.add('job_step_time_s', id, next, next - nowS);
    nowS = next;
  }
  if (dies !== null) writer.add('job_state', id, dies, 0);
}

/** Rates of leaf-1's uplinks over time, bytes per ns each way: a third each, or all on two while one is dead. */
function uplinkRate(spine: number, timeS: number, story: Story): number {
  if (timeS >= INJECTED_S && timeS < INJECTED_S + story.exposedStallS) return 0;
  const back = story.failbackS === null ? Infinity : REVERTED_S + story.failbackS;
  const dead = timeS >= INJECTED_S && timeS < back;
  if (spine === 2) return dead ? 0 : 3;
  return dead ? 4.5 : 3;
}

function writePorts(writer: EvidenceWriter, story: Story): void {
  const fineS = 0.25;
  for (const spine of [1, 2, 3]) {
    for (const port of [portBetween('leaf-1', `spine-${spine}`), portBetween(`spine-${spine}`, 'leaf-1')]) {
      let bytes = 0;
      for (let timeS = 0; timeS <= END_S; timeS += fineS) {
        if (Number.isInteger(timeS)) {
          writer.add('port_tx_bytes', portId(port), timeS, bytes);
          writer.add('port_rx_bytes', portId(port), timeS, bytes);
        }
        bytes += uplinkRate(spine, timeS, story) * fineS * S;
      }
    }
  }
  for (const { name, link } of topology.ports) {
    const id = portId(name);
    writer.add('port_oper_status', id, 0, 1);
    writer.add('port_rate_gbps', id, 0, topology.links[link].rateGbps);
    if (name !== LEAF_PORT && name !== SPINE_PORT) continue;
    writer.add('port_oper_status', id, INJECTED_S + 0.01, 0);
    writer.add('port_oper_status', id, REVERTED_S + 0.01, 1);
  }
}

function writeRoutes(writer: EvidenceWriter, story: Story): void {
  for (const { name, role, tier } of topology.devices) {
    if (role === 'switch') writer.add('route_next_hops', deviceId(name), 0, tier === 'leaf' ? 16 : 8);
  }
  writer.add('route_port_prefixes', portId(LEAF_PORT), 0, 4);
  writer.add('route_next_hops', deviceId('leaf-1'), INJECTED_S + 0.2, 12);
  writer.add('route_port_prefixes', portId(LEAF_PORT), INJECTED_S + 0.2, 0);
  if (story.failbackS === null) return;
  writer.add('route_next_hops', deviceId('leaf-1'), REVERTED_S + story.failbackS, 16);
  writer.add('route_port_prefixes', portId(LEAF_PORT), REVERTED_S + story.failbackS, 4);
}

function writeEdges(writer: EvidenceWriter, story: Story): void {
  for (const [name, stallS] of [
    ['exposed', story.exposedStallS],
    ['bystander', story.bystanderStallS],
  ] as const) {
    for (const [from, to] of [
      [0, 2],
      [2, 0],
    ]) {
      let bytes = 0;
      for (let timeS = 0; timeS <= END_S; timeS++) {
        writer.add('edge_tx_bytes', edgeId(name, from, to), timeS, bytes);
        const stalledS = Math.max(0, Math.min(timeS + 1, INJECTED_S + stallS) - Math.max(timeS, INJECTED_S));
        bytes += (1 - Math.min(1, stalledS)) * S;
      }
    }
  }
}

/** Evidence of a story. */
export function evidenceOf(story: Story, change?: (writer: EvidenceWriter) => void): Evidence {
  const writer = new EvidenceWriter();
  writeSteps(writer, 'exposed', story.exposedStallS, story);
  writeSteps(writer, 'bystander', story.bystanderStallS, { ...story, slowdown: 1 });
  writePorts(writer, story);
  writeRoutes(writer, story);
  writeEdges(writer, story);
  change?.(writer);
  return writer.build();
}

export const rightCulprit: Culprit = {
  rank: 1,
  kind: 'link-down',
  element: { type: 'link', id: LINK },
  side: 'cable',
  direction: 'both',
  onset_s: INJECTED_S + 0.01,
  lostTimeShare: 1,
  probability: 0.95,
  evidence: [
    { metric: 'port_oper_status', element: portId(LEAF_PORT), change: '1 → 0', window: [20, 40] },
    { metric: 'port_oper_status', element: portId(SPINE_PORT), change: '1 → 0', window: [20, 40] },
  ],
};

/** Everything that scoring needs about a story. */
export function drill(story: Partial<Story> = {}, overrides: Partial<ScoringInput> = {}): ScoringInput {
  return {
    evidence: evidenceOf({ ...STORY, ...story }),
    topology,
    jobs,
    truth: [truth],
    verdict: plainVerdict([rightCulprit]),
    injectedNs: INJECTED_S * S,
    revertedNs: REVERTED_S * S,
    endNs: END_S * S,
    exposedJobs: ['exposed'],
    targetBytesInBaseline: true,
    ...overrides,
  };
}
