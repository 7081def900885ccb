/**
 * The shipped experiments on real network stacks, by the commands that a user types: a leaf-spine lab with FRR, BFD and two
 * real jobs, one lab for all of them.
 *
 * Faults are shorter than shipped, and so are steps, so that it takes two minutes; figures of labs are in
 * `bench explain --only lab`. A busy machine may bring slow ranks of its own into a verdict, so the fault must be among
 * the first three.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { exitCodeOf } from '../../src/scoring/exit-codes.js';
import type { FinalState } from '../../src/scoring/scorecard.js';
import { LabCli, type LabRun } from '../support/lab-cli.js';
import { labNamespaces, labTraces, whyNoLab } from '../support/linux-lab.js';

// a limit for what hangs; a drill takes its time
jest.setTimeout(300_000);
const why = whyNoLab('drills on a lab of Linux namespaces');

const job = (name: string, hosts: string[], bytes: string): Record<string, unknown> => ({
  name,
  hosts,
  queuePairs: 1,
  checkpoint: { every: 5, duration: '100ms' },
  step: { compute: '150ms', collectives: [{ collective: 'all-reduce', bytes }] },
});

const LAB = {
  telemetry: { switchInterval: '500ms', nicInterval: '500ms', jobInterval: '500ms' },
  jobs: [
    job('exposed', ['host-1', 'host-4', 'host-2', 'host-5'], '1MB'),
    job('bystander', ['host-11', 'host-12'], '500kB'),
  ],
};
const RATE = '50Mbit';
const TIMES = { at: '4s', hold: '5s', duration: '15s' };

/** The culprit that is the injected fault, among the first three; or the remark, where it cost the jobs nothing. */
function named({ scorecard }: LabRun): {
  kind: string;
  element: { id: string };
  evidence: { metric: string }[];
} {
  const { verdict, truth } = scorecard;
  const ids = truth.flatMap(({ elements }) => elements.map(({ id }) => id));
  const told = verdict === null ? [] : [...verdict.culprits.slice(0, 3), ...(verdict.remarks ?? [])];
  const found = told.find(({ kind, element }) => kind === truth[0].kind && ids.includes(element.id));
  if (found === undefined)
    throw new Error(`${truth[0].kind} of ${ids.join(', ')} is not named: ${verdict?.answer}`);
  return found;
}

const recovery = ({ scorecard }: LabRun): Record<string, unknown> => scorecard.scores.recovery.metrics;

(why === undefined ? describe : describe.skip)('a lab of Linux namespaces', () => {
  let cli: LabCli;
  let lab: string;

  beforeAll(async () => {
    cli = await LabCli.open();
    lab = await cli.up(LAB);
  });

  afterAll(async () => {
    await cli.close();
    expect(labNamespaces(lab)).toEqual([]);
  });

  async function drill(name: string, fault: Record<string, unknown> = {}): Promise<LabRun> {
    const run = await cli.run(cli.experiment(name, TIMES, fault), lab);
    expect(labTraces(lab, RATE)).toEqual([]);
    const { exitCode, scorecard } = run;
    expect({ ...scorecard.run, exitCode }).toMatchObject({
      driver: 'linux',
      state: expect.stringMatching(/^(passed|failed|inconclusive)$/),
      exitCode: exitCodeOf(scorecard.run.state as FinalState),
    });
    return run;
  }

  it('reroutes round a cut link at once and comes back to both', async () => {
    const run = await drill('link-down');
    expect(named(run).kind).toBe('link-down');
    expect(recovery(run)).toMatchObject({ recovered: true, failed_back: true });
  });

  it('finds a direction that loses everything by BFD, though both ends say up', async () => {
    const run = await drill('link-down', { params: { variant: 'one-way' } });
    expect(named(run).kind).toBe('one-way-loss');
  });

  it('slows down with a port that lost lanes, and is as fast as before when they are back', async () => {
    const run = await drill('speed-downgrade');
    expect(named(run).kind).toBe('speed-downgrade');
  });

  it('counts damaged frames at the port that receives them', async () => {
    const run = await drill('optic-error', { params: { variant: 'constant', ber: 0.0016, from: 'lower' } });
    expect(named(run).kind).toBe('optic-error');
  });

  it('fills the queue in front of a host to which many send', async () => {
    const run = await drill('incast');
    expect(named(run).kind).toBe('incast');
  });

  it('moves a job off a drained host, from its checkpoint, without redoing a step', async () => {
    const run = await drill('job-migration');
    expect(named(run).kind).toBe('job-migration');
  });

  it('is not drilled unless it is named twice, nor with what no kernel has', async () => {
    const { exitCode, stderr } = await cli.typed('run', 'experiments/link-down.yaml', '--fabric', lab);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`--confirm ${lab}`),
    });
    const plan = await cli.typed('plan', 'experiments/link-down.yaml', '--fabric', lab);
    expect(plan.stderr).toContain(`--fabric ${lab} --confirm ${lab}`);
    const storm = await cli.typed('run', 'experiments/pause-storm.yaml', '--fabric', lab, '--confirm', lab);
    expect({ exitCode: storm.exitCode, stderr: storm.stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('pause'),
    });
  });
});
