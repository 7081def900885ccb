/**
 * The five faults on real network stacks: a leaf-spine lab with FRR, BFD and two real jobs, one lab for all of them.
 *
 * Drills are short and the machine may be loaded, so figures are bounded as widely as the reference measurements allow.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import type { CulpritKind } from '../../src/telemetry/vocabulary.js';
import { EvidenceIndex } from '../../src/telemetry/series.js';
import { drillLab, type LabDrill } from '../support/lab-drill.js';
import { labDefinition, labDown, labUp, whyNoLabDrills } from '../support/linux-lab.js';

// a limit for what hangs; a drill takes its time
jest.setTimeout(180_000);
const why = whyNoLabDrills('drills on a lab of Linux namespaces');

const job = (name: string, hosts: string[], bytes: string): Record<string, unknown> => ({
  name,
  hosts,
  queuePairs: 1,
  checkpoint: { every: 5, duration: '100ms' },
  step: { compute: '150ms', collectives: [{ collective: 'all-reduce', bytes }] },
});

const definition = labDefinition({
  topology: {
    builder: 'leaf-spine',
    leaves: 2,
    spines: 2,
    hostsPerLeaf: 4,
    hostRate: '50Mbps',
    fabricRate: '50Mbps',
  },
  settings: { mtu: '1448B', headerBytes: 66, ackBytes: 66, bfdInterval: '100ms' },
  telemetry: { switchInterval: '500ms', nicInterval: '500ms', jobInterval: '500ms' },
  jobs: [
    job('exposed', ['host-1', 'host-5', 'host-2', 'host-6'], '1MB'),
    job('bystander', ['host-7', 'host-8'], '500kB'),
  ],
});

// six steps before, a dozen within, and routes are back seconds after their link
const at = { at: '3s', duration: '6s' };
const uplink = {
  type: 'link',
  tier: 'leaf-spine',
  usedBy: 'exposed',
  notUsedBy: 'bystander',
  order: 'random',
};
const access = {
  type: 'link',
  tier: 'host-leaf',
  usedBy: 'exposed',
  notUsedBy: 'bystander',
  order: 'random',
};

const drill = (kind: string, params: Record<string, unknown>, target: unknown): Promise<LabDrill> =>
  drillLab(definition, { duration: '18s', faults: [{ kind, params, target, ...at }] });

/** The culprit of this kind; a loaded machine brings slow ranks of its own into the verdict. */
function named({ judgement }: LabDrill, kind: CulpritKind): { id: string; onset: number | null } | undefined {
  const found = judgement.verdict?.culprits.find((culprit) => culprit.kind === kind);
  return found === undefined ? undefined : { id: found.element.id, onset: found.onset_s };
}

const target = ({ plan }: LabDrill): string => plan.faults[0].targets[0].id;

const samples = ({ evidence }: LabDrill, metric: string, element: string): [number, number][] => {
  const series = new EvidenceIndex(evidence).get(metric, element);
  if (series === undefined) throw new Error(`there is no ${metric} of ${element}`);
  return [...series.timesNs].map((timeNs, index) => [timeNs / 1e9, series.values[index]]);
};

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1];

/** Median time of the steps of the exposed job that lie between two instants for the most part, or fill the time, s. */
function stepS(run: LabDrill, fromNs: number, toNs: number): number {
  const steps = samples(run, 'job_step_time_s', 'job:exposed').filter(([endS, tookS]) => {
    const withinS = Math.min(endS, toNs / 1e9) - Math.max(endS - tookS, fromNs / 1e9);
    return withinS > 0.5 * Math.min(tookS, (toNs - fromNs) / 1e9);
  });
  return median(steps.map(([, tookS]) => tookS));
}

/** How many times longer steps take during the fault, and a second after it, than before. */
function slowdown(run: LabDrill): { during: number; after: number } {
  const { injectedNs, revertedNs, endNs } = run.record;
  const before = stepS(run, 1e9, injectedNs!);
  return {
    during: stepS(run, injectedNs! + 1e9, revertedNs!) / before,
    after: stepS(run, revertedNs! + 1.5e9, endNs) / before,
  };
}

/** No rule, no lower rate, no port that is down: the state in which `up` has left the lab. */
function traces(): string[] {
  const spaces = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' }).split('\n');
  const own = spaces.map((line) => line.split(' ')[0]).filter((name) => name.startsWith(definition.name));
  return own.flatMap((name) => {
    const run = (...command: string[]): string =>
      execFileSync('ip', ['netns', 'exec', name, ...command], { encoding: 'utf8' });
    const tables = run('nft', 'list', 'tables')
      .split('\n')
      .filter((line) => line !== '' && !/ fabricdrill$/.test(line));
    const slow = run('tc', 'qdisc', 'show')
      .split('\n')
      .filter((line) => /tbf/.test(line) && !/rate 50Mbit/.test(line));
    const down = run('ip', '-o', 'link', 'show')
      .split('\n')
      .filter((line) => /state DOWN/.test(line));
    return [...tables, ...slow, ...down].map((line) => `${name}: ${line}`);
  });
}

