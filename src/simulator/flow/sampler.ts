/**
 * The eyes of the operator: polls every source at its interval and passes on changes as they are reported.
 *
 * Every metric of the catalogue is sampled on every element it belongs to, from the start, whatever happens. A device
 * without power answers no poll and reports no change; what it knew comes back with it. Polls of one round are spread
 * over the devices, so counters of two ends of a link are read at slightly different times, as in the field.
 */
import { deviceId, edgeId, jobId, nicId, portId, queueId, rankId } from '../../kernel/elements.js';
import { hashText } from '../../kernel/prng.js';
import { METRICS, type MetricName } from '../../telemetry/catalog.js';
import type { Evidence } from '../../telemetry/series.js';
import type { TelemetrySettings } from '../../telemetry/settings.js';
import type { Topology } from '../../topology/model.js';
import type { Job } from '../../workload/job.js';
import type { FabricSettings } from '../settings.js';
import type { Beliefs } from './beliefs.js';
import type { Connections } from './connections.js';
import type { ControlPlane } from './control-plane.js';
import type { Counters } from './counters.js';
import type { JobListener, StepReport } from './job-runner.js';
import { DevicePolls } from './device-polls.js';
import type { RankClocks } from './rank-clocks.js';
import type { Rates } from './rates.js';
import type { PhysicalLayer } from './physical-layer.js';
import type { QpTimers } from './qp-timers.js';
import { SeriesBook } from './series-book.js';
import type { Signals } from './signals.js';

/** Collectors among which the devices of a round are dealt out. */
const COLLECTORS = 4;

/** What the sampler looks at. */
export interface SamplerSources {
  topology: Topology;
  settings: FabricSettings;
  jobs: readonly Job[];
  physical: PhysicalLayer;
  rates: Rates;
  signals: Signals;
  control: ControlPlane;
  beliefs: Beliefs;
  connections: Connections;
  counters: Counters;
  timers: QpTimers;
  /** By job. */
  clocks: readonly RankClocks[];
  /** Brings the counters up to date. */
  readCounters(nowNs: number): void;
}

interface PollGroup {
  intervalNs: number;
  phaseNs: number;
  round: number;
  poll(nowNs: number, round: number): void;
}

export class Sampler implements JobListener {
  private readonly book: SeriesBook;
  private readonly polls: DevicePolls;
  private readonly groups: PollGroup[] = [];
  /** By metric: series number of each element, by the element's index; -1 where there is none. */
  private readonly series = {} as Record<MetricName, Int32Array>;
  private readonly rerouted = new Set<number>();
  private nowNs = 0;

  constructor(
    private readonly sources: SamplerSources,
    private readonly settings: TelemetrySettings,
    seed: number,
  ) {
    this.book = new SeriesBook(settings, hashText('telemetry', seed >>> 0));
    for (const metric of METRICS) this.openAll(metric.name);
    this.polls = new DevicePolls(sources, this.book, this.series, settings.noise, seed);
    this.addGroups();
    this.reportAll(0);
  }

  /** Time of the next poll, ns. */
  get nextNs(): number {
    let next = Infinity;
    for (const group of this.groups) next = Math.min(next, dueNs(group));
    return next;
  }

  /** Performs the polls that are due at this instant. */
  poll(nowNs: number): void {
    this.sources.readCounters(nowNs);
    for (const group of this.groups) {
      if (dueNs(group) <= nowNs) group.poll(nowNs, group.round++);
    }
  }

  evidence(fromNs: number, toNs: number): Evidence {
    return this.book.evidence(fromNs, toNs);
  }

  /** The instant that listeners' calls refer to. */
  setNow(nowNs: number): void {
    this.nowNs = nowNs;
  }

  portStateChanged(port: number): void {
    this.change('port_oper_status', port, this.sources.physical.operUp[port], this.deviceOf(port));
  }

  portAdminChanged(port: number): void {
    this.change('port_admin_status', port, this.sources.physical.adminUp[port], this.deviceOf(port));
  }

