/** Real workers, real TCP, on the loopback interface: every host is an address of 127.0.0.0/8. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '../../../system/process-identity.js';
import { smallTopology } from '../../../model/workload/testing/small-topology.js';
import type { Job } from '../../../model/workload/job.js';
import { LocalPlace, type Place } from '../transport/place.js';
import type { EdgeSample, JobListener, StepSummary } from './job-events.js';
import { LabJobs } from './lab-jobs.js';
import { monotonicNs } from './monotonic.js';
import { SchedulerFile } from './scheduler-state.js';
import { buildPrograms } from './testing/built-programs.js';

const RING = [0, 1, 2];
const job = (changes: Partial<Job> = {}): Job => ({
  name: 'llm',
  placement: Int32Array.from(RING),
  startNs: 0,
  queuePairs: 1,
  priority: 3,
  checkpoint: { everySteps: 5, durationNs: 0 },
  program: {
    operations: [
      { type: 'compute', name: 'compute', durationNs: 10e6, after: [] },
      {
        type: 'collective',
        name: 'data/all-reduce',
        collective: 'all-reduce',
        algorithm: 'ring',
        bytes: 90_000,
        groups: [RING],
        parallelism: 'data',
        after: [0],
      },
    ],
  },
  ...changes,
});

/** A host whose monotonic clock is another one's: its programs are given one that is ahead, and runs faster. */
class SkewedPlace extends LocalPlace {
  override readonly isRemote = true;

  constructor(private readonly clock: string) {
    super();
  }

  override programWords(path: string): string[] {
    return [process.execPath, '--import', this.clock, path];
  }
}

const skewedClock = (aheadS: number, fasterPpm: number): string => `
const real = process.hrtime.bigint.bind(process.hrtime);
const zero = real();
process.hrtime.bigint = () => real() + ${aheadS * 1e9}n + ((real() - zero) * ${fasterPpm}n) / 1000000n;
`;

interface Told {
  steps: StepSummary[];
  edges: EdgeSample[];
  lines: string[];
  /** Steps that had been told when the job was resumed. */
  before: number;
}

function listen(jobs: LabJobs): Told {
  const told: Told = { steps: [], edges: [], lines: [], before: 0 };
  const listener: JobListener = {
    started: () => told.lines.push('started'),
    stepEnded: (_, summary) => told.steps.push(summary),
    edgeCounted: (_, edge) => told.edges.push(edge),
    checkpointWritten: () => told.lines.push('checkpoint'),
    failed: () => told.lines.push('failed'),
    stopped: () => told.lines.push('stopped'),
    resumed: (_, __, step, redone) => {
      told.before = told.steps.length;
      told.lines.push(`resumed from ${step}, ${redone} again`);
    },
    completed: () => told.lines.push('completed'),
    hostsChanged: () => told.lines.push('hosts'),
  };
  jobs.listen(listener);
  return told;
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let waitedMs = 0; !holds(); waitedMs += 20) {
    if (waitedMs > 30_000) throw new Error(`${what} did not come`);
    await sleep(20);
  }
}

