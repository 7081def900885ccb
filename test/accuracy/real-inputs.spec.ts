/**
 * Topology and workload files as other projects publish them: each becomes a fabric on which the shipped drill can be
 * planned, or a job that plays it. The files are not ours to ship; FABRICDRILL_INPUTS names a folder that has them.
 */
import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDefinitions } from '../../src/cli/files/definitions.js';
import { refuseFiles } from '../../src/documents/fabric-document.js';
import { importedFabric } from '../../src/documents/imported-fabric.js';
import { loadFabric } from '../../src/documents/load.js';
import { planExperiment } from '../../src/drill/plan/planning.js';
import { loadConfig } from '../../src/system/config/config.js';
import { CHECKOUT } from '../support/cli.js';

const { inputs } = loadConfig();
const files = inputs === undefined ? [] : readdirSync(inputs).sort();
const ending = (text: string): string[] => files.filter((file) => file.endsWith(text));
if (inputs === undefined)
  console.log('real inputs are not read: set FABRICDRILL_INPUTS to a folder with such files');

const textOf = (file: string): string => readFileSync(join(inputs!, file), 'utf8');
const [drill] = readDefinitions(join(CHECKOUT, 'experiments/link-down.yaml'), 'link-down.yaml').experiments;

(files.length > 0 ? describe : describe.skip)('real inputs', () => {
  it('hold topologies and workloads', () => {
    expect(ending('.topology.txt').length).toBeGreaterThan(0);
    expect(ending('.workload.txt').length).toBeGreaterThan(0);
  });

  // one switch alone has no link between switches
  it.each(ending('.topology.txt').filter((file) => !file.startsWith('hpcc-mix')))(
    'the shipped drill finds its target on %s',
    async (file) => {
      const format = textOf(file).split('\n')[0].trim().split(/\s+/).length === 3 ? 'ns3' : 'simai';
      const { document } = importedFabric({ name: 'imported', format, text: textOf(file), file });
      const plan = await planExperiment({
        experiment: drill.value,
        fabric: loadFabric(document, refuseFiles).value,
      });
      expect(plan.unsupported).toEqual([]);
      expect(plan.faults[0].targets).toHaveLength(1);
      expect(plan.blastRadius.exposedJobs).toEqual(['exposed']);
    },
  );

  it.each(ending('.workload.txt'))('a job plays %s', async (file) => {
    const tensor = Number(/model_parallel_NPU_group: (\d+)/.exec(textOf(file))![1]);
    const fabric = {
      apiVersion: 'fabricdrill/v1',
      kind: 'Fabric',
      metadata: { name: 'plays' },
      spec: {
        topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 4, gpusPerHost: 8 },
        jobs: [
          { name: 'exposed', gpus: 64, parallelism: { tensor }, workload: { text: textOf(file), file } },
        ],
      },
    };
    const experiment = structuredClone(drill.value);
    experiment.spec.faults[0] = {
      ...experiment.spec.faults[0],
      target: { type: 'link', tier: 'host-leaf' },
    } as never;
    const plan = await planExperiment({ experiment, fabric: loadFabric(fabric, refuseFiles).value });
    expect(plan.faults[0].targets).toHaveLength(1);
  });
});