(why === undefined ? describe : describe.skip)('a lab of Linux namespaces', () => {
  beforeAll(async () => {
    await labUp(definition);
  });

  afterAll(async () => {
    await labDown(definition);
  });

  it('reroutes round a cut link at once and comes back to both', async () => {
    const run = await drill('link-down', { variant: 'cut' }, uplink);
    expect(named(run, 'link-down')?.id).toBe(target(run));
    const { recovered, failed_back: failedBack } = run.judgement.scores.recovery.metrics;
    expect([recovered, failedBack]).toEqual([true, true]);
    expect(slowdown(run).during).toBeGreaterThan(1.2);
    expect(traces()).toEqual([]);
  });

  it('finds a direction that loses everything by BFD, though both ends say up', async () => {
    const run = await drill('link-down', { variant: 'one-way' }, uplink);
    expect(named(run, 'one-way-loss')?.id).toBe(target(run));
    const ports = target(run).slice('link:'.length).split('--');
    for (const port of ports) expect(samples(run, 'port_oper_status', `port:${port}`)).toHaveLength(1);
    const down = ports
      .flatMap((port) => samples(run, 'bfd_session_status', `port:${port}`))
      .filter(([, up]) => up === 0);
    const afterS = Math.min(...down.map(([s]) => s)) - run.record.injectedNs! / 1e9;
    expect(afterS).toBeGreaterThan(0);
    expect(afterS).toBeLessThan(2.5);
    expect(traces()).toEqual([]);
  });

  it('slows down with a port that lost lanes, in step and in rate', async () => {
    const run = await drill('speed-downgrade', { variant: 'lane-loss', lost: 3, lanes: 4 }, access);
    expect(named(run, 'speed-downgrade')?.id).toBe(target(run));
    expect(slowdown(run).during).toBeGreaterThan(1.6);
    expect(slowdown(run).after).toBeLessThan(1.4);
    expect(traces()).toEqual([]);
  });

  it('counts damaged frames at the port that receives them, as often as FEC would lose them', async () => {
    const run = await drill('optic-error', { variant: 'constant', ber: 0.0016 }, access);
    expect(named(run, 'optic-error')?.id).toBe(target(run));
    const leaf = target(run)
      .split('--')
      .find((port) => port.includes('leaf'))!;
    const errors = samples(run, 'port_rx_errors', `port:${leaf}`);
    expect(errors[0][1]).toBe(errors.filter(([s]) => s * 1e9 < run.record.injectedNs!).at(-1)![1]);
    expect(errors.at(-1)![1] - errors[0][1]).toBeGreaterThan(5);
    expect(traces()).toEqual([]);
  });

  it('fills the queue in front of a host to which many send', async () => {
    const run = await drill(
      'incast',
      { variant: 'burst', senders: 5 },
      { type: 'nic', usedBy: 'exposed', notUsedBy: 'bystander', order: 'random' },
    );
    const host = target(run).slice('nic:'.length);
    const link = run.plan.faults[0].truth.length > 0 && run.plan.faults[0].truth[0].elements[0].id;
    expect(run.judgement.verdict?.culprits.map(({ kind, element }) => `${kind} ${element.id}`)).toContain(
      `incast ${link}`,
    );
    const drops = samples(run, 'queue_drop_packets', String(link));
    expect(drops.at(-1)![1]).toBeGreaterThan(drops[0][1]);
    expect(host).toMatch(/^host-/);
    expect(slowdown(run).during).toBeGreaterThan(1.3);
    expect(traces()).toEqual([]);
  });

  it('moves a job off a drained host, from its checkpoint, without redoing a step', async () => {
    const run = await drill(
      'job-migration',
      { variant: 'planned' },
      { type: 'device', tier: 'host', usedBy: 'exposed', notUsedBy: 'bystander', order: 'random' },
    );
    expect(named(run, 'job-migration')?.id).toBe(target(run));
    expect(run.judgement.scores.recovery.metrics.redone_steps).toBe(0);
    const restarts = samples(run, 'job_restarts', 'job:exposed');
    expect(restarts.at(-1)![1]).toBe(1);
    expect(traces()).toEqual([]);
  });

  it('refuses at plan time what no kernel has', async () => {
    const storm = { kind: 'pause-storm', params: {}, target: { type: 'nic', usedBy: 'exposed' }, ...at };
    const run = drillLab(definition, { duration: '12s', faults: [storm] });
    await expect(run).rejects.toThrow();
  });
});
