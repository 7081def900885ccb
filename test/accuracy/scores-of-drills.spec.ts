/**
 * Scores of real drills on the simulated fabric, against what must follow from the fault and the transport's timers.
 */
import { describe, expect, it } from '@jest/globals';
import { experimentSpecSchema } from '../../src/documents/experiment.js';
import { planDrill } from '../../src/drill/plan/plan.js';
import { runDrill } from '../../src/drill/walk.js';
import type { Judgement } from '../../src/drill/judge.js';
import { simulatedFabric } from '../support/simulated-fabric.js';

const job = (name: string, hosts: string[]) => ({
  name,
  gpus: 16,
  placement: { strategy: 'explicit', hosts },
  parallelism: { tensor: 8 },
  step: {
    compute: '200ms',
    collectives: [{ collective: 'all-reduce', parallelism: 'data', bytes: '2GB' }],
  },
});

/** Four leaves of two hosts; the jobs share leaves but no host, and use no common NIC link. */
const fabricSpec = {
  topology: { builder: 'leaf-spine', leaves: 2, spines: 4, hostsPerLeaf: 2, gpusPerHost: 8 },
  jobs: [job('exposed', ['host-1', 'host-3']), job('bystander', ['host-2', 'host-4'])],
};

async function drillOf(
  target: object,
  jobs = fabricSpec.jobs,
  objectives = ['recovery.score >= 80', 'isolation.blast_ratio <= 0.05'],
  variant = 'cut',
): Promise<Judgement> {
  const spec = experimentSpecSchema.parse({
    fabric: 'test',
    duration: '60s',
    faults: [{ kind: 'link-down', params: { variant }, target, at: '20s', duration: '20s' }],
    objectives,
  });
  const fabric = simulatedFabric({ ...fabricSpec, jobs }, 3);
  const plan = await planDrill({ name: 'scores', spec, fabric, seed: 3 });
  const done = () => Promise.resolve();
  return runDrill({
    plan,
    fabric,
    objectives: spec.objectives,
    signal: new AbortController().signal,
    journal: { intend: done, applied: done, verified: done, failed: done },
    hooks: { state: done, progress: () => undefined, evidence: done, verdict: done, truth: done },
  });
}

const hostLink = { type: 'link', tier: 'host-leaf', usedBy: 'exposed', mode: 'one' };

describe('scores of a drill', () => {
  it('tell a cut NIC link: no way round, a stall for the hold, back after the repair, nobody else hurt', async () => {
    const { scores, state, reasons } = await drillOf(hostLink);
    const { metrics } = scores.recovery;
    expect(metrics.time_to_detect_s as number).toBeLessThan(0.1);
    expect(metrics).toMatchObject({
      time_to_reroute_s: null,
      recovered: true,
      failed_back: true,
      redone_steps: 0,
    });
    // Nothing moves for 20 s; the connection then waits for its next retransmission (4.29 s apart at most).
    expect(metrics.time_to_recover_s as number).toBeGreaterThanOrEqual(20);
    expect(metrics.time_to_recover_s as number).toBeLessThan(20 + 4.3 + 2);
    expect(metrics.resilience_loss as number).toBeGreaterThan(0.45);
    expect(scores.isolation).toMatchObject({
      score: 100,
      metrics: { exposed_jobs: 1, bystander_jobs: 1, blast_ratio: 0, victim_flow_share: 0 },
    });
    expect({ state, reasons }).toEqual({ state: 'failed', reasons: [expect.stringContaining('was missed')] });
  });

  it('tell a cut uplink: rerouted within a poll of its detection, and better in every way than a NIC link', async () => {
    const uplink = await drillOf({ type: 'link', tier: 'leaf-spine', usedBy: 'exposed', mode: 'one' });
    const nic = await drillOf(hostLink);
    const reroute = uplink.scores.recovery.metrics.time_to_reroute_s as number;
    expect(reroute).toBeGreaterThan(0);
    expect(reroute).toBeLessThanOrEqual(2);
    expect(uplink.scores.recovery.metrics.failed_back).toBe(true);
    expect(uplink.scores.recovery.score!).toBeGreaterThan(nic.scores.recovery.score!);
    expect(uplink.scores.recovery.metrics.ettr as number).toBeGreaterThan(
      nic.scores.recovery.metrics.ettr as number,
    );
  });

  it('time the reroute around a dead spine by its neighbours, not by what it logs after its boot', async () => {
    const spine = { type: 'device', tier: 'spine', mode: 'one' };
    const { scores } = await drillOf(spine, undefined, undefined, 'node');
    const reroute = scores.recovery.metrics.time_to_reroute_s as number;
    expect(reroute).toBeGreaterThan(0);
    expect(reroute).toBeLessThanOrEqual(2);
  });

  it('are no proof when the target carried nothing: inconclusive, not 100', async () => {
    const unused = { type: 'link', tier: 'host-leaf', notUsedBy: '*', mode: 'one' };
    const { scores, state, reasons } = await drillOf(
      unused,
      [job('exposed', ['host-1', 'host-3'])],
      ['explainability.abstained == false'],
    );
    expect(state).toBe('inconclusive');
    expect(reasons).toEqual([
      'the target carried no bytes of any job before the fault, so the drill tried nothing',
    ]);
    expect([scores.recovery.score, scores.isolation.score]).toEqual([null, null]);
    expect(scores.explainability.score).not.toBeNull();
  });
});
