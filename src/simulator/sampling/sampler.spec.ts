/**
 * What an operator's collectors get to see.
 */
import { describe, expect, it } from '@jest/globals';
import { METRICS } from '../../model/telemetry/catalog.js';
import { QUALITY, type Evidence } from '../../model/telemetry/series.js';
import {
  bytesOf,
  samplesOf,
  seriesOf,
  simulatedFabric,
  twoJobs,
  type Impairment,
} from '../../../test/support/simulated-fabric.js';

async function watch(spec: Record<string, unknown>, endNs: number, fault?: Impairment): Promise<Evidence> {
  const fabric = simulatedFabric(spec);
  await fabric.startJobs();
  await fabric.advance(endNs / 3);
  if (fault !== undefined) await fabric.apply('fault', fault);
  await fabric.advance((2 * endNs) / 3);
  if (fault !== undefined) await fabric.revert('fault', fault, {});
  await fabric.advance(endNs);
  return fabric.observe({ fromNs: 0, toNs: endNs });
}

const byMetric = (evidence: Evidence, ...metrics: string[]) =>
  evidence.series.filter(({ metric }) => metrics.includes(metric));

describe('telemetry', () => {
  it('covers every metric of the catalogue', async () => {
    const evidence = await watch(twoJobs, 3e9);
    const seen = new Set(evidence.series.map(({ metric }) => metric));
    expect(METRICS.map(({ name }) => name).filter((name) => !seen.has(name))).toEqual([]);
    expect(evidence.series.filter(({ timesNs }) => timesNs.length === 0)).toEqual([]);
  });

  it('watches only the metrics that the settings name', async () => {
    const metrics = ['port_tx_bytes', 'port_oper_status', 'edge_tx_bytes', 'job_steps'];
    const evidence = await watch({ ...twoJobs, telemetry: { metrics, loss: 0.2 } }, 3e9);
    expect([...new Set(evidence.series.map(({ metric }) => metric))].sort()).toEqual([...metrics].sort());
    const all = await watch({ ...twoJobs, telemetry: { loss: 0.2 } }, 3e9);
    expect(bytesOf(evidence)).toEqual(bytesOf({ ...all, series: byMetric(all, ...metrics) }));
  });

  it('of a healthy fabric shows no drop, no timeout and no error', async () => {
    const evidence = await watch(twoJobs, 3e9);
    const quiet = byMetric(
      evidence,
      'port_tx_discards',
      'port_rx_errors',
      'port_link_down_events',
      'queue_drop_packets',
      'nic_local_ack_timeouts',
      'nic_adaptive_retransmissions',
      'nic_retries_exceeded',
      'edge_stalled_s',
    );
    expect(quiet.length).toBeGreaterThan(500);
    expect(quiet.filter(({ values }) => values.some((value) => value !== 0))).toEqual([]);
  });

  it('polls each source at its own interval, spread over the devices of a round', async () => {
    const telemetry = {
      switchInterval: '500ms',
      nicInterval: '1s',
      opticInterval: '2s',
      jobInterval: '250ms',
      pollSpread: '40ms',
    };
    const evidence = await watch({ ...twoJobs, telemetry }, 6e9);
    const interval = (metric: string, element: string): number => {
      const { timesNs } = seriesOf(evidence, metric, element);
      return (timesNs[timesNs.length - 1] - timesNs[0]) / (timesNs.length - 1) / 1e6;
    };
    expect(interval('port_tx_bytes', 'port:leaf-1/p1')).toBe(500);
    expect(interval('port_tx_bytes', 'port:host-1/nic-0')).toBe(1000);
    expect(interval('optic_rx_power_dbm', 'port:leaf-1/p1')).toBe(2000);
    expect(interval('edge_tx_bytes', 'edge:llm-a/0-8')).toBe(250);
    const phases = new Set(byMetric(evidence, 'port_tx_bytes').map(({ timesNs }) => timesNs[0] / 1e6));
    expect([...phases].sort((a, b) => a - b)).toEqual([0, 10, 20, 30]);
  });

  it('splits a port over the queues of its traffic classes', async () => {
    const jobs = twoJobs.jobs.map((job, index) => ({
      ...job,
      priority: 3 + index,
      placement: { strategy: 'spread', offset: 0 },
    }));
    const evidence = await watch({ ...twoJobs, jobs, telemetry: { pollSpread: '0s' } }, 3e9);
    const last = (metric: string, element: string): number =>
      seriesOf(evidence, metric, element).values.at(-1)!;
    const total = last('port_tx_bytes', 'port:leaf-1/p17');
    // Two jobs, and the congestion notifications in a class of their own.
    const queues = [3, 4, 6].map((priority) => last('queue_tx_bytes', `queue:leaf-1/p17/${priority}`));
    expect(Math.min(...queues)).toBeGreaterThan(0);
    expect(Math.abs(queues.reduce((sum, bytes) => sum + bytes, 0) - total)).toBeLessThanOrEqual(2);
    expect(byMetric(evidence, 'queue_tx_bytes').some(({ element }) => element.includes('/nic-'))).toBe(false);
  });

  it('counts a drop where it happens: at the queue that faces the dead port', async () => {
    const fault: Impairment = { type: 'link-cut', link: 'link:host-1/nic-0--leaf-1/p1' };
    // A third of this is in the middle of an exchange between hosts.
    const evidence = await watch(twoJobs, 9.72e9, fault);
    const dropping = byMetric(evidence, 'queue_drop_packets')
      .filter(({ values }) => values.at(-1)! > 0)
      .map(({ element }) => element);
    expect(dropping).toContain('queue:leaf-1/p1/3');
    // Until all have heard, some drop where their own way to the host ended; nobody else does.
    for (const element of dropping)
      expect(element).toMatch(/^queue:(leaf-1\/p1|spine-\d\/p1|leaf-[234]\/p1[7-9]|leaf-[234]\/p20)\/3$/);
    const port = byMetric(evidence, 'port_tx_discards').filter(({ values }) => values.at(-1)! > 0);
    expect(port.map(({ element }) => element)).toContain('port:host-1/nic-0');
  });

  it('answers N/A, repeats and loses samples when told to, but never a message on change', async () => {
    const telemetry = { loss: 0.2, notAvailable: 0.2, repeated: 0.2 };
    const clean = await watch(twoJobs, 6e9);
    const dirty = await watch({ ...twoJobs, telemetry }, 6e9);
    const count = (evidence: Evidence, code: number): number =>
      byMetric(evidence, 'port_tx_bytes').reduce(
        (sum, { quality }) => sum + quality.filter((other) => other === code).length,
        0,
      );
    const all = count(clean, QUALITY.fresh);
    expect(count(clean, QUALITY.notAvailable) + count(clean, QUALITY.repeated)).toBe(0);
    for (const code of [QUALITY.notAvailable, QUALITY.repeated]) {
      expect(count(dirty, code) / all).toBeGreaterThan(0.1);
    }
    expect(count(dirty, QUALITY.fresh) / all).toBeLessThan(0.6);
    for (const metric of ['job_steps', 'port_oper_status', 'route_next_hops']) {
      const times = (evidence: Evidence) => byMetric(evidence, metric).map(({ timesNs }) => [...timesNs]);
      expect(times(dirty)).toEqual(times(clean));
    }
  });

  it('does not tell the noise of sensors apart by what fails', async () => {
    const fault: Impairment = { type: 'link-cut', link: 'link:leaf-1/p17--spine-1/p1' };
    const [calm, hurt] = [await watch(twoJobs, 6e9), await watch(twoJobs, 6e9, fault)];
    const untouched = (evidence: Evidence) =>
      samplesOf(evidence, 'optic_rx_power_dbm', 'port:leaf-3/p2').concat(
        samplesOf(evidence, 'optic_temperature_c', 'port:leaf-1/p17'),
      );
    expect(untouched(hurt)).toEqual(untouched(calm));
  });
});

