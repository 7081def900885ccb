import { expect, it } from '@jest/globals';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import { diagnose } from './index.js';
import { Scenario } from './testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 }),
);
const job = {
  ...{ name: 'llm', placement: Int32Array.of(0, 1, 2, 3), program: { operations: [] } },
  ...{ startNs: 0, queuePairs: 1, priority: 3 },
};
const uplink = topology.links.findIndex(({ id }) => id.includes('spine'));

const cutFrom = (from: number) =>
  diagnose(new Scenario(topology, [job], [{ type: 'cut', at: uplink, from, to: 60 }], [], 1, 0).input());

it('a fault as long as the window leaves no step to compare with: what it cost is not known', () => {
  const { culprits, answer } = cutFrom(0.1);
  expect(culprits.map(({ kind }) => kind)).toEqual(['link-down']);
  expect(answer).toMatch(/What it cost the jobs is not known/);
});

it('steps before the fault show that it cost nothing: it is odd, and no culprit', () => {
  const { culprits, answer, remarks } = cutFrom(30);
  expect(culprits).toEqual([]);
  expect(answer).toMatch(/^No fault found that cost a job anything[.]/);
  expect(remarks?.map(({ kind }) => kind)).toEqual(['link-down']);
});
