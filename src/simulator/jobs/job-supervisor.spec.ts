/**
 * Jobs that stop and go on elsewhere: checkpoints, moves, losses, restarts, ends.
 */
import { describe, expect, it } from '@jest/globals';
import { InputError } from '../../core/problem.js';
import type { Evidence } from '../../model/telemetry/series.js';
import { flowSimulator, samplesOf } from '../../../test/support/simulated-fabric.js';
import type { FlowSimulator } from '../flow-simulator.js';
import type { MoveOrder } from './job-supervisor.js';

/** Four hosts of two GPUs under one leaf; a job on the first two of them, so that two are spare. */
const spec = (job: Record<string, unknown> = {}, rest: Record<string, unknown> = {}) => ({
  topology: { builder: 'leaf-spine', leaves: 1, spines: 0, hostsPerLeaf: 4, gpusPerHost: 2 },
  telemetry: { eventDelay: '0s', pollSpread: '0s', noise: 0 },
  jobs: [
    {
      name: 'llm',
      hosts: 'host-[1-2]',
      parallelism: { tensor: 2 },
      step: { compute: '200ms', collectives: [{ collective: 'all-reduce', bytes: '100MB' }] },
      checkpoint: { every: 10, duration: '500ms' },
      ...job,
    },
  ],
  ...rest,
});

const LLM = 'job:llm';
const deviceIn = ({ topology }: FlowSimulator, name: string): number =>
  topology.devices.find((device) => device.name === name)!.index;
const all = (simulator: FlowSimulator): Evidence => simulator.evidence(0, simulator.nowNs);
const started = (job: Record<string, unknown> = {}, rest: Record<string, unknown> = {}): FlowSimulator => {
  const simulator = flowSimulator(spec(job, rest));
  simulator.startJobs();
  return simulator;
};
const order = (
  simulator: FlowSimulator,
  mode: MoveOrder['mode'],
  toHost: string | null = 'host-3',
): MoveOrder => ({
  job: 0,
  fromHost: deviceIn(simulator, 'host-1'),
  toHost: toHost === null ? undefined : deviceIn(simulator, toHost),
  mode,
});
const states = (simulator: FlowSimulator) => samplesOf(all(simulator), 'job_state', LLM);
const steps = (simulator: FlowSimulator) => samplesOf(all(simulator), 'job_steps', LLM);
const last = (simulator: FlowSimulator, metric: string, element = LLM): number =>
  samplesOf(all(simulator), metric, element).at(-1)![1];
const allocated = (simulator: FlowSimulator): number[] =>
  [1, 2, 3, 4].map((host) => last(simulator, 'host_allocated_gpus', `device:host-${host}`));
const bytesBetween = (simulator: FlowSimulator, port: string, fromNs: number): number => {
  const samples = samplesOf(all(simulator), 'port_tx_bytes', `port:${port}`);
  return samples.at(-1)![1] - samples.find(([s]) => s * 1e9 >= fromNs)![1];
};

describe('a checkpoint', () => {
  it('stands between every tenth step and the next, and belongs to neither', () => {
    const simulator = started();
    simulator.advance(6e9);
    const line = steps(simulator);
    const stepS = line[2][0] - line[1][0];
    expect(line[11][0] - line[10][0]).toBeCloseTo(stepS + 0.5, 9);
    expect(line[12][0] - line[11][0]).toBeCloseTo(stepS, 9);
    const times = samplesOf(all(simulator), 'job_step_time_s', LLM).map(([, value]) => value);
    expect(Math.max(...times)).toBeCloseTo(Math.min(...times), 9);
    expect(samplesOf(all(simulator), 'job_checkpoint_time_s', LLM)[1]).toEqual([
      expect.closeTo(line[10][0] + 0.5, 9),
      0.5,
    ]);
  });

  it('over the fabric takes what the network takes, and fills the storage host’s ports', () => {
    const simulator = started({ checkpoint: { every: 10, bytesPerRank: '5GB', to: 'host-4' } });
    const beganNs = simulator.advanceToFirstBoundary([{ job: 0, kind: 'checkpoint' }], 10e9)!.beganNs;
    simulator.advance(beganNs + 2e9);
    const [, tookS] = samplesOf(all(simulator), 'job_checkpoint_time_s', LLM)[1];
    // Two ranks write to each NIC, one from each host, at 400 Gbit/s less headers.
    expect(tookS).toBeGreaterThan(10e9 / 50e9);
    expect(tookS).toBeLessThan(1.05 * (10e9 / 50e9));
    const received = ['host-4/nic-0', 'host-4/nic-1'].map(
      (nic) => samplesOf(all(simulator), 'port_rx_bytes', `port:${nic}`).at(-1)![1],
    );
    for (const bytes of received) {
      expect(bytes).toBeGreaterThanOrEqual(10e9);
      expect(bytes).toBeLessThan(10.5e9);
    }
    const edges = all(simulator).series.filter(({ metric }) => metric === 'edge_tx_bytes');
    expect(edges).toHaveLength(4);
  });
});

