import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSimulatedFabric } from '../../../src/drivers/simulated/create-simulated-fabric.js';
import { fabricSpecSchema } from '../../../src/fabric-api/definition.js';
import type { Impairment } from '../../../src/fabric-api/impairment.js';
import type { DiagnosisInput } from '../../../src/diagnosis/index.js';
import { Prng } from '../../../src/core/prng.js';
import type { Topology } from '../../../src/model/topology/model.js';
import { BASELINES } from './index.js';
import { verdictOf } from './answer.js';

const SPEC = fabricSpecSchema.parse({
  topology: { builder: 'leaf-spine', leaves: 4, spines: 2, hostsPerLeaf: 1, gpusPerHost: 2 },
  jobs: [
    {
      name: 'job-a',
      hosts: 'host-*',
      parallelism: { tensor: 2 },
      step: {
        compute: '100ms',
        collectives: [{ collective: 'all-reduce', bytes: '200MB', parallelism: 'data' }],
      },
    },
  ],
});

/** What is observed in 12 s, with something wrong from the fifth second on. */
async function observe(harm?: (topology: Topology) => Impairment): Promise<DiagnosisInput> {
  const fabric = createSimulatedFabric({ name: 'small', spec: SPEC }, 1);
  const { topology, jobs } = fabric.describe();
  await fabric.startJobs();
  await fabric.advance(5e9);
  if (harm !== undefined) await fabric.apply('harm', harm(topology));
  await fabric.advance(12e9);
  const evidence = await fabric.observe({ fromNs: 0, toNs: 12e9 });
  await fabric.close();
  return { topology, jobs, evidence };
}

const hostLink = (topology: Topology) => topology.links.find(({ tier }) => tier === 'host-leaf')!;
const first = (name: keyof typeof BASELINES, input: DiagnosisInput) =>
  BASELINES[name](input, new Prng(1)).at(0);

describe('the baselines', () => {
  test('have nothing to say where nothing happens, but for chance, which always guesses', async () => {
    const input = await observe();
    expect(first('rules', input)).toBeUndefined();
    expect(first('link-votes', input)).toBeUndefined();
    expect(first('chance', input)).toBeDefined();
    expect(verdictOf([])).toMatchObject({ faultFound: false, culprits: [] });
  }, 60_000);

  test('rules read a dead link off its status, and a slow GPU off its clock', async () => {
    const dead = await observe((topology) => ({ type: 'link-cut', link: hostLink(topology).id }));
    expect(first('rules', dead)).toMatchObject({
      kind: 'link-down',
      element: { id: hostLink(dead.topology).id },
    });
    const slow = await observe(() => ({ type: 'compute-slowdown', device: 'device:host-2', factor: 2 }));
    expect(first('rules', slow)).toMatchObject({ kind: 'straggler', element: { id: 'device:host-2' } });
  }, 60_000);

  test('votes find the link that all stalled connections share, without a look at its counters', async () => {
    const input = await observe((topology) => {
      const link = hostLink(topology);
      return { type: 'blackhole', link: link.id, fromPort: `port:${topology.ports[link.portA].name}` };
    });
    const { series } = input.evidence;
    const ownFigures = series.filter(({ metric }) => metric.startsWith('edge_'));
    const blind = { ...input, evidence: { ...input.evidence, series: ownFigures } };
    expect(first('link-votes', blind)).toMatchObject({ element: { id: hostLink(input.topology).id } });
  }, 60_000);

  test('chance draws from its own stream and from nothing else', async () => {
    const input = await observe();
    const quiet = { ...input, evidence: { ...input.evidence, series: [] } };
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        expect(BASELINES.chance(quiet, new Prng(seed))).toEqual(BASELINES.chance(input, new Prng(seed)));
      }),
      { numRuns: 20 },
    );
  }, 60_000);
});
