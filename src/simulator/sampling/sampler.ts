/**
 * The eyes of the operator: polls every source at its interval and passes on changes as they are reported.
 *
 * Every metric that is watched is sampled on every element it belongs to, from the start, whatever happens. A device
 * without power answers no poll and reports no change; what it knew comes back with it. Polls of one round are spread
 * over the devices, so counters of two ends of a link are read at slightly different times, as in the field.
 */
import { deviceId, edgeId, jobId, nicId, portId, queueId, rankId } from '../../core/elements.js';
import { hashText } from '../../core/prng.js';
import { METRICS, type MetricDefinition, type MetricName } from '../../model/telemetry/catalog.js';
import type { CourseStore } from '../../model/telemetry/columns/course-store.js';
import { PollClock } from '../../model/telemetry/columns/poll-clock.js';
import type { EvidenceSize } from '../../model/telemetry/evidence-size.js';
import type { Evidence } from '../../model/telemetry/series.js';
import type { TelemetrySettings } from '../../model/telemetry/settings.js';
import type { Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import type { FabricSettings } from '../settings.js';
import type { Beliefs } from '../network/beliefs.js';
import { STORAGE, type Connections } from '../transport/connections.js';
import type { ControlPlane } from '../network/control-plane.js';
import type { Counters } from './counters.js';
import type { JobListener, StepReport } from '../jobs/job-runner.js';
import type { Noise } from '../noise/noise.js';
import { BackgroundCounts } from './background-counts.js';
import { DevicePolls } from './device-polls.js';
import { DeviceReadings, type Reading } from './device-readings.js';
import { JobPolls } from './job-polls.js';
import type { RankClocks } from '../jobs/rank-clocks.js';
import type { Rates } from '../rates/rates.js';
import type { JobLatencies } from '../jobs/latencies.js';
import type { PhysicalLayer } from '../network/physical-layer.js';
import type { Placements } from '../jobs/placements.js';
import type { QpTimers } from '../transport/qp-timers.js';
import { roundPhases } from './round-phases.js';
import { SeriesBook } from './series-book.js';
import { NO_DEVICE } from './telemetry-flaws.js';
import type { Signals } from '../network/signals.js';

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
  latencies: readonly JobLatencies[];
  placements: Placements;
  noise: Noise;
  /** Brings the counters up to date. */
  readCounters(nowNs: number): void;
}

/** Elements that are polled together. */
interface PollGroup {
  clock: PollClock;
  poll(nowNs: number): void;
}

export class Sampler implements JobListener {
  private readonly book: SeriesBook;
  private readonly background: BackgroundCounts | undefined;
  private readonly readings: DeviceReadings;
  private readonly groups: PollGroup[] = [];
  /** By metric: series number of each element, by the element's index; -1 where there is none. */
  private readonly series = {} as Record<MetricName, Int32Array>;
  private readonly rerouted = new Set<number>();
  /** By job. */
  private readonly restarts: Int32Array;
  private readonly redoneSteps: Int32Array;
  private nowNs = 0;

  constructor(
    private readonly sources: SamplerSources,
    private readonly settings: TelemetrySettings,
    seed: number,
    courses?: CourseStore,
  ) {
    this.restarts = new Int32Array(sources.jobs.length);
    this.redoneSteps = new Int32Array(sources.jobs.length);
    const { polls, counters: counterNoise } = sources.noise;
    this.book = new SeriesBook(settings, hashText('telemetry', seed >>> 0), sources.topology, courses, polls);
    if (counterNoise !== undefined) this.background = new BackgroundCounts(sources, counterNoise);
    const ids = this.elementIds();
    const watched = new Set<MetricName>(settings.metrics ?? METRICS.map(({ name }) => name));
    for (const metric of METRICS) {
      const { name } = metric;
      this.series[name] = this.book.open(name, ids(metric), this.ownerOf(metric), watched.has(name));
    }
    const { optics: opticNoise } = sources.noise;
    this.readings = new DeviceReadings({ ...sources, opticNoise, counterNoise }, settings.noise, seed);
    this.addDeviceGroups(this.readings);
    const clock = new PollClock(
      settings.jobInterval,
      Math.round((polls?.jobPhase ?? 0) * settings.jobInterval),
    );
    this.groups.push(new JobPolls(sources, this.book, this.series, clock, polls));
    this.reportAll(0);
  }