describe('a job on a lab', () => {
  const topology = smallTopology({ hosts: 5 });
  let folder: string;
  let program: string;
  let jobs: LabJobs | undefined;

  const open = (...all: Job[]): LabJobs => openAt(() => new LocalPlace(), ...all);
  const openAt = (placeOf: (host: number) => Place, ...all: Job[]): LabJobs => {
    const hosts = topology.devices.filter(({ role }) => role === 'host').map(({ index }) => index);
    jobs = new LabJobs({
      lab: {
        topology,
        jobsFolder: join(folder, 'jobs'),
        placeOf,
        addressOf: (host) => `127.77.0.${hosts.indexOf(host) + 1}`,
        trace: async (flows) => flows.map(() => null),
        hasLink: async () => true,
        spotOf: () => ({ name: 'host', namespace: '', place: new LocalPlace() }),
      },
      jobs: all,
      settings: { ackTimeoutExponent: 18, retries: 4 },
      jobIntervalNs: 200e6,
      program,
    });
    return jobs;
  };
  const processes = (): string[] => new SchedulerFile(join(folder, 'jobs/scheduler.json')).read().processes;
  const hostAt = (rank: number): number => topology.gpus[jobs!.placementOf(0)[rank]].host;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fabricdrill-jobs-'));
    program = (await buildPrograms(join(folder, 'program'))).worker;
  });
  afterEach(async () => {
    await jobs?.stop();
    jobs = undefined;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('tells the time of this machine, though each host has a clock of its own', async () => {
    const clocks = await Promise.all(
      [-5000, 0, 86_400, 0, 0].map(async (aheadS, index) => {
        const file = join(folder, `clock-${index}.mjs`);
        await writeFile(file, skewedClock(aheadS, 300 * index));
        return file;
      }),
    );
    const hosts = topology.devices.filter(({ role }) => role === 'host').map(({ index }) => index);
    const lab = openAt((host) => new SkewedPlace(clocks[hosts.indexOf(host)]), job({ steps: 12 }));
    const told = listen(lab);
    const beganNs = monotonicNs();
    await lab.start();
    const errorNs = lab.clockErrorNs();
    expect(errorNs).toBeGreaterThan(0);
    expect(errorNs).toBeLessThan(101e6);
    await until(() => told.lines.includes('completed'), 'the end');
    const endedNs = monotonicNs();
    const within = (atNs: number): boolean => atNs > beganNs - errorNs && atNs < endedNs + errorNs;
    expect(told.steps).toHaveLength(12);
    expect(told.edges.length).toBeGreaterThan(0);
    expect(
      [...told.steps.map((step) => step.endedNs), ...told.edges.map(({ atNs }) => atNs)].every(within),
    ).toBe(true);
    // of its own parts a step is as long as ever: clocks that are days apart would make it days long, or none
    for (const { durationNs, computeNs, collectives } of told.steps) {
      expect(durationNs).toBeGreaterThan(Math.min(...computeNs));
      expect(durationNs).toBeLessThan(endedNs - beganNs);
      expect(collectives[0].tookNs).toBeLessThan(durationNs + 2 * errorNs);
    }
  });

  it('sums its gradients around the ring, step after step, and counts what it delivers', async () => {
    const lab = open(job({ steps: 12 }));
    const told = listen(lab);
    await lab.start();
    await until(() => told.lines.includes('completed'), 'the end');
    expect(told.steps.map(({ step }) => step)).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
    expect(told.lines).toEqual(['started', 'checkpoint', 'checkpoint', 'completed']);
    const [step] = told.steps;
    expect(step.collectives).toMatchObject([{ type: 'all-reduce', bytes: 90_000, ranks: 3 }]);
    expect(Math.min(...step.computeNs)).toBeGreaterThanOrEqual(9e6);
    expect(step.durationNs).toBeGreaterThan(step.collectives[0].tookNs);
  });

  it('delivers on each edge what the algorithm says, and the stall counter rests while all is well', async () => {
    const lab = open(job());
    const told = listen(lab);
    await lab.start();
    await until(() => told.edges.length >= 9 && told.steps.length > 20, 'counters of edges');
    const last = told.edges.at(-1)!;
    expect(RING.map((from) => `${from}-${(from + 1) % 3}`)).toContain(`${last.fromRank}-${last.toRank}`);
    // all-reduce sends 2 (n - 1) / n of the buffer over each edge
    const perStep = (2 * 2 * 90_000) / 3;
    expect(last.deliveredBytes / perStep).toBeGreaterThan(1);
    expect(last.deliveredBytes / perStep).toBeLessThanOrEqual(told.steps.length + 2);
    // a machine that is very busy may stop a process for a while
    expect(told.edges.every(({ stalledNs }) => stalledNs < 1e9)).toBe(true);
  });

  it('goes on from its last checkpoint on the host it is sent to, after one is lost', async () => {
    const lab = open(job());
    const told = listen(lab);
    await lab.start();
    await until(() => told.steps.length >= 7, 'the first steps');
    const from = hostAt(1);
    const to = topology.gpus[3].host;
    await lab.orchestrator.setDrained(from, true);
    await lab.orchestrator.orderMove({ job: 0, fromHost: from, toHost: to, mode: 'after-loss' });
    await until(() => told.lines.some((line) => line.startsWith('resumed')), 'the restart');
    const at = told.lines.findIndex((line) => line === 'failed');
    expect(told.lines.slice(at)).toEqual(expect.arrayContaining(['failed', 'stopped', 'hosts']));
    const resumed = told.lines.find((line) => line.startsWith('resumed'))!;
    const [, step, redone] = /^resumed from (\d+), (\d+) again$/.exec(resumed)!.map(Number);
    expect(step % 5).toBe(0);
    expect(step).toBeGreaterThanOrEqual(5);
    expect(redone).toBeLessThanOrEqual(6);
    expect(hostAt(1)).toBe(to);
    await until(() => told.steps.length > told.before + 3, 'steps on the other host');
    expect(told.steps[told.before].step).toBe(step + 1);
    expect(lab.isDrained(from)).toBe(true);
  });

  it('moves as planned without losing a step, and waits where there is no host until the order is lifted', async () => {
    const lab = open(job());
    const told = listen(lab);
    await lab.start();
    await until(() => told.steps.length >= 3, 'the first steps');
    const from = hostAt(2);
    await lab.orchestrator.orderMove({ job: 0, fromHost: from, mode: 'planned' });
    await until(() => told.lines.includes('stopped'), 'the stop');
    await sleep(300);
    expect(await lab.orchestrator.readOrder({ job: 0, fromHost: from, mode: 'planned' })).toEqual({
      job: 0,
      fromHost: from,
      mode: 'planned',
    });
    expect(told.lines.some((line) => line.startsWith('resumed'))).toBe(false);
    expect(lab.holdsGpus(0)).toBe(true);
    await lab.orchestrator.withdrawMove(0, from);
    await until(() => told.lines.some((line) => line.startsWith('resumed')), 'the restart');
    expect(told.lines.find((line) => line.startsWith('resumed'))).toMatch(/, 0 again$/);
    expect(told.lines).not.toContain('failed');
    expect(hostAt(2)).toBe(from);
  });

  it('loses no step when one of its ranks is told to end by whoever runs it', async () => {
    const lab = open(job());
    const told = listen(lab);
    await lab.start();
    await until(() => told.steps.length >= 3, 'the first steps');
    process.kill(Number(processes()[1].split('-')[0]), 'SIGTERM');
    await until(() => told.lines.some((line) => line.startsWith('resumed')), 'the restart');
    expect(told.lines.find((line) => line.startsWith('resumed'))).toMatch(/, 0 again$/);
    expect(told.lines).not.toContain('failed');
  });

  it('refuses moves that can not be, and changes nothing then', async () => {
    const lab = open(
      job(),
      job({ name: 'other', placement: Int32Array.from([3, 4]), program: { operations: [] } }),
    );
    const from = topology.gpus[0].host;
    const busy = topology.gpus[3].host;
    const order = { job: 0, fromHost: from, toHost: busy, mode: 'planned' as const };
    await expect(lab.orchestrator.orderMove(order)).rejects.toThrow(/not free/);
    await expect(lab.orchestrator.orderMove({ ...order, fromHost: busy })).rejects.toThrow(
      /no rank on host-4/,
    );
    expect(await lab.orchestrator.readOrder({ job: 0, fromHost: from, mode: 'planned' })).toBeUndefined();
  });

  it('ends without a restart when nobody asked for one, and leaves no process behind', async () => {
    const lab = open(job());
    const told = listen(lab);
    await lab.start();
    await until(() => told.steps.length >= 2, 'the first steps');
    const started = processes();
    process.kill(Number(started[0].split('-')[0]), 'SIGKILL');
    await until(() => told.lines.includes('failed'), 'the failure');
    await sleep(200);
    expect(told.lines).not.toContain('stopped');
    await lab.stop();
    expect(started.filter(isRunning)).toEqual([]);
    expect(processes()).toEqual([]);
  });

  it('is restarted where its file says so', async () => {
    const lab = open(job({ restart: { detectNs: 0, rescheduleNs: 0, loadNs: 0 } }));
    const told = listen(lab);
    await lab.start();
    await until(() => told.steps.length >= 6, 'the first steps');
    process.kill(Number(processes()[1].split('-')[0]), 'SIGKILL');
    await until(() => told.lines.some((line) => line.startsWith('resumed from 5')), 'the restart');
  });

  it('computes longer on a host that is slow, and as before when it is not', async () => {
    const lab = open(job());
    const told = listen(lab);
    await lab.start();
    await lab.slowDown(hostAt(0), 8);
    await until(() => (told.steps.at(-1)?.computeNs[0] ?? 0) > 70e6, 'a slow rank');
    expect(told.steps.at(-1)!.computeNs[1]).toBeLessThan(60e6);
    await lab.slowDown(hostAt(0), 1);
    await until(() => told.steps.at(-1)!.computeNs[0] < 60e6, 'a rank as before');
  });

  it('refuses what its workers can not do, with the place in the file', () => {
    const [compute, ring] = job().program.operations;
    const other = { ...ring, collective: 'all-to-all' as const } as typeof ring;
    const shared = job({ placement: Int32Array.from([0, 0]), program: { operations: [compute, other] } });
    expect(() => open(shared)).toThrow(/\/spec\/jobs\/0: job "llm": a Linux lab runs one rank a host/);
    expect(() => open(shared)).toThrow(/workers do not run all-to-all/);
  });
});