describe('a planned move', () => {
  it('ends the step, writes a checkpoint, and goes on from it on the other host', () => {
    const simulator = started();
    simulator.advance(3e9);
    simulator.orderMove(order(simulator, 'planned'));
    const before = steps(simulator).at(-1)![1];
    simulator.advance(15e9);
    expect(states(simulator).map(([, value]) => value)).toEqual([1, 2, 1]);
    const [[stopS], [resumedS]] = states(simulator).slice(1);
    expect(resumedS - stopS).toBeCloseTo(5, 9);
    const at = steps(simulator);
    expect(at.filter(([s]) => s === resumedS)).toEqual([[resumedS, before + 1]]);
    expect(last(simulator, 'job_redone_steps')).toBe(0);
    expect(last(simulator, 'job_restarts')).toBe(1);
    expect(allocated(simulator)).toEqual([0, 2, 2, 0]);
    expect(bytesBetween(simulator, 'host-1/nic-0', resumedS * 1e9)).toBe(0);
    expect(bytesBetween(simulator, 'host-3/nic-0', resumedS * 1e9)).toBeGreaterThan(1e8);
  });

  it('changes neither the pace nor the set of series', () => {
    const moved = started();
    const calm = started();
    moved.advance(3e9);
    moved.orderMove(order(moved, 'planned'));
    moved.advance(15e9);
    calm.advance(15e9);
    const times = (simulator: FlowSimulator) => samplesOf(all(simulator), 'job_step_time_s', LLM);
    expect(times(moved).at(-1)![1]).toBeCloseTo(times(calm).at(-1)![1], 6);
    const names = (simulator: FlowSimulator) =>
      all(simulator).series.map((one) => `${one.metric} ${one.element}`);
    expect(names(moved)).toEqual(names(calm));
  });

  it('taken back before the job has left changes nothing but the checkpoint', () => {
    const simulator = started();
    simulator.advance(3e9);
    simulator.orderMove(order(simulator, 'planned'));
    simulator.withdrawMove(0, deviceIn(simulator, 'host-1'));
    simulator.advance(10e9);
    expect(states(simulator)).toEqual([[0, 1]]);
    expect(allocated(simulator)).toEqual([2, 2, 0, 0]);
  });
});

describe('a move after a loss', () => {
  it('throws the steps since the checkpoint away and does them again', () => {
    const simulator = started();
    simulator.advance(6e9);
    const done = steps(simulator).at(-1)![1];
    simulator.setPower(deviceIn(simulator, 'host-1'), false);
    simulator.orderMove(order(simulator, 'after-loss'));
    simulator.advance(20e9);
    const [[stopS], [resumedS]] = states(simulator).slice(1);
    expect(stopS).toBeCloseTo(8, 9);
    expect(resumedS).toBeCloseTo(13, 9);
    const saved = Math.floor(done / 10) * 10;
    expect(steps(simulator).find(([s]) => s === resumedS)).toEqual([resumedS, saved]);
    expect(last(simulator, 'job_redone_steps')).toBe(done - saved);
    expect(done - saved).toBeGreaterThan(0);
    expect(allocated(simulator)).toEqual([0, 2, 2, 0]);
    const ranks = samplesOf(all(simulator), 'rank_compute_time_s', 'rank:llm/0');
    expect(ranks.at(-1)![0]).toBeGreaterThan(19);
  });

  it('without a host to go to waits until its own is back', () => {
    const simulator = started();
    simulator.advance(6e9);
    simulator.setPower(deviceIn(simulator, 'host-1'), false);
    simulator.orderMove(order(simulator, 'after-loss', null));
    simulator.advance(30e9);
    expect(states(simulator).at(-1)![1]).toBe(2);
    simulator.withdrawMove(0, deviceIn(simulator, 'host-1'));
    simulator.setPower(deviceIn(simulator, 'host-1'), true);
    simulator.advance(50e9);
    const [backS, value] = states(simulator).at(-1)!;
    expect(value).toBe(1);
    // Rescheduled while the host boots, then loading.
    expect(backS).toBeCloseTo(35, 9);
    expect(allocated(simulator)).toEqual([2, 2, 0, 0]);
  });

  it('goes to another spare when the host it was sent to has been taken', () => {
    const simulator = started();
    simulator.advance(3e9);
    simulator.setPower(deviceIn(simulator, 'host-1'), false);
    simulator.orderMove(order(simulator, 'after-loss'));
    simulator.setPower(deviceIn(simulator, 'host-3'), false);
    simulator.advance(20e9);
    expect(allocated(simulator)).toEqual([0, 2, 0, 2]);
  });
});

describe('one evicted pod', () => {
  it('keeps the others waiting in their collectives until its successor joins', () => {
    const simulator = started();
    simulator.advance(6e9);
    simulator.orderMove(order(simulator, 'evict'));
    simulator.advance(20e9);
    const [[stopS], [resumedS]] = states(simulator).slice(1);
    // Rescheduled, then noticed by the others; then all load.
    expect(stopS).toBeCloseTo(11, 9);
    expect(resumedS).toBeCloseTo(13, 9);
    const stalled = samplesOf(all(simulator), 'edge_stalled_s', 'edge:llm/2-0').at(-1)![1];
    expect(stalled).toBeGreaterThan(4.5);
    expect(samplesOf(all(simulator), 'port_oper_status', 'port:host-1/nic-0')).toEqual([[0, 1]]);
    expect(last(simulator, 'job_redone_steps')).toBeGreaterThan(0);
  });
});