  /** Time of the next poll, ns. */
  get nextNs(): number {
    let next = Infinity;
    for (const group of this.groups) next = Math.min(next, group.clock.dueNs);
    return next;
  }

  /** Performs the polls that are due at this instant. */
  poll(nowNs: number): void {
    this.sources.readCounters(nowNs);
    this.background?.settle(nowNs);
    for (const group of this.groups) {
      if (group.clock.dueNs <= nowNs) group.poll(nowNs);
    }
  }

  evidenceSize(durationNs: number): EvidenceSize {
    return this.book.size(durationNs);
  }

  evidence(fromNs: number, toNs: number): Evidence {
    return this.book.evidence(fromNs, toNs);
  }

  /** A device's counters start again at 0. */
  resetCounters(nowNs: number, device: number): void {
    this.sources.readCounters(nowNs);
    this.readings.reset(device);
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
    this.background?.jobStarted(this.nicsOf(job));
    this.book.change(this.series.job_state[job], this.nowNs, 1);
    this.book.log(this.series.job_steps[job], this.nowNs, 0);
  }

  jobFailed(job: number): void {
    this.book.change(this.series.job_state[job], this.nowNs, 0);
  }

  jobStopped(job: number): void {
    this.book.change(this.series.job_state[job], this.nowNs, 2);
  }

  jobResumed(job: number, steps: number, redone: number): void {
    this.book.change(this.series.job_state[job], this.nowNs, 1);
    this.book.log(this.series.job_steps[job], this.nowNs, steps);
    this.book.log(this.series.job_restarts[job], this.nowNs, ++this.restarts[job]);
    this.book.change(this.series.job_redone_steps[job], this.nowNs, (this.redoneSteps[job] += redone));
  }

  jobCompleted(job: number, tookNs: number): void {
    this.book.change(this.series.job_state[job], this.nowNs, 3);
    this.book.log(this.series.job_completion_time_s[job], this.nowNs, tookNs / 1e9);
  }

  checkpointWritten(job: number, tookNs: number): void {
    this.book.log(this.series.job_checkpoint_time_s[job], this.nowNs, tookNs / 1e9);
  }

