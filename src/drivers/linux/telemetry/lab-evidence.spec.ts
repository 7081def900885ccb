/** A real lab with a real job, watched for some seconds; skipped, with the reason, where no lab can be. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EvidenceIndex, type Series } from '../../../model/telemetry/series.js';
import { buildJobs } from '../../../model/workload/build-jobs.js';
import { fabricSpecSchema } from '../../../fabric-api/definition.js';
import { Clock } from '../clock.js';
import { jobLabOf } from '../job/job-lab.js';
import { LabJobs } from '../job/lab-jobs.js';
import { buildPrograms } from '../job/testing/built-programs.js';
import { buildLab } from '../lab/build.js';
import { Lab } from '../lab/lab.js';
import { removeLab } from '../lab/remove.js';
import { whyNoLab } from '../../../../test/support/linux-lab.js';
import { LabCollector } from './collector.js';

const why = whyNoLab('telemetry of a real lab');

const name = `t${process.pid.toString(36)}`;
const definition = {
  name,
  spec: fabricSpecSchema.parse({
    driver: 'linux',
    topology: {
      builder: 'leaf-spine',
      leaves: 2,
      spines: 2,
      hostsPerLeaf: 2,
      gpusPerHost: 1,
      hostRate: '50Mbps',
      fabricRate: '50Mbps',
    },
    settings: { mtu: '1448B', bfd: true, bfdInterval: '100ms' },
    lab: { prefix: name },
    jobs: [
      {
        name: 'llm',
        placement: { strategy: 'spread' },
        gpus: 4,
        step: { compute: '50ms', collectives: [{ collective: 'all-reduce', bytes: '500kB' }] },
      },
    ],
    telemetry: { switchInterval: '500ms', nicInterval: '500ms', jobInterval: '500ms' },
  }),
};

(why === undefined ? describe : describe.skip)('telemetry of a lab', () => {
  const lab = Lab.from(definition);
  const definitions = buildJobs(definition.spec.jobs, lab.topology);
  const clock = new Clock();
  let folder: string;
  let jobs: LabJobs;
  let collector: LabCollector;
  let index: EvidenceIndex;
  const get = (metric: string, element: string): Series => {
    const series = index.get(metric, element);
    if (series === undefined) throw new Error(`there is no ${metric} of ${element}`);
    return series;
  };
  const gain = ({ values }: Series): number => values[values.length - 1] - values[0];

  /** Per second. */
  const rate = (series: Series): number =>
    gain(series) / ((series.timesNs[series.timesNs.length - 1] - series.timesNs[0]) / 1e9);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fabricdrill-telemetry-'));
    const programs = await buildPrograms(join(folder, 'program'));
    await buildLab(lab, 'test', () => undefined);
    jobs = new LabJobs({
      lab: jobLabOf(lab),
      jobs: definitions,
      settings: lab.settings,
      jobIntervalNs: definition.spec.telemetry.jobInterval,
      program: programs.worker,
    });
    collector = new LabCollector({
      lab,
      jobs,
      definitions,
      clock,
      settings: definition.spec.telemetry,
      program: programs.watcher,
    });
    await jobs.start();
    clock.start();
    await collector.start();
    await sleep(4000);
    index = new EvidenceIndex(await collector.evidence(0, clock.nowNs()));
  });
  afterAll(async () => {
    await collector?.stop();
    await jobs?.stop();
    await removeLab(name);
    await rm(folder, { recursive: true, force: true });
  });

  it('hears every device, and knows of ports, sessions and routes what the kernel does', () => {
    for (const device of lab.topology.devices) {
      const { values } = get('device_reachable', `device:${device.name}`);
      expect(values.length).toBeGreaterThan(4);
      expect([...values].every((value) => value === 1)).toBe(true);
    }
    expect([...get('port_oper_status', 'port:leaf-1/p1').values]).toEqual([1]);
    expect([...get('bfd_session_status', 'port:leaf-1/p3').values]).toEqual([1]);
    // two own hosts over one port each, two far ones over two uplinks each
    expect([...get('route_next_hops', 'device:leaf-1').values]).toEqual([6]);
    expect([...get('route_port_prefixes', 'port:leaf-1/p3').values]).toEqual([2]);
    expect(
      [...get('port_rate_gbps', 'port:leaf-1/p3').values].every((rate) => Math.abs(rate - 0.05) < 1e-9),
    ).toBe(true);
  });

  it('counts at both ends of a link the same bytes, and loses none in health', () => {
    for (const link of lab.topology.links) {
      const [a, b] = [link.portA, link.portB].map((port) => `port:${lab.topology.ports[port].name}`);
      for (const [from, to] of [
        [a, b],
        [b, a],
      ]) {
        const sent = rate(get('port_tx_bytes', from));
        expect(sent).toBeGreaterThan(50_000);
        // the two ends are not read at the same instant, and a step comes in bursts
        expect(rate(get('port_rx_bytes', to)) / sent).toBeGreaterThan(0.65);
        expect(rate(get('port_rx_bytes', to)) / sent).toBeLessThan(1.55);
      }
    }
    for (const metric of [
      'port_rx_errors',
      'port_tx_discards',
      'port_link_down_events',
      'queue_drop_packets',
    ]) {
      for (const series of index.all(metric))
        expect(`${series.element} ${gain(series)}`).toBe(`${series.element} 0`);
    }
    // a busy machine may keep an acknowledgement back for longer than a timer
    for (const series of index.all('nic_local_ack_timeouts')) expect(gain(series)).toBeLessThan(5);
  });

  it('tells steps, waits and edges of the job, with both uplinks of a leaf in use', () => {
    const steps = get('job_step_time_s', 'job:llm').values;
    expect(steps.length).toBeGreaterThan(8);
    const busbw = get('job_busbw_gbytes_per_s', 'job:llm').values;
    const median = [...busbw].sort((one, other) => one - other)[busbw.length >> 1];
    // 50 Mbit/s are 0.00625 GB/s
    expect(median).toBeGreaterThan(0.001);
    expect(median).toBeLessThan(0.0063);
    expect(gain(get('edge_tx_bytes', 'edge:llm/0-1'))).toBeGreaterThan(1e6);
    expect(get('rank_compute_time_s', 'rank:llm/0').values.at(-1)).toBeGreaterThan(0.04);
    expect([...get('host_allocated_gpus', 'device:host-1').values]).toEqual([1]);
  });

  it('costs little', () => {
    const cost = collector.cost()!;
    const { rounds, cpuMsPerRound } = cost;
    console.log(
      `watching ${lab.nodes.length} devices: ${cpuMsPerRound.toFixed(1)} ms CPU a round (${rounds} rounds)`,
    );
    expect(rounds).toBeGreaterThan(2);
    // 500 ms of a core is what a round may not come near
    expect(cpuMsPerRound).toBeLessThan(200);
  });
});
