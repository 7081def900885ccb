/**
 * A healthy fabric over thousands of kilometres: 30 ms a hop, slow links between sites, congestion control as it comes.
 */
import { describe, expect, it } from '@jest/globals';
import { compute } from '../../src/drill/compute/compute.js';
import type { DrillReport } from '../../src/drill/compute/task.js';
import { importedFabric } from '../../src/documents/imported-fabric.js';
import { loadExperiment, loadFabric } from '../../src/documents/load.js';
import { refuseFiles } from '../../src/documents/fabric-document.js';

const LINKS = [
  ...[0, 1].map((host) => `${host} 4 400Gbps 0.005ms 0`),
  ...[2, 3].map((host) => `${host} 5 400Gbps 0.005ms 0`),
  ...[4, 5].map((leaf) => `6 ${leaf} 10Gbps 30ms 0`),
];

const control = {
  apiVersion: 'fabricdrill/v1',
  kind: 'Experiment',
  metadata: { name: 'far-none' },
  spec: {
    fabric: 'far',
    seed: 1,
    duration: '60s',
    jobs: [
      {
        ...{ name: 'exposed', gpus: 4, queuePairs: 4 },
        step: { compute: '200ms', collectives: [{ collective: 'all-reduce', bytes: '100MB' }] },
      },
    ],
    faults: [{ kind: 'none', params: {}, at: '20s', duration: '20s' }],
  },
};

describe('a drill without a fault on a fabric with 30 ms a hop', () => {
  it('ends healthy, sends nothing again, and its plan says what pausing takes there', async () => {
    const text = ['7 3 6', '4 5 6', ...LINKS].join('\n');
    const { document } = importedFabric({ name: 'far', format: 'ns3', text });
    const reports: DrillReport[] = [];
    const { judgement, evidence } = await compute(
      {
        experiment: loadExperiment(control, refuseFiles).value,
        fabric: loadFabric(document, refuseFiles).value,
        seed: 1,
        needs: { diagnosis: true, twin: false },
      },
      (report) => reports.push(report),
    );
    expect(judgement.verdict).toMatchObject({ faultFound: false, culprits: [] });
    expect(judgement.notes).toEqual([]);
    const again = evidence!.series.filter(
      ({ metric, values }) =>
        /retrans|timeout|discard|drop|sequence/.test(metric) && values.some((value) => value > 0),
    );
    expect(again).toEqual([]);
    const steps = evidence!.series.find(({ metric }) => metric === 'job_steps')!;
    expect(steps.values.at(-1)).toBeGreaterThan(40);
    const planned = reports.find((report) => report.type === 'planned');
    expect(planned!.plan.notes).toEqual([
      expect.stringMatching(
        /^leaf-\d has 128MB of buffer, and pausing without loss over its links takes 4\.5GB of headroom a port, 13\.5GB for 3 ports, as 2 more: /,
      ),
    ]);
  });
});