  adjacencyChanged(port: number): void {
    this.change('bfd_session_status', port, this.sources.control.adjacent[port], this.deviceOf(port));
  }

  beliefChanged(node: number): void {
    if (node < this.sources.topology.devices.length) this.rerouted.add(node);
  }

  /** A device that is back reports all it has to say. */
  deviceChanged(device: number): void {
    if (this.sources.physical.deviceUp[device] === 0) return;
    this.reportDevice(device);
    this.rerouted.add(device);
  }

  /** Reports the routes that changed at this instant. */
  commit(): void {
    if (this.rerouted.size === 0) return;
    for (const device of this.rerouted) this.reportRoutes(device);
    this.rerouted.clear();
  }

  jobStarted(job: number): void {
    this.book.change(this.series.job_state[job], this.nowNs, 1);
    this.book.log(this.series.job_steps[job], this.nowNs, 0);
  }

  jobFailed(job: number): void {
    this.book.change(this.series.job_state[job], this.nowNs, 0);
  }

  stepEnded(report: StepReport): void {
    const line = (metric: MetricName, value: number): void =>
      this.book.log(this.series[metric][report.job], this.nowNs, value);
    line('job_steps', report.steps);
    line('job_step_time_s', report.durationNs / 1e9);
    line('job_gpu_utilisation', report.gpuUtilisation);
    line('job_algbw_gbytes_per_s', report.algorithmBandwidth);
    line('job_busbw_gbytes_per_s', report.busBandwidth);
  }

  private deviceOf(port: number): number {
    return this.sources.topology.ports[port].device;
  }

  private change(metric: MetricName, index: number, value: number, device: number): void {
    const series = this.series[metric][index];
    if (series < 0 || this.sources.physical.deviceUp[device] === 0) return;
    this.book.change(series, this.nowNs + this.settings.eventDelay, value);
  }

  private reportAll(nowNs: number): void {
    this.nowNs = nowNs - this.settings.eventDelay;
    for (const device of this.sources.topology.devices) {
      this.reportDevice(device.index);
      this.reportRoutes(device.index);
    }
    this.nowNs = nowNs;
  }

  private reportDevice(device: number): void {
    for (const port of this.sources.topology.devices[device].ports) {
      this.portStateChanged(port);
      this.portAdminChanged(port);
      this.adjacencyChanged(port);
    }
  }

  private reportRoutes(device: number): void {
    const { topology, beliefs } = this.sources;
    if (topology.devices[device].role === 'host') return;
    const { nextHops, portPrefixes } = beliefs.countsOf(device);
    this.change('route_next_hops', device, nextHops[device], device);
    for (const port of topology.devices[device].ports) {
      this.change('route_port_prefixes', port, portPrefixes[port], device);
    }
  }

  private openAll(metric: MetricName): void {
    const { topology, jobs, connections } = this.sources;
    const open = (ids: readonly (string | undefined)[]): void => {
      this.series[metric] = Int32Array.from(ids, (id) =>
        id === undefined ? -1 : this.book.open(metric, id),
      );
    };
    const definition = METRICS.find((candidate) => candidate.name === metric)!;
    switch (definition.element) {
      case 'device':
        return open(
          topology.devices.map((device) =>
            metric.startsWith('route_') && device.role === 'host' ? undefined : deviceId(device.name),
          ),
        );
      case 'port':
        return open(
          topology.ports.map((port) =>
            this.hasPortMetric(metric, port.index) ? portId(port.name) : undefined,
          ),
        );
      case 'queue':
        return open(this.queueIds());
      case 'nic':
        return open(topology.nics.map((nic) => nicId(nic.name)));
      case 'job':
        return open(jobs.map((job) => jobId(job.name)));
      case 'rank':
        return open(jobs.flatMap((job) => Array.from(job.placement, (_, rank) => rankId(job.name, rank))));
      case 'edge':
        return open(
          connections.all.map((connection) =>
            edgeId(jobs[connection.job].name, connection.sourceRank, connection.destinationRank),
          ),
        );
    }
  }