describe('a job that asks to be restarted', () => {
  it('goes to a spare by itself when a host dies', () => {
    const simulator = started({ restart: { detect: '1s', reschedule: '2s', load: '1s' } });
    simulator.advance(6e9);
    simulator.setPower(deviceIn(simulator, 'host-2'), false);
    simulator.advance(15e9);
    expect(states(simulator)).toEqual([
      [0, 1],
      [expect.closeTo(7, 9), 2],
      [expect.closeTo(10, 9), 1],
    ]);
    expect(allocated(simulator)).toEqual([2, 0, 2, 0]);
  });

  it('passes over drained hosts, and waits when there is no other', () => {
    const simulator = started({ restart: {} });
    for (const host of ['host-3', 'host-4']) simulator.setDrained(deviceIn(simulator, host), true);
    simulator.advance(3e9);
    simulator.setPower(deviceIn(simulator, 'host-2'), false);
    simulator.advance(15e9);
    expect(states(simulator).at(-1)![1]).toBe(2);
    simulator.setDrained(deviceIn(simulator, 'host-4'), false);
    simulator.advance(25e9);
    expect(states(simulator).at(-1)![1]).toBe(1);
    expect(allocated(simulator)).toEqual([2, 0, 0, 2]);
  });

  it('takes the slowness of the new GPUs, and leaves that of the old ones behind', () => {
    const gpuOf = (simulator: FlowSimulator, name: string): number =>
      simulator.topology.gpus.findIndex(({ host }) => host === deviceIn(simulator, name));
    const pace = (slow: string): number => {
      const simulator = started();
      simulator.setSlowdown('test', [gpuOf(simulator, slow)], 2);
      simulator.advance(3e9);
      simulator.orderMove(order(simulator, 'planned'));
      simulator.advance(15e9);
      return samplesOf(all(simulator), 'job_step_time_s', LLM).at(-1)![1];
    };
    expect(pace('host-3') - pace('host-1')).toBeCloseTo(0.2, 6);
  });
});

describe('a job with an end', () => {
  it('says how long it took, gives its GPUs back, and sends nothing more', () => {
    const simulator = started({ steps: 10, start: '1s' });
    simulator.advance(10e9);
    const [doneS] = states(simulator).at(-1)!;
    expect(states(simulator).at(-1)![1]).toBe(3);
    expect(steps(simulator).at(-1)![1]).toBe(10);
    expect(samplesOf(all(simulator), 'job_completion_time_s', LLM)).toEqual([
      [0, NaN],
      [doneS, expect.closeTo(doneS - 1, 9)],
    ]);
    expect(allocated(simulator)).toEqual([0, 0, 0, 0]);
    expect(bytesBetween(simulator, 'host-1/nic-0', doneS * 1e9)).toBe(0);
  });
});

describe('latencies of collectives', () => {
  it('are those of the collectives over the fabric since the last poll, N/A where there were none', () => {
    const simulator = started({ start: '1500ms' });
    simulator.advance(4e9);
    const means = samplesOf(all(simulator), 'job_allreduce_latency_s', LLM);
    expect(means[0]).toEqual([0, NaN]);
    expect(means[1]).toEqual([1, NaN]);
    const stepS = samplesOf(all(simulator), 'job_step_time_s', LLM)[0][1];
    expect(means[2][1]).toBeCloseTo(stepS - 0.2, 9);
    expect(last(simulator, 'job_allreduce_latency_p99_s')).toBeCloseTo(stepS - 0.2, 9);
    expect(last(simulator, 'job_flow_p99_s')).toBeCloseTo(stepS - 0.2, 9);
    expect(last(simulator, 'job_alltoall_latency_s')).toBeNaN();
  });
});

describe('an order that can’t be carried out', () => {
  it.each([
    ['host-2', /runs ranks of the same job|not free/],
    ['leaf-1', /is a switch/],
  ])('to %s is refused and changes nothing', (to, message) => {
    const simulator = started();
    simulator.advance(1e9);
    const refused = (): void => simulator.orderMove(order(simulator, 'planned', to));
    expect(refused).toThrow(InputError);
    expect(refused).toThrow(message);
    expect(simulator.moveOrder(0, deviceIn(simulator, 'host-1'))).toBeUndefined();
    simulator.advance(5e9);
    expect(states(simulator)).toEqual([[0, 1]]);
  });

  it('from a host without a rank is refused with the hosts that have one', () => {
    const simulator = started();
    const nobody = { ...order(simulator, 'planned', 'host-4'), fromHost: deviceIn(simulator, 'host-3') };
    expect(() => simulator.orderMove(nobody)).toThrow(/no rank on host-3.*host-1, host-2/);
  });
});
