/** What stands out and cost nothing is told, and nobody is blamed. */
import { describe, expect, it } from '@jest/globals';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import { diagnose } from './index.js';
import { Scenario, toldOf } from './testing/scenario.js';
import type { Slowdown, Trouble } from './testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 3, hostsPerLeaf: 2, gpusPerHost: 2 }),
);
const jobNamed = (name: string, gpus: readonly number[]) => ({
  ...{ name, placement: Int32Array.from(gpus), program: { operations: [] } },
  ...{ startNs: 0, queuePairs: 1, priority: 3 },
});
const jobs = [jobNamed('llm-a', [0, 1, 4, 5, 8, 9]), jobNamed('llm-b', [2, 3])];
const slow: Slowdown[] = [{ from: 20, to: 40, factor: 2 }];
const scene = (troubles: Trouble[], slowdowns: Slowdown[]) =>
  new Scenario(topology, jobs, troubles, slowdowns).input();
const uplink = topology.ports.find(({ name }) => name === 'spine-2/p1')!.link;
const idOf = (link: number): string => topology.links[link].id;

describe('a cut', () => {
  it('makes no culprit of what cost nothing: it is odd', () => {
    const verdict = diagnose(scene([{ type: 'cut', at: uplink, from: 20, to: 40 }], []));
    expect(verdict).toMatchObject({ faultFound: false, culprits: [], firstLine: { area: 'none' } });
    expect(verdict.remarks?.map(({ text }) => text)).toEqual([
      `Link ${idOf(uplink).replace('link:', '')} went down at 20 s and stayed down until 40 s; no job lost time by it.`,
    ]);
    expect(verdict.remarks?.[0].evidence).toContainEqual(
      expect.objectContaining({ metric: 'port_oper_status', change: '1 → 0' }),
    );
  });

  it('is not put down to a link that no flow of the late job can cross', () => {
    // both ranks of llm-b sit on one host, so that it sends nothing over the fabric
    const alone = new Scenario(
      topology,
      [jobNamed('llm-b', [2, 3])],
      [{ type: 'cut', at: uplink, from: 20, to: 40 }],
      slow,
    );
    const verdict = diagnose(alone.input());
    expect(verdict).toMatchObject({ faultFound: null, culprits: [] });
    expect(toldOf(verdict)).toEqual([idOf(uplink)]);
  });
});
