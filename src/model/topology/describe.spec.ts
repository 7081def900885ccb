import { describe, expect, it } from '@jest/globals';
import { fullForm, summarise } from './describe.js';
import { buildTopology, topologySchema } from './topology-spec.js';

const build = (source: object) => buildTopology(topologySchema.parse(source));

describe('topology summary', () => {
  it('counts tiers, links and rates, and computes oversubscription and diameter', () => {
    const topology = build({
      builder: 'leaf-spine',
      leaves: 2,
      spines: 1,
      hostsPerLeaf: 3,
      hostRate: '100Gbps',
      fabricRate: '200Gbps',
    });
    expect(summarise(topology)).toEqual({
      devices: { host: 6, leaf: 2, spine: 1 },
      nics: 6,
      gpus: 6,
      gpusPerHost: 1,
      scaleUpGbps: 0,
      links: {
        'host-leaf': { count: 6, ratesGbps: [100] },
        'leaf-spine': { count: 2, ratesGbps: [200] },
      },
      rails: 0,
      planes: 0,
      pods: 0,
      diameterLinks: 4,
      leaves: [
        { leaf: 'leaf-1', hostGbps: 300, fabricGbps: 200, oversubscription: 1.5 },
        { leaf: 'leaf-2', hostGbps: 300, fabricGbps: 200, oversubscription: 1.5 },
      ],
    });
  });

  it('knows the diameter of one switch, of three tiers and of two planes', () => {
    const star = summarise(build({ builder: 'leaf-spine', leaves: 1, spines: 0, hostsPerLeaf: 2 }));
    expect([star.diameterLinks, star.leaves[0].oversubscription]).toEqual([2, null]);
    expect(summarise(build({ builder: 'fat-tree', k: 4 })).diameterLinks).toBe(6);
    const dual = summarise(
      build({ builder: 'dual-tor-dual-plane', hosts: 2, gpusPerHost: 2, spinesPerPlane: 1 }),
    );
    expect([dual.diameterLinks, dual.planes, dual.rails, dual.pods]).toEqual([4, 2, 2, 1]);
  });
});

describe('topology document', () => {
  it('names every element once and survives JSON', () => {
    const topology = build({
      builder: 'rail-optimised',
      hosts: 2,
      gpusPerHost: 4,
      nicsPerHost: 2,
      spines: 1,
    });
    const document = fullForm(topology);
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    expect(document.devices.map(({ name }) => name)).toEqual(topology.devices.map(({ name }) => name));
    expect(document.links.map(({ id }) => id)).toEqual(topology.links.map(({ id }) => id));
    expect(document.nics[1]).toEqual({
      name: 'host-1/nic-1',
      host: 'host-1',
      address: '10.0.0.2',
      ports: ['host-1/nic-1'],
      gpus: [2, 3],
    });
    expect(document.links[0]).toMatchObject({
      ends: ['host-1/nic-0', 'leaf-1/p1'],
      rail: 0,
      pod: 0,
      rateGbps: 400,
    });
    const ports = document.devices.flatMap(({ ports: names }) => names);
    expect(new Set(ports).size).toBe(topology.ports.length);
  });
});