describe('a dual-ToR fabric', () => {
  it('keeps its job through the loss of a NIC port, at one retransmission interval', async () => {
    const spec = {
      topology: { builder: 'dual-tor-dual-plane', hosts: 4, spinesPerPlane: 2, gpusPerHost: 2 },
      jobs: [
        {
          name: 'job',
          gpus: 8,
          parallelism: { tensor: 2 },
          step: { compute: '300ms', collectives: [{ collective: 'all-reduce', bytes: '2GB' }] },
        },
      ],
    };
    const evidence = await watch(spec, 15e9, {
      type: 'link-cut',
      link: 'link:host-1/nic-0/p0--leaf-1/p1',
    });
    const steps = samplesOf(evidence, 'job_step_time_s', 'job:job');
    const usualS = steps[0][1];
    const slow = steps.filter(([, seconds]) => seconds > usualS * 1.05);
    expect(slow.length).toBeGreaterThan(0);
    for (const [timeS, seconds] of slow) {
      expect(seconds).toBeLessThan(2 * usualS);
      expect(timeS).toBeLessThan(11);
    }
    const deadPort = samplesOf(evidence, 'port_tx_bytes', 'port:host-1/nic-0/p0');
    const between = deadPort.filter(([seconds]) => seconds >= 6 && seconds <= 10).map(([, bytes]) => bytes);
    expect(new Set(between).size).toBe(1);
  });
});
