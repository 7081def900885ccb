import { describe, expect, it } from '@jest/globals';
import { deviceId, jobId, portId } from '../../core/elements.js';
import { SeriesBuilder, seriesWith, type Series } from '../../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import type { Job } from '../../model/workload/job.js';
import { diagnose } from '../index.js';
import type { DiagnosisInput, Verdict } from '../index.js';
import { renameDevices } from '../testing/rename.js';
import { Scenario, type Trouble } from '../testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 3, gpusPerHost: 2 }),
);
const host = (name: string): number => topology.devices.find((device) => device.name === name)!.index;
/** On the first two hosts of each leaf; host-3 and host-6 are spare. */
const job: Job = {
  name: 'llm',
  placement: Int32Array.from([0, 1, 2, 3, 6, 7, 8, 9]),
  program: { operations: [{ type: 'compute', name: 'forward', durationNs: 4e8, after: [] }] },
  startNs: 0,
  queuePairs: 1,
  priority: 3,
};
const STEP_S = 0.6;

type Samples = readonly (readonly [s: number, value: number])[];
const seriesOf = (metric: string, element: string, samples: Samples): Series => {
  const builder = new SeriesBuilder(metric, element);
  for (const [s, value] of samples) builder.push(s * 1e9, value);
  return builder.build();
};

/** A stop from one second to another, with so many finished steps to do again. */
interface Stop {
  fromS: number;
  toS: number;
  redone: number;
}

function jobSeries({ fromS, toS, redone }: Stop): Series[] {
  const id = jobId(job.name);
  const steps: [number, number][] = [[0, 0]];
  for (let s = STEP_S, done = 1; s <= 60; s += STEP_S, done++) {
    if (s > fromS && steps.at(-1)![0] < fromS) {
      done -= redone + 1;
      steps.push([toS, done]);
      s = toS;
      continue;
    }
    steps.push([s, done]);
  }
  return [
    seriesOf('job_steps', id, steps),
    seriesOf('job_state', id, [
      [0, 1],
      [fromS, 2],
      [toS, 1],
    ]),
    seriesOf('job_restarts', id, [
      [0, 0],
      [toS, 1],
    ]),
  ];
}

interface Story {
  stop?: Stop;
  /** Host → its words about drains and GPUs in use. */
  drained?: Record<string, Samples>;
  gpus?: Record<string, Samples>;
  /** Host → seconds in which it sends. */
  sends?: Record<string, readonly [number, number]>;
  troubles?: readonly Trouble[];
}

function inputOf({ stop, drained = {}, gpus = {}, sends = {}, troubles = [] }: Story): DiagnosisInput {
  const input = new Scenario(topology, [job], troubles).input();
  const own = [
    ...(stop === undefined ? [] : jobSeries(stop)),
    ...Object.entries(drained).map(([name, samples]) => seriesOf('host_drained', deviceId(name), samples)),
    ...Object.entries(gpus).map(([name, samples]) =>
      seriesOf('host_allocated_gpus', deviceId(name), samples),
    ),
  ];
  const replaced = new Set(own.map(({ metric, element }) => `${metric} ${element}`));
  const kept = input.evidence.series
    .filter(({ metric, element }) => !replaced.has(`${metric} ${element}`))
    .map((series) => cutBytes(series, sends));
  return { ...input, evidence: { ...input.evidence, series: [...kept, ...own] } };
}

/** Both ends of a host's links count only while it sends. */
function cutBytes(series: Series, sends: Record<string, readonly [number, number]>): Series {
  for (const [name, [fromS, toS]] of Object.entries(sends)) {
    const ports = topology.devices[host(name)].ports.flatMap((port) => {
      const { portA, portB } = topology.links[topology.ports[port].link];
      return [portA, portB].map((one) => portId(topology.ports[one].name));
    });
    if (!/^port_[rt]x_bytes$/.test(series.metric) || !ports.includes(series.element)) continue;
    const at = (ns: number): number => {
      const index = series.timesNs.findLastIndex((timeNs) => timeNs <= ns);
      return index < 0 ? 0 : series.values[index];
    };
    const values = Float64Array.from(series.timesNs, (timeNs) =>
      Math.max(0, at(Math.min(timeNs, toS * 1e9)) - at(fromS * 1e9)),
    );
    return seriesWith(series, { timesNs: series.timesNs, values, quality: series.quality });
  }
  return series;
}

const verdictOf = (story: Story): Verdict => diagnose(inputOf(story));
const named = ({ culprits }: Verdict): string[] =>
  culprits.map(({ kind, element }) => `${kind} ${element.id}`);

