/**
 * The shipped experiments on fabrics that are not their own, planned only: each finds something to act on, or is refused
 * since its fault means nothing there, and the one that `fabrics import` prints as next is never refused.
 *
 * Files of other projects are read where FABRICDRILL_INPUTS names them; small ones of the same formats, and fabrics of odd
 * sizes, are made here.
 */
import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planExperiment } from '../../src/drill/plan/planning.js';
import { readDefinitions } from '../../src/cli/files/definitions.js';
import { InputError } from '../../src/core/problem.js';
import { refuseFiles } from '../../src/documents/fabric-document.js';
import { importedFabric } from '../../src/documents/imported-fabric.js';
import { loadFabric } from '../../src/documents/load.js';
import { buildTopology } from '../../src/model/topology/topology-spec.js';
import { loadConfig } from '../../src/system/config/config.js';
import { CHECKOUT } from '../support/cli.js';

const ODD: Record<string, object> = {
  'two hosts at one leaf': { builder: 'leaf-spine', leaves: 1, spines: 1, hostsPerLeaf: 2, gpusPerHost: 1 },
  'three hosts at a leaf each': {
    builder: 'leaf-spine',
    leaves: 3,
    spines: 1,
    hostsPerLeaf: 1,
    gpusPerHost: 1,
  },
  'four hosts of one NIC': { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 },
  'two hosts of 64 GPUs': {
    builder: 'leaf-spine',
    leaves: 2,
    spines: 1,
    hostsPerLeaf: 1,
    gpusPerHost: 64,
    nicsPerHost: 1,
  },
};
const experiments = readdirSync(join(CHECKOUT, 'experiments'))
  .filter((file) => file.endsWith('.yaml'))
  .map(
    (file) =>
      [file, readDefinitions(join(CHECKOUT, 'experiments', file), file).experiments[0].value] as const,
  );

const link = (a: number, b: number): string => `${a} ${b} 100Gbps 1us 0`;
const ns3 = (hosts: number, switches: number, links: readonly string[]): string =>
  [
    `${hosts + switches} ${switches} ${links.length}`,
    Array.from({ length: switches }, (_, at) => hosts + at).join(' '),
    ...links,
  ].join('\n');

const TEXTS: Record<string, string> = {
  'one host (ns3)': ns3(1, 1, [link(0, 1)]),
  'two hosts, one switch (ns3)': ns3(2, 1, [link(0, 2), link(1, 2)]),
  'nine hosts, one switch (ns3)': ns3(
    9,
    1,
    Array.from({ length: 9 }, (_, at) => link(at, 9)),
  ),
  'four hosts, three tiers (ns3)': ns3(4, 5, [
    link(0, 4),
    link(1, 4),
    link(2, 5),
    link(3, 5),
    link(4, 6),
    link(5, 7),
    link(6, 8),
    link(7, 8),
  ]),
  'one server of two (simai)': `4 2 1 1 4 A100\n2 3\n${[link(0, 2), link(1, 2), link(0, 3), link(1, 3)].join('\n')}`,
  'two servers of four (simai)': `12 4 2 2 17 H100\n8 9 10 11\n${[
    ...Array.from({ length: 8 }, (_, gpu) => link(gpu, 8 + Math.floor(gpu / 4))),
    ...Array.from({ length: 8 }, (_, gpu) => link(gpu, 10 + (gpu % 2))),
    link(10, 11),
  ].join('\n')}`,
};
const { inputs } = loadConfig();
for (const file of inputs === undefined
  ? []
  : readdirSync(inputs).filter((name) => name.endsWith('.topology.txt')))
  TEXTS[file] = readFileSync(join(inputs!, file), 'utf8');

const fabrics: [string, unknown][] = [
  ...Object.entries(TEXTS).map(([name, text]): [string, unknown] => {
    const format = text.trimStart().split('\n')[0].trim().split(/\s+/).length === 3 ? 'ns3' : 'simai';
    return [name, importedFabric({ name: 'imported', format, text }).document];
  }),
  ...Object.entries(ODD).map(([name, topology]): [string, unknown] => [
    name,
    {
      apiVersion: 'fabricdrill/v1',
      kind: 'Fabric',
      metadata: { name: 'built' },
      spec: { topology: { hostRate: '100Gbps', fabricRate: '100Gbps', ...topology } },
    },
  ]),
];

/** Why an experiment may be refused: its fault means nothing there, or it is made for a number of ranks or hosts. */
const REASONS: Record<string, RegExp> = {
  'ecmp-collision.yaml': /polarise nothing/,
  'incast.yaml': /8 senders are more than the hosts there are/,
  'job-migration.yaml': /no host can take over/,
  'stale-next-hops.yaml': /leaves no link/,
  'two-faults.yaml':
    /no job matches "bystander".*the fabric is too small for the job bystander: it is left out/,
  'workload.yaml': /wants 32 GPUs; the fabric has \d+.*fit: \{ spareHosts: 0 \}/,
};
const ONE_HOST =
  /has one GPU: a job there has nobody to talk to|it has one host, so its jobs send nothing|leaves no/;

describe.each(fabrics)('on %s', (_, document) => {
  const fabric = loadFabric(document, refuseFiles).value;
  const topology = buildTopology(fabric.spec.topology);
  const hosts = topology.devices.filter(({ role }) => role === 'host').length;

  it.each(experiments)('%s finds its target or says why not', async (file, experiment) => {
    const plan = planExperiment({ experiment, fabric });
    const reason = await plan.then(
      () => undefined,
      (error: unknown) => error as InputError,
    );
    if (reason === undefined) {
      const { faults, unsupported } = await plan;
      expect(unsupported).toEqual([]);
      for (const { kind, targets } of faults) expect(targets.length > 0).toBe(kind !== 'none');
      return;
    }
    expect(reason).toBeInstanceOf(InputError);
    expect(reason.issues).toHaveLength(1);
    expect(reason.issues[0].hint).toEqual(expect.any(String));
    const known = REASONS[file] ?? /nothing/;
    expect(`${reason.issues[0].message} ${reason.issues[0].hint}`).toMatch(
      hosts > 1 ? known : new RegExp(`${known.source}|${ONE_HOST.source}`),
    );
  });

  (hosts > 1 ? it : it.failing)('what an import prints as next is planned', async () => {
    const [, next] = experiments.find(([file]) => file === 'link-down.yaml')!;
    const plan = await planExperiment({ experiment: next, fabric });
    expect(plan.blastRadius.exposedJobs).toContain('exposed');
  });
});

describe('jobs that fit', () => {
  const [, drill] = experiments.find(([file]) => file === 'link-down.yaml')!;
  const planOn = (name: string) =>
    planExperiment({
      experiment: drill,
      fabric: loadFabric(fabrics.find(([one]) => one === name)![1], refuseFiles).value,
    });

  it('share a small fabric, cross its spines, and the plan says what was changed', async () => {
    const { notes, faults } = await planOn('four hosts of one NIC');
    expect(notes).toEqual(
      expect.arrayContaining([
        'the job exposed has 2 GPUs here instead of 32, to fit the fabric',
        'the job bystander has 2 GPUs here instead of 32, to fit the fabric',
      ]),
    );
    expect(faults[0].targets[0].id).toMatch(/leaf.*spine/);
  });

  it('leave out the last, and a wish that nothing fulfils is dropped and told', async () => {
    const { notes } = await planOn('two hosts, one switch (ns3)');
    expect(notes).toContain('the fabric is too small for the job bystander: it is left out');
    expect(notes!.join()).toContain('link-down takes a link without tier: leaf-spine');
  });
});
