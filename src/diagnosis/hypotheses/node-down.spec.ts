import { describe, expect, it } from '@jest/globals';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import { diagnose } from '../index.js';
import { Scenario, withoutSamples } from '../testing/scenario.js';
import type { Trouble } from '../testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 4, hostsPerLeaf: 2, gpusPerHost: 4 }),
);
const leaf = topology.devices.find(({ name }) => name === 'leaf-2')!;
const links = leaf.ports.map((port) => topology.ports[port].link);
const ids = links.map((link) => topology.links[link].id).sort();

const cutAll = (from: number, to: number): Trouble[] => links.map((at) => ({ type: 'cut', at, from, to }));
const named = (troubles: Trouble[]): string[] =>
  diagnose(new Scenario(topology, [], troubles).input())
    .culprits.map((culprit) => culprit.element.id)
    .sort();

describe('a device all of whose links are down', () => {
  it('is not dead as long as it answers, however many links that is', () => {
    expect(links.length).toBeGreaterThanOrEqual(12);
    expect(named(cutAll(20, 40))).toEqual(ids);
  });

  it('is not dead when it answered once in the shortest outage a poll can meet', () => {
    expect(named(cutAll(20.5, 22))).toEqual(ids);
  });

  it('is dead when it left its polls unanswered', () => {
    expect(named([{ type: 'dead', at: leaf.index, from: 20, to: 40 }])).toEqual(['device:leaf-2']);
  });

  it('is judged by its counters where nobody polls it', () => {
    const unpolled = (troubles: Trouble[]): string[] =>
      diagnose(
        withoutSamples(
          new Scenario(topology, [], troubles).input(),
          ({ metric }) => metric !== 'device_reachable',
        ),
      )
        .culprits.map((culprit) => culprit.element.id)
        .sort();
    expect(unpolled(cutAll(20, 40))).toEqual(ids);
    expect(unpolled([{ type: 'dead', at: leaf.index, from: 20, to: 40 }])).toEqual(['device:leaf-2']);
  });
});
