/** What an operator asks first, of hand-made evidence. */
import { describe, expect, it } from '@jest/globals';
import { SeriesBuilder } from '../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import { diagnose } from './index.js';
import type { DiagnosisInput } from './index.js';
import { Scenario } from './testing/scenario.js';
import type { Slowdown, Trouble } from './testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 }),
);
const job = {
  ...{ name: 'llm', placement: Int32Array.of(0, 1, 2, 3), program: { operations: [] } },
  ...{ startNs: 0, queuePairs: 1, priority: 3 },
};
const uplink = topology.links.findIndex(({ id }) => id.includes('spine'));
const nic = topology.nics[1].index;
const seen = (troubles: Trouble[], slow: Slowdown[] = []): DiagnosisInput =>
  new Scenario(topology, [job], troubles, slow, 1, 0).input();

/** The same with steps that compute longer: utilisation stays high while they are long. */
function computing(input: DiagnosisInput): DiagnosisInput {
  const busy = new SeriesBuilder('job_gpu_utilisation', 'job:llm');
  const steps = input.evidence.series.find(({ metric }) => metric === 'job_step_time_s')!;
  steps.values.forEach((tookS, at) => busy.push(steps.timesNs[at], (tookS - 0.3) / tookS));
  const rest = input.evidence.series.filter(({ metric }) => metric !== busy.metric);
  return { ...input, evidence: { ...input.evidence, series: [...rest, busy.build()] } };
}

describe('the first line', () => {
  it('tells network, what changed, who is hit, that it is over, and a step that is safe', () => {
    const { firstLine } = diagnose(
      seen([{ type: 'cut', at: uplink, from: 20, to: 40 }], [{ from: 20, to: 40, factor: 2 }]),
    );
    expect(firstLine).toMatchObject({ area: 'network', ongoing: false });
    expect(firstLine?.probability).toBeGreaterThan(0.9);
    expect(firstLine?.text).toMatch(
      /^Network \(99[.]\d %\): Link leaf-1\S+ went down at 20 s .*slows llm; over since 40 s[.] Next: .*cable/,
    );
  });

  it('tells what is still on', () => {
    const { firstLine } = diagnose(
      seen([{ type: 'cut', at: uplink, from: 40, to: 61 }], [{ from: 40, to: 61, factor: 2 }]),
    );
    expect(firstLine).toMatchObject({ area: 'network', ongoing: true });
    expect(firstLine?.text).toContain('still on');
  });

  it('tells a host', () => {
    const { firstLine } = diagnose(
      seen([{ type: 'slow-host', at: nic, from: 20, to: 40 }], [{ from: 20, to: 40, factor: 2 }]),
    );
    expect(firstLine).toMatchObject({ area: 'host' });
    expect(firstLine?.next).toMatch(/drain the host/);
  });

  it('tells the job whose steps compute longer on all ranks', () => {
    const { firstLine, culprits } = diagnose(computing(seen([], [{ from: 20, to: 61, factor: 2 }])));
    expect(culprits).toEqual([]);
    expect(firstLine).toMatchObject({ area: 'job' });
    expect(firstLine?.probability).toBeGreaterThan(0.5);
  });

  it("can't tell whose fault it is that steps wait longer, and says so", () => {
    const { firstLine } = diagnose(seen([], [{ from: 20, to: 61, factor: 2 }]));
    expect(firstLine).toMatchObject({ area: 'unknown' });
  });

  it('tells that nothing was lost', () => {
    expect(diagnose(seen([])).firstLine).toMatchObject({ area: 'none', ongoing: null });
  });
});