const MOVED: Story = {
  stop: { fromS: 21, toS: 26, redone: 0 },
  drained: {
    'host-2': [
      [0, 0],
      [20, 1],
      [40, 0],
    ],
    'host-3': [[0, 0]],
  },
  gpus: {
    'host-2': [
      [0, 2],
      [24, 0],
    ],
    'host-3': [
      [0, 0],
      [24, 2],
    ],
  },
  sends: { 'host-2': [0, 21], 'host-3': [26, 60] },
};

describe('a host that ranks left', () => {
  it('is named with the drain as onset, the job, and the host they went to', () => {
    const verdict = verdictOf(MOVED);
    expect(named(verdict)).toEqual(['job-migration device:host-2']);
    const [culprit] = verdict.culprits;
    expect(culprit).toMatchObject({ side: 'configuration', onset_s: 20, lostTimeShare: 1 });
    expect(culprit.probability).toBeGreaterThan(0.99);
    expect(verdict.affectedJobs).toEqual(['llm']);
    expect(verdict.answer).toMatch(/drained at 20 s and left by llm.*from 21 s to 26 s.*on host-3/);
    expect(verdict.answer).toMatch(/lost no finished step/);
    const cited = culprit.evidence.map(({ metric, element, change }) => `${metric} ${element} ${change}`);
    expect(cited).toContain('host_drained device:host-2 0 → 1');
    expect(cited).toContain('host_allocated_gpus device:host-3 0 → 2');
    expect(verdict.ruledOut).toContainEqual(expect.objectContaining({ kind: 'node-down' }));
  });

  it('tells the steps that are done again, and counts them as lost', () => {
    const verdict = verdictOf({ ...MOVED, stop: { fromS: 21, toS: 26, redone: 5 } });
    expect(named(verdict)).toEqual(['job-migration device:host-2']);
    expect(verdict.answer).toMatch(/went back by 5 to the checkpoint/);
    const lostS = Number(/\(([\d.]+) s lost/.exec(verdict.answer)![1]);
    expect(lostS).toBeGreaterThan(5 + 5 * STEP_S - 0.1);
    expect(lostS).toBeLessThan(5 + 6 * STEP_S + 0.1);
  });

  it('is found by its bytes alone where the scheduler is not heard', () => {
    const verdict = verdictOf({ stop: MOVED.stop, sends: MOVED.sends });
    expect(named(verdict)).toEqual(['job-migration device:host-2']);
    expect(verdict.culprits[0].probability).toBeLessThan(verdictOf(MOVED).culprits[0].probability);
  });

  it('is not named where it was dead: the dead host is, with the restart in its account', () => {
    const verdict = verdictOf({
      ...MOVED,
      stop: { fromS: 22, toS: 27, redone: 3 },
      drained: {},
      troubles: [{ type: 'dead', at: host('host-2'), from: 20, to: 40 }],
      sends: { 'host-3': [27, 60] },
    });
    expect(named(verdict)).toEqual(['node-down device:host-2']);
    expect(verdict.answer).toMatch(/restarted at 27 s with 3 steps to do again/);
  });

  it('is nobody where a job restarts on its own hosts, or a host is drained and nobody leaves', () => {
    const still = { 'host-2': [[0, 2]], 'host-3': [[0, 0]] } as const;
    const restart = verdictOf({
      stop: MOVED.stop,
      gpus: still,
      drained: { 'host-2': [[0, 0]], 'host-3': [[0, 0]] },
    });
    expect(named(restart)).toEqual([]);
    expect(restart.faultFound).toBeNull();
    const drain = verdictOf({ drained: MOVED.drained, gpus: still });
    expect(named(drain)).toEqual([]);
    expect(drain.faultFound).toBe(false);
  });

  it('is the same host under other names', () => {
    const input = inputOf(MOVED);
    const names = topology.devices.map(({ index }) => `box-${(index * 7) % topology.devices.length}`);
    const { input: other, rename } = renameDevices(input, names);
    const [culprit] = diagnose(other).culprits;
    const [usual] = diagnose(input).culprits;
    expect(culprit.element.id).toBe(rename(usual.element.id));
    expect(culprit.evidence.map(({ element }) => element)).toEqual(
      usual.evidence.map(({ element }) => rename(element)),
    );
    expect({ ...culprit, element: null, evidence: null }).toEqual({
      ...usual,
      element: null,
      evidence: null,
    });
  });
});
