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

it.each([
  ['a fault as long as the window leaves no step to compare with', 0.1, /What it cost the jobs is not known/],
  ['steps before the fault show that it cost nothing', 30, /No job lost time by it/],
])('%s', (_, from, said) => {
  const verdict = diagnose(
    new Scenario(topology, [job], [{ type: 'cut', at: uplink, from, to: 60 }], [], 1, 0).input(),
  );
  expect(verdict.culprits.map(({ kind }) => kind)).toEqual(['link-down']);
  expect(verdict.answer).toMatch(said);
});