  private hasPortMetric(metric: MetricName, port: number): boolean {
    const { topology, control, settings } = this.sources;
    if (metric === 'bfd_session_status') {
      return settings.bfd && control.betweenSwitches[topology.ports[port].link] === 1;
    }
    return metric !== 'route_port_prefixes' || topology.ports[port].nic < 0;
  }

  /** One queue per switch port and traffic class in use, class by class. */
  private queueIds(): (string | undefined)[] {
    const { topology, counters } = this.sources;
    return counters.priorities.flatMap((priority) =>
      topology.ports.map((port) => (port.nic < 0 ? queueId(port.name, priority) : undefined)),
    );
  }

  private addGroups(): void {
    const { switchInterval, nicInterval, opticInterval, jobInterval, pollSpread } = this.settings;
    const { devices } = this.sources.topology;
    const deal = (
      role: string | undefined,
      intervalNs: number,
      poll: (device: number, nowNs: number, round: number) => void,
    ): void => {
      const chosen = devices.filter((device) => role === undefined || device.role === role);
      for (let collector = 0; collector < COLLECTORS; collector++) {
        const own = chosen
          .filter((_, place) => place % COLLECTORS === collector)
          .map((device) => device.index);
        if (own.length === 0) continue;
        this.groups.push({
          intervalNs,
          phaseNs: Math.round((Math.min(pollSpread, intervalNs / 2) * collector) / COLLECTORS),
          round: 0,
          poll: (nowNs, round) => {
            for (const device of own) poll(device, nowNs, round);
          },
        });
      }
    };
    const { polls } = this;
    deal('switch', switchInterval, (device, nowNs, round) => polls.pollDevice(device, nowNs, round));
    deal('host', nicInterval, (device, nowNs, round) => polls.pollDevice(device, nowNs, round));
    deal(undefined, opticInterval, (device, nowNs, round) => polls.pollOptics(device, nowNs, round));
    this.groups.push({
      intervalNs: jobInterval,
      phaseNs: 0,
      round: 0,
      poll: (nowNs, round) => {
        this.pollEdges(nowNs, round);
        this.pollRanks(nowNs, round);
      },
    });
  }

  private pollEdges(nowNs: number, round: number): void {
    const { connections, counters, timers, topology, physical } = this.sources;
    for (const { index, sourceNic } of connections.all) {
      // The profiler runs beside the sending rank and goes down with its host.
      if (physical.deviceUp[topology.nics[sourceNic].host] === 0) continue;
      this.book.sample(this.series.edge_tx_bytes[index], round, nowNs, Math.floor(counters.delivered[index]));
      this.book.sample(this.series.edge_stalled_s[index], round, nowNs, timers.stalledNs(nowNs, index) / 1e9);
    }
  }

  private pollRanks(nowNs: number, round: number): void {
    const { jobs, clocks, topology, physical } = this.sources;
    const { rank_compute_time_s: compute, rank_wait_time_s: wait } = this.series;
    let index = -1;
    for (const [at, job] of jobs.entries()) {
      for (let rank = 0; rank < job.placement.length; rank++) {
        index++;
        // A rank's figures come from its own host.
        if (physical.deviceUp[topology.gpus[job.placement[rank]].host] === 0) continue;
        const computeNs = clocks[at].computeNs(rank);
        if (Number.isNaN(computeNs)) {
          this.book.notAvailable(compute[index], nowNs);
          this.book.notAvailable(wait[index], nowNs);
          continue;
        }
        this.book.sample(compute[index], round, nowNs, computeNs / 1e9);
        this.book.sample(wait[index], round, nowNs, clocks[at].waitNs(rank) / 1e9);
      }
    }
  }
}

const dueNs = (group: PollGroup): number => group.phaseNs + group.round * group.intervalNs;
