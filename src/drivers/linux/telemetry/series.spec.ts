import { describe, expect, it } from '@jest/globals';
import { METRICS } from '../../../model/telemetry/catalog.js';
import { QUALITY } from '../../../model/telemetry/series.js';
import { smallTopology } from '../../../model/workload/testing/small-topology.js';
import type { Job } from '../../../model/workload/job.js';
import { fabricSpecSchema } from '../../../fabric-api/definition.js';
import { Lab } from '../lab/lab.js';
import type { StepSummary } from '../job/job-events.js';
import { DeviceSeries } from './device-series.js';
import { JobSeries } from './job-series.js';
import { NIC_COUNTERS, seriesSet, type Telling } from './series-set.js';
import { SeriesStore } from './series-store.js';

const topology = smallTopology({ hosts: 4, leaves: 2 });
const job: Job = {
  name: 'llm',
  placement: Int32Array.from([0, 1]),
  startNs: 0,
  queuePairs: 1,
  priority: 3,
  program: {
    operations: [
      {
        type: 'collective',
        name: 'data/all-reduce',
        collective: 'all-reduce',
        algorithm: 'ring',
        bytes: 1e6,
        groups: [[0, 1]],
        parallelism: 'data',
        after: [],
      },
    ],
  },
};

describe('the series of a lab', () => {
  it('are metrics of the catalogue, on elements of their type, each once', () => {
    const names = seriesSet({ topology, jobs: [job], bfd: true });
    for (const { metric, element } of names) {
      const definition = METRICS.find(({ name }) => name === metric);
      expect(`${metric} ${definition?.element}`).toBe(`${metric} ${element.slice(0, element.indexOf(':'))}`);
    }
    expect(new Set(names.map(({ metric, element }) => `${metric} ${element}`)).size).toBe(names.length);
  });

  it('leave out what there is not: sessions without BFD, light, pauses, marks', () => {
    const metrics = new Set(seriesSet({ topology, jobs: [job], bfd: false }).map(({ metric }) => metric));
    for (const metric of METRICS.map(({ name }) => name)) {
      const absent =
        /^(optic_|port_fec_|port_pause_|bfd_|nic_pcie_|nic_cnp_|queue_ecn_|queue_watchdog_)/.test(metric);
      if (absent) expect(metrics).not.toContain(metric);
    }
    const withBfd = seriesSet({ topology, jobs: [], bfd: true }).filter(
      ({ metric }) => metric === 'bfd_session_status',
    );
    expect(withBfd.map(({ element }) => element)).toEqual(
      expect.arrayContaining(['port:leaf-1/p1', 'port:spine-1/p1']),
    );
    expect(withBfd).toHaveLength(4);
  });

  it('leave out what a device does not count, nothing else', () => {
    const of = (counts: Telling['counts'], bfd: boolean): string[] =>
      seriesSet({ topology, jobs: [job], bfd: true, tellingOf: () => ({ counts, bfd }) }).map(
        ({ metric, element }) => `${metric} ${element}`,
      );
    const without = (metrics: RegExp): string[] => of('queues', true).filter((name) => !metrics.test(name));
    expect(of('links', true)).toEqual(without(/^queue_/));
    expect(of('none', false)).toEqual(
      without(/^(queue_|port_(rate_gbps|tx_bytes|rx_bytes|tx_discards|rx_errors) |bfd_)/),
    );
    expect(of('none', false).length).toBeLessThan(of('links', true).length);
  });

  it('are only those that are watched, where the file says so', () => {
    const names = seriesSet({ topology, jobs: [job], bfd: true, watched: ['port_tx_bytes', 'job_steps'] });
    expect([...new Set(names.map(({ metric }) => metric))]).toEqual(['port_tx_bytes', 'job_steps']);
  });

  it('rise strictly in time, keep N/A apart, and drop what is not watched', () => {
    const store = new SeriesStore([{ metric: 'job_steps', element: 'job:llm' }]);
    store.add('job_steps', 'job:llm', 5, 1);
    store.add('job_steps', 'job:llm', 3, 2);
    store.add('job_steps', 'job:llm', 9, NaN);
    store.add('port_tx_bytes', 'port:a', 9, 1);
    const { series } = store.evidence(0, 10);
    expect(series).toHaveLength(1);
    expect([...series[0].timesNs]).toEqual([5, 6, 9]);
    expect([...series[0].quality]).toEqual([QUALITY.fresh, QUALITY.fresh, QUALITY.notAvailable]);
  });

  it('end with the window, and carry what still holds to its begin', () => {
    const store = new SeriesStore([{ metric: 'port_oper_status', element: 'port:a' }]);
    store.change('port_oper_status', 'port:a', 10, 1);
    store.change('port_oper_status', 'port:a', 20, 1);
    store.change('port_oper_status', 'port:a', 30, 0);
    expect([...store.evidence(0, 25).series[0].values]).toEqual([1]);
    const [cut] = store.evidence(15, 40).series;
    expect([...cut.timesNs]).toEqual([15, 30]);
    expect([...cut.values]).toEqual([1, 0]);
  });

  it('name only counters that the kernel has', () => {
    const names = Object.values(NIC_COUNTERS).flat();
    for (const name of names) expect(name).toMatch(/^(TcpExt|IpExt)\.[A-Z]\w+$/);
  });
});

