/** What a plan says of wiring that is odd, and of those whom a fault cuts off; and that it is silent on fabrics wired alike. */
import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../support/cli.js';
import { readDefinitions } from '../../src/cli/files/definitions.js';
import { refuseFiles } from '../../src/documents/fabric-document.js';
import { importedFabric } from '../../src/documents/imported-fabric.js';
import { loadFabric } from '../../src/documents/load.js';
import { buildTopology, topologySchema } from '../../src/model/topology/topology-spec.js';
import { wiringRemarks } from '../../src/model/topology/wiring.js';
import { loadConfig } from '../../src/system/config/config.js';
import type { PlannedFault } from '../../src/drill/plan/planned.js';
import { cutOffNotes } from '../../src/drill/plan/cut-off.js';

type Link = { a: string; b: string; rate: string; delay: string; rail?: number };
const nic = (host: number, number: number, leaf: number): Link => ({
  a: `host-${host}/nic-${number}`,
  b: `leaf-${leaf}`,
  rate: '100Gbps',
  delay: '1us',
});
const up = (leaf: number, spine: number, rate = '200Gbps'): Link => ({
  a: `leaf-${leaf}`,
  b: `spine-${spine}`,
  rate,
  delay: '1us',
});
const fabricOf = (leaves: number, hosts: number, links: readonly Link[]) =>
  buildTopology(
    topologySchema.parse({
      builder: 'explicit',
      nodes: [
        ...Array.from({ length: leaves }, (_, at) => ({
          role: 'switch',
          name: `leaf-${at + 1}`,
          tier: 'leaf',
        })),
        ...[1, 2].map((at) => ({ role: 'switch', name: `spine-${at}`, tier: 'spine' })),
        ...Array.from({ length: hosts }, (_, at) => ({ role: 'host', name: `host-${at + 1}` })),
      ],
      links,
      gpusPerHost: 2,
    }),
  );
const WELL = [up(1, 1), up(1, 2), up(2, 1), up(2, 2)];
const RAILS = [1, 2, 3].flatMap((host) => [nic(host, 0, 1), nic(host, 1, 2)]);
const swapped = [nic(1, 0, 1), nic(1, 1, 2), nic(2, 0, 2), nic(2, 1, 1), nic(3, 0, 1), nic(3, 1, 2)];
const lonely = [...WELL, up(3, 1), up(3, 1), nic(4, 0, 3), nic(4, 1, 3)];

const downOf = (type: string, element: object): PlannedFault[] =>
  [{ name: 'death', impairments: [{ impairment: { type, ...element } }] }] as unknown as PlannedFault[];

describe('wiring', () => {
  it('is remarked where rails are swapped, a host gathers its NICs, and a leaf hangs on one spine', () => {
    expect(wiringRemarks(fabricOf(3, 4, [...swapped, ...lonely]))).toEqual([
      'rails of host-2 look swapped: host-2/nic-0 (rail 0) is at leaf-2, where other hosts have rail 1, and host-2/nic-1 (rail 1) is at leaf-1, where other hosts have rail 0',
      'host-4 has its 2 links at leaf-3, where most hosts have theirs at 2 leaves',
      'leaf-3 has its 2 uplinks at spine-1, where most leaves reach 2 switches above: without spine-1 it is cut off',
    ]);
  });

  it('is remarked where a leaf has slower uplinks', () => {
    const slow = [...WELL, up(3, 1, '100Gbps'), up(3, 2), nic(4, 0, 3)];
    expect(wiringRemarks(fabricOf(3, 4, [...RAILS, ...slow]))).toEqual([
      'leaf-3 has 2 uplinks of 300 Gbps together, where most leaves have 400 Gbps',
    ]);
  });

  it('gets no remark where it is alike, on no builder and no shipped fabric', () => {
    expect(wiringRemarks(fabricOf(2, 3, [...RAILS, ...WELL]))).toEqual([]);
    const folders = ['experiments', 'experiments/fabrics', 'experiments/suites/upgrades'];
    const files = folders.flatMap((folder) =>
      readdirSync(join(CHECKOUT, folder)).flatMap((file) =>
        file.endsWith('.yaml') ? [join(CHECKOUT, folder, file)] : [],
      ),
    );
    const fabrics = files.flatMap((file) => readDefinitions(file, file).fabrics);
    expect(fabrics.length).toBeGreaterThan(10);
    for (const { value } of fabrics) expect(wiringRemarks(buildTopology(value.spec.topology))).toEqual([]);
    for (const shape of [
      { builder: 'leaf-spine', leaves: 4, spines: 2, hostsPerLeaf: 3, nicsPerHost: 2, gpusPerHost: 2 },
      { builder: 'dual-tor-dual-plane', hosts: 8, gpusPerHost: 4 },
      { builder: 'fat-tree', k: 4 },
    ]) {
      const parsed = topologySchema.safeParse(shape);
      if (parsed.success) expect(wiringRemarks(buildTopology(parsed.data))).toEqual([]);
    }
  });

  const { inputs } = loadConfig();
  if (inputs === undefined)
    console.log('real topologies are not read: set FABRICDRILL_INPUTS to a folder with such files');
  (inputs === undefined ? it.skip : it)('gets no remark on real topologies', () => {
    for (const file of readdirSync(inputs!).filter((name) => name.endsWith('.topology.txt'))) {
      const text = readFileSync(join(inputs!, file), 'utf8');
      const format = text.split('\n')[0].trim().split(/\s+/).length === 3 ? 'ns3' : 'simai';
      const { spec } = loadFabric(importedFabric({ name: 'real', format, text }).document, refuseFiles).value;
      expect([file, wiringRemarks(buildTopology(spec.topology))]).toEqual([file, []]);
    }
  });
});

describe('a plan', () => {
  const topology = fabricOf(3, 4, [...swapped, ...lonely]);

  it('names the leaf and the hosts that a dead spine cuts off', () => {
    expect(cutOffNotes(downOf('node-down', { device: 'device:spine-1' }), topology)).toEqual([
      'death cuts host-4 (at leaf-3) off from the others: there is no other way',
    ]);
    expect(cutOffNotes(downOf('node-down', { device: 'device:spine-2' }), topology)).toEqual([]);
  });

  it('names all below a dead leaf, even where no other is left', () => {
    const one = fabricOf(1, 2, [nic(1, 0, 1), nic(2, 0, 1), up(1, 1), up(1, 2)]);
    const death = downOf('node-down', { device: 'device:leaf-1' });
    expect(cutOffNotes(death, one)).toEqual([
      'death cuts host-1, host-2 (at leaf-1) off from the others: there is no other way',
    ]);
    expect(cutOffNotes(downOf('link-cut', { link: one.links[0].id }), one)).toEqual([
      'death cuts host-1 (at leaf-1) off from the others: there is no other way',
    ]);
  });

  it('is silent on faults that cut nobody off, and does not name the dead', () => {
    expect(cutOffNotes(downOf('link-rate', { link: topology.links[0].id }), topology)).toEqual([]);
    expect(cutOffNotes(downOf('node-down', { device: 'device:host-1' }), topology)).toEqual([]);
  });
});
