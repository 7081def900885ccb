/**
 * The proof that drills on real stacks matter: FRR 8.4 as shipped loses ECMP for good after a flap, while BGP is
 * established and its own tables show both paths. The drill must fail it, say where, and not be fooled by a lab that an
 * earlier flap has damaged already; with the cure the same drill passes (linux-lab.e2e-spec.ts).
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { EvidenceIndex } from '../../src/telemetry/series.js';
import { drillLab, type LabDrill } from '../support/lab-drill.js';
import { labDefinition, labDown, labUp, whyNoLabDrills } from '../support/linux-lab.js';

// a limit for what hangs; a drill takes its time
jest.setTimeout(180_000);
const why = whyNoLabDrills('next-hop groups as FRR ships them');

const definition = labDefinition({
  topology: {
    builder: 'leaf-spine',
    leaves: 2,
    spines: 2,
    hostsPerLeaf: 2,
    hostRate: '50Mbps',
    fabricRate: '50Mbps',
  },
  settings: { mtu: '1448B', headerBytes: 66, ackBytes: 66, bfdInterval: '100ms', staleNextHops: true },
  telemetry: { switchInterval: '500ms', nicInterval: '500ms', jobInterval: '500ms' },
  jobs: [
    {
      name: 'exposed',
      hosts: ['host-1', 'host-3', 'host-2', 'host-4'],
      queuePairs: 1,
      step: { compute: '100ms', collectives: [{ collective: 'all-reduce', bytes: '1MB' }] },
    },
  ],
});

const LINK = 'link:leaf-1/p3--spine-1/p1';
const drill = (): Promise<LabDrill> =>
  drillLab(definition, {
    duration: '20s',
    faults: [
      {
        kind: 'link-down',
        params: { variant: 'admin', end: 'lower' },
        target: { type: 'link', names: [LINK] },
        at: '4s',
        duration: '4s',
      },
    ],
    objectives: ['recovery.failed_back == 1'],
  });

const lastValue = ({ evidence }: LabDrill, metric: string, element: string): number =>
  new EvidenceIndex(evidence).get(metric, element)!.values.at(-1)!;

(why === undefined ? describe : describe.skip)('a lab with next-hop groups as FRR 8.4 ships them', () => {
  beforeAll(async () => {
    await labUp(definition);
  });

  afterAll(async () => {
    await labDown(definition);
  });

  it('fails recovery after a flap, and the leaf is named, though BGP says that all is well', async () => {
    const { judgement, ...run } = await drill();
    const { recovery } = judgement.scores;
    expect(recovery.metrics.failed_back).toBe(false);
    expect(judgement.state).toBe('failed');
    const stale = judgement.verdict?.culprits.find(({ kind }) => kind === 'stale-route');
    expect(stale?.element.id).toMatch(/leaf-1/);
    // in the kernel's tables, not in the daemon's
    const full = lastValue({ judgement, ...run }, 'route_next_hops', 'device:leaf-2');
    expect(lastValue({ judgement, ...run }, 'route_next_hops', 'device:leaf-1')).toBeLessThan(full);
    const leaf = `${definition.name}-leaf-1`;
    const folder = `/run/fabricdrill/labs/${definition.name}/leaf-1`;
    const summary = execFileSync(
      'ip',
      ['netns', 'exec', leaf, 'vtysh', '--vty_socket', folder, '-c', 'show bgp summary json'],
      { encoding: 'utf8' },
    );
    expect(summary.match(/"state":"Established"/g)).toHaveLength(2);
  });

  it('proves nothing when it is drilled again as it is', async () => {
    const { judgement } = await drill();
    expect(judgement.state).toBe('inconclusive');
    expect(judgement.reasons.join(' ')).toMatch(/fewer next hops than their siblings before the fault/);
  });
});