describe('a job as series', () => {
  const step = (number: number, endedNs: number): StepSummary => ({
    step: number,
    endedNs,
    durationNs: 400e6,
    computeNs: [100e6, 80e6],
    waitNs: [300e6, 320e6],
    collectives: [{ type: 'all-reduce', bytes: 1e6, ranks: 2, tookNs: 250e6 }],
  });
  const open = () => {
    const store = new SeriesStore(seriesSet({ topology, jobs: [job], bfd: false }));
    const view = { placementOf: () => job.placement, holdsGpus: () => true, isDrained: () => false };
    const series = new JobSeries(store, topology, [job], view, (atNs) => atNs - 1e9);
    const read = (metric: string, element = 'job:llm') => {
      const found = store
        .evidence(0, 100e9)
        .series.find((one) => one.metric === metric && one.element === element)!;
      return [...found.values];
    };
    return { series, read };
  };

  it('tells steps when they end, bandwidth as nccl-tests counts it, and latencies of a poll interval', () => {
    const { series, read } = open();
    series.started(0, 1e9);
    series.stepEnded(0, step(1, 2e9));
    series.stepEnded(0, {
      ...step(2, 3e9),
      collectives: [{ type: 'all-reduce', bytes: 1e6, ranks: 2, tookNs: 350e6 }],
    });
    series.poll(3e9);
    series.poll(4e9);
    expect(read('job_steps')).toEqual([0, 1, 2]);
    expect(read('job_gpu_utilisation')).toEqual([0.25, 0.25]);
    expect(read('job_algbw_gbytes_per_s')[0]).toBeCloseTo(0.004, 12);
    expect(read('job_busbw_gbytes_per_s')[0]).toBeCloseTo(0.004, 12);
    expect(read('job_allreduce_latency_s')).toEqual([0.3, NaN]);
    expect(read('job_allreduce_latency_p99_s')).toEqual([0.35, NaN]);
    expect(read('rank_wait_time_s', 'rank:llm/1')).toEqual([0.32, 0.32]);
  });

  it('tells failure, restart and what is done again, and no counter of a worker that is gone', () => {
    const { series, read } = open();
    series.started(0, 1e9);
    series.edgeCounted(0, { fromRank: 0, toRank: 1, atNs: 2e9, deliveredBytes: 500, stalledNs: 1e9 });
    series.poll(1.1e9);
    series.poll(2.1e9);
    series.failed(0, 3e9);
    series.stopped(0, 3.1e9);
    series.resumed(0, 4e9, 5, 2);
    expect(read('edge_tx_bytes', 'edge:llm/0-1')).toEqual([500]);
    expect(read('edge_stalled_s', 'edge:llm/0-1')).toEqual([1]);
    expect(read('job_state')).toEqual([1, 0, 2, 1]);
    expect(read('job_steps')).toEqual([0, 5]);
    expect(read('job_restarts')).toEqual([0, 1]);
    expect(read('job_redone_steps')).toEqual([0, 2]);
    expect(read('host_allocated_gpus', 'device:host-1')).toEqual([1]);
  });
});

describe('the state of a device', () => {
  it('is told by its kernel though its BFD daemon is gone, and sessions are not known then', () => {
    const lab = Lab.from({
      name: 'lab',
      spec: fabricSpecSchema.parse({
        driver: 'linux',
        topology: {
          ...{ builder: 'leaf-spine', leaves: 2, spines: 1, hostsPerLeaf: 1 },
          ...{ hostRate: '50Mbps', fabricRate: '50Mbps' },
        },
      }),
    });
    const store = new SeriesStore(seriesSet({ topology: lab.topology, jobs: [], bfd: true }));
    const devices = new DeviceSeries(lab, store, (atNs) => atNs);
    const node = lab.nodes.findIndex(({ name }) => name === 'spine-1');
    const read = (metric: string): number[] => {
      const { series } = store.evidence(0, 10e9);
      return [...series.find((one) => one.metric === metric && one.element === 'port:spine-1/p1')!.values];
    };
    const link = { adminUp: true, operUp: true, downEvents: 0, txDropped: 0 };
    const state = { reading: 'state', node, routes: '[]' } as const;
    store.begin();
    devices.takeState({ ...state, atNs: 1e9, links: [['p1', link]], bfd: [['p1', true]] });
    devices.takeState({ ...state, atNs: 2e9, links: [['p1', { ...link, operUp: false }]], bfd: 'no answer' });
    expect(read('port_oper_status')).toEqual([1, 0]);
    expect(read('bfd_session_status')).toEqual([1, NaN]);
  });
});