  /** What the scheduler says of a host; the host itself need not be up for that. */
  hostChanged(host: number): void {
    const { placements } = this.sources;
    const atNs = this.nowNs + this.settings.eventDelay;
    this.book.change(this.series.host_drained[host], atNs, Number(placements.isDrained(host)));
    this.book.change(this.series.host_allocated_gpus[host], atNs, placements.gpusInUse(host));
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

  private nicsOf(job: number): Set<number> {
    const { placements, topology } = this.sources;
    return new Set(Array.from(placements.of(job), (gpu) => topology.gpus[gpu].nic));
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
      this.hostChanged(device.index);
    }
    this.nowNs = nowNs;
    for (let job = 0; job < this.restarts.length; job++) {
      this.book.log(this.series.job_restarts[job], nowNs, 0);
      this.book.log(this.series.job_redone_steps[job], nowNs, 0);
      this.book.log(this.series.job_checkpoint_time_s[job], nowNs, NaN);
      this.book.log(this.series.job_completion_time_s[job], nowNs, NaN);
    }
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

  /** Ids of the elements that a metric belongs to, by index; undefined where it does not exist there. */
  private elementIds(): (metric: MetricDefinition) => (string | undefined)[] {
    const { topology, jobs, connections } = this.sources;
    const devices = topology.devices.map((device) => deviceId(device.name));
    const ports = topology.ports.map((port) => portId(port.name));
    const ids = {
      device: devices,
      port: ports,
      queue: this.queueIds(),
      nic: topology.nics.map((nic) => nicId(nic.name)),
      job: jobs.map((job) => jobId(job.name)),
      rank: jobs.flatMap((job) => Array.from(job.placement, (_, rank) => rankId(job.name, rank))),
      // What goes to storage is not NCCL's, and no profiler tells of it.
      edge: connections.all.map(({ job, sourceRank, destinationRank }) =>
        destinationRank === STORAGE ? undefined : edgeId(jobs[job].name, sourceRank, destinationRank),
      ),
    };
    return ({ name, element }) => {
      switch (element) {
        case 'device': {
          const role = /^(route|device_buffer)_/.test(name)
            ? 'switch'
            : name.startsWith('host_')
              ? 'host'
              : undefined;
          return devices.map((id, index) =>
            role === undefined || topology.devices[index].role === role ? id : undefined,
          );
        }
        case 'port':
          return ports.map((id, index) => (this.hasPortMetric(name as MetricName, index) ? id : undefined));
        default:
          return ids[element as keyof typeof ids];
      }
    };
  }

  /** The device that answers for an element; figures of a job come from its log, those of a host's use from the scheduler. */
  private ownerOf({ name, element }: MetricDefinition): (index: number) => number {
    const { ports, nics } = this.sources.topology;
    switch (element) {
      case 'device':
        return name.startsWith('host_') ? () => NO_DEVICE : (device) => device;
      case 'port':
        return (port) => ports[port].device;
      case 'queue':
        return (queue) => ports[queue % ports.length].device;
      case 'nic':
        return (nic) => nics[nic].host;
      default:
        return () => NO_DEVICE;
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

  /** Deals the devices of each source out to its collectors, which take their turns within the spread of a round. */
  private addDeviceGroups(readings: DeviceReadings): void {
    const { switchInterval, nicInterval, opticInterval, pollSpread } = this.settings;
    const { topology, physical } = this.sources;
    const deal = (
      role: string | undefined,
      intervalNs: number,
      addTo: (polls: DevicePolls) => void,
    ): void => {
      const chosen = topology.devices.filter((device) => role === undefined || device.role === role);
      for (const [phaseNs, own] of roundPhases(chosen, intervalNs, pollSpread, this.sources.noise.polls)) {
        const clock = new PollClock(intervalNs, phaseNs);
        const { deviceUp } = physical;
        const { polls: noise } = this.sources.noise;
        const polls = new DevicePolls(this.book, this.series, clock, own, deviceUp, readings, noise);
        addTo(polls);
        this.groups.push(polls);
      }
    };
    const portsOf = (device: number): readonly number[] => topology.devices[device].ports;
    const queuesOf = this.queuesOf();
    const nicsOf = topology.devices.map((): number[] => []);
    for (const nic of topology.nics) nicsOf[nic.host].push(nic.index);
    const reachable: Reading = ['device_reachable', (device) => physical.deviceUp[device]];
    const [ports, queues, nics] = [readings.ports(), readings.queues(), readings.nics()];
    const [switches, optics] = [readings.switches(), readings.optics()];
    const addDevices = (polls: DevicePolls): void => {
      polls.add(reachable, (device) => [device], true);
      for (const reading of switches) polls.add(reading, (device) => [device]);
      for (const reading of ports) polls.add(reading, portsOf);
      for (const reading of queues) polls.add(reading, queuesOf);
      for (const reading of nics) polls.add(reading, (device) => nicsOf[device]);
    };
    deal('switch', switchInterval, addDevices);
    deal('host', nicInterval, addDevices);
    deal(undefined, opticInterval, (polls) => {
      for (const reading of optics) polls.add(reading, portsOf);
    });
  }

  /** Queues of a device's ports, class by class. */
  private queuesOf(): (device: number) => number[] {
    const { topology, counters } = this.sources;
    return (device) =>
      counters.priorities.flatMap((_, classIndex) =>
        topology.devices[device].ports.map((port) => classIndex * topology.ports.length + port),
      );
  }
}
