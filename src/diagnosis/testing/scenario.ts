/**
 * Hand-made evidence for specs: a few devices, a few faults, and what an operator's collectors would show.
 *
 * Written apart from the simulator on purpose: it shares no code with what the diagnoser will meet later, polls every
 * device at its own phase, and sends in bursts, so that honest counters disagree at any instant. Not modelled:
 * routing, transport, congestion; slow jobs are told by the spec.
 */
import { deviceId, edgeId, jobId, nicId, portId } from '../../core/elements.js';
import { Prng } from '../../core/prng.js';
import { SeriesBuilder, seriesWith } from '../../model/telemetry/series.js';
import type { Evidence, Series } from '../../model/telemetry/series.js';
import { peerPort } from '../../model/topology/model.js';
import type { Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import type { DiagnosisInput, Verdict } from '../index.js';

const SECOND = 1e9;
const TICK_NS = 0.1 * SECOND;
const POLL_NS = SECOND;
const OPTIC_POLL_NS = 5 * SECOND;
const RATE_BYTES_PER_NS = 5;
const FLOOR_DBM = -40;
const STEP_NS = 0.6 * SECOND;
/** A sender whose packets vanish goes on for so long before it waits for an answer. */
const UNAWARE_NS = 0.5 * SECOND;
const SESSION_LOSS_NS = 0.9 * SECOND;

export interface Trouble {
  type: 'cut' | 'shut-down' | 'one-way' | 'dead' | 'no-management' | 'slow' | 'slow-host';
  /** Index of a link for cut and slow, a port for shut-down and one-way (the sender), a NIC for slow-host, else a device. */
  at: number;
  /** What a slow link runs at. */
  rateGbps?: number;
  /** Seconds. */
  from: number;
  to: number;
}

/** Seconds in which a job's steps take `factor` times as long. */
export interface Slowdown {
  from: number;
  to: number;
  factor: number;
}

export class Scenario {
  private readonly endNs = 60 * SECOND;
  private readonly builders = new Map<string, SeriesBuilder>();
  private readonly random: Prng;
  private readonly phaseNs: number[];

  constructor(
    private readonly topology: Topology,
    private readonly jobs: readonly Job[],
    private readonly troubles: readonly Trouble[],
    private readonly slowdowns: readonly Slowdown[] = [],
    seed = 1,
    /** Greatest difference between the instants at which two devices are polled. */
    skewNs = 0,
  ) {
    this.random = new Prng(seed);
    const phases = Math.round(skewNs / TICK_NS) + 1;
    this.phaseNs = topology.devices.map(() => this.random.below(phases) * TICK_NS);
  }

  input(): DiagnosisInput {
    this.topology.links.forEach((link) => {
      this.countBytes(link.portA);
      this.countBytes(link.portB);
    });
    this.topology.ports.forEach((port) => this.watchPort(port.index));
    this.topology.devices.forEach((device) => this.pollDevice(device.index));
    this.topology.nics.forEach((nic) => this.pollNic(nic.index));
    this.jobs.forEach((job) => this.runJob(job));
    const series = [...this.builders.values()].map((builder) => builder.build());
    return {
      topology: this.topology,
      jobs: this.jobs,
      evidence: { fromNs: 0, toNs: this.endNs, series },
    };
  }

  private put(metric: string, element: string, timeNs: number, value: number): void {
    const key = `${metric} ${element}`;
    let builder = this.builders.get(key);
    if (builder === undefined) this.builders.set(key, (builder = new SeriesBuilder(metric, element)));
    builder.push(timeNs, value);
  }

  private has(type: Trouble['type'], at: number, timeNs: number): boolean {
    return this.trouble(type, at, timeNs) !== undefined;
  }

  private trouble(type: Trouble['type'], at: number, timeNs: number): Trouble | undefined {
    return this.troubles.find(
      (trouble) =>
        trouble.type === type &&
        trouble.at === at &&
        timeNs >= trouble.from * SECOND &&
        timeNs < trouble.to * SECOND,
    );
  }

  private alive(port: number, timeNs: number): boolean {
    return !this.has('dead', this.topology.ports[port].device, timeNs);
  }

  private lit(port: number, timeNs: number): boolean {
    return (
      !this.has('cut', this.topology.ports[port].link, timeNs) &&
      this.alive(peerPort(this.topology, port), timeNs)
    );
  }

  private up(port: number, timeNs: number): boolean {
    const peer = peerPort(this.topology, port);
    const enabled = !this.has('shut-down', port, timeNs) && !this.has('shut-down', peer, timeNs);
    return enabled && this.lit(port, timeNs) && this.alive(port, timeNs);
  }

  /** Seconds since what the port sends began to vanish, in ns; -1 while it arrives. */
  private vanishingNs(port: number, timeNs: number): number {
    const loss = this.trouble('one-way', port, timeNs);
    return loss === undefined ? -1 : timeNs - loss.from * SECOND;
  }

  private countBytes(sender: number): void {
    const receiver = peerPort(this.topology, sender);
    let sent = 1e6 * this.random.below(1000);
    let received = 1e6 * this.random.below(1000);
    for (let timeNs = 0; timeNs <= this.endNs; timeNs += TICK_NS) {
      this.pollAt(sender, timeNs, 'port_tx_bytes', sent);
      this.pollAt(receiver, timeNs, 'port_rx_bytes', received);
      const lostFor = this.vanishingNs(sender, timeNs);
      const burst = Math.floor(timeNs / TICK_NS) % 6 < 4 ? 1 : 0;
      const sends = this.up(sender, timeNs) && lostFor < UNAWARE_NS;
      const bytes = sends ? burst * RATE_BYTES_PER_NS * TICK_NS : 0;
      sent += bytes;
      if (lostFor < 0) received += bytes;
    }
  }

  private pollAt(port: number, timeNs: number, metric: string, value: number): void {
    const { device } = this.topology.ports[port];
    if (timeNs < this.phaseNs[device] || (timeNs - this.phaseNs[device]) % POLL_NS !== 0) return;
    const heard = this.alive(port, timeNs) && !this.has('no-management', device, timeNs);
    if (heard) this.put(metric, portId(this.topology.ports[port].name), timeNs, value);
  }

  private watchPort(port: number): void {
    const element = portId(this.topology.ports[port].name);
    const between = this.topology.devices[this.topology.ports[peerPort(this.topology, port)].device];
    const own = this.topology.devices[this.topology.ports[port].device];
    const hasSession = between.role === 'switch' && own.role === 'switch';
    const last = new Map<string, number>();
    let events = 0;
    const tell = (metric: string, timeNs: number, value: number): void => {
      const heard = this.alive(port, timeNs) && !this.has('no-management', own.index, timeNs);
      if (!heard || last.get(metric) === value) return;
      last.set(metric, value);
      this.put(metric, element, timeNs, value);
    };
    for (let timeNs = 0; timeNs <= this.endNs; timeNs += TICK_NS) {
      const up = this.up(port, timeNs);
      if (last.get('port_oper_status') === 1 && !up && this.alive(port, timeNs)) events++;
      tell('port_oper_status', timeNs, up ? 1 : 0);
      tell('port_admin_status', timeNs, this.has('shut-down', port, timeNs) ? 0 : 1);
      if (hasSession) tell('bfd_session_status', timeNs, up && !this.sessionLost(port, timeNs) ? 1 : 0);
      this.pollAt(port, timeNs, 'port_link_down_events', events);
      if (up) this.pollAt(port, timeNs, 'port_rate_gbps', this.rateGbps(port, timeNs));
      const opticPoll = timeNs % OPTIC_POLL_NS === 0;
      if (opticPoll && this.alive(port, timeNs) && !this.has('no-management', own.index, timeNs)) {
        const light = -2 + 0.01 * this.random.normal();
        this.put('optic_rx_power_dbm', element, timeNs, this.lit(port, timeNs) ? light : FLOOR_DBM);
      }
    }
  }

  private sessionLost(port: number, timeNs: number): boolean {
    const peer = peerPort(this.topology, port);
    return Math.max(this.vanishingNs(port, timeNs), this.vanishingNs(peer, timeNs)) >= SESSION_LOSS_NS;
  }

  private pollDevice(device: number): void {
    const element = deviceId(this.topology.devices[device].name);
    for (let timeNs = this.phaseNs[device]; timeNs <= this.endNs; timeNs += POLL_NS) {
      const silent = this.has('dead', device, timeNs) || this.has('no-management', device, timeNs);
      this.put('device_reachable', element, timeNs, silent ? 0 : 1);
    }
  }

  private rateGbps(port: number, timeNs: number): number {
    const link = this.topology.links[this.topology.ports[port].link];
    return this.trouble('slow', link.index, timeNs)?.rateGbps ?? link.rateGbps;
  }

  private pollNic(nic: number): void {
    const { name, ports } = this.topology.nics[nic];
    let pausedS = 0;
    for (let timeNs = 0; timeNs <= this.endNs; timeNs += POLL_NS) {
      const slow = this.has('slow-host', nic, timeNs - POLL_NS / 2);
      if (slow) pausedS += 0.4;
      for (const metric of ['nic_pcie_read_stalled_ratio', 'nic_pcie_write_stalled_ratio']) {
        this.put(metric, nicId(name), timeNs, (slow ? 0.5 : 0) + 0.01 * this.random.uniform());
      }
      this.put('port_pause_tx_s', portId(this.topology.ports[ports[0]].name), timeNs, pausedS);
    }
  }

  private runJob(job: Job): void {
    const element = jobId(job.name);
    const stall = edgeId(job.name, 0, 1);
    let steps = 0;
    this.put('job_state', element, 0, 1);
    this.put('job_steps', element, 0, 0);
    for (let timeNs = 0; ;) {
      const slow = this.slowdowns.find(
        ({ from, to }) => timeNs + STEP_NS > from * SECOND && timeNs < to * SECOND,
      );
      const durationNs = STEP_NS * (slow?.factor ?? 1);
      timeNs += durationNs;
      if (timeNs > this.endNs) break;
      this.put('job_steps', element, timeNs, ++steps);
      this.put('job_step_time_s', element, timeNs, durationNs / SECOND);
      this.put('job_gpu_utilisation', element, timeNs, (0.5 * STEP_NS) / durationNs);
    }
    for (let timeNs = 0; timeNs <= this.endNs; timeNs += POLL_NS)
      this.put('edge_stalled_s', stall, timeNs, 0);
  }
}

/** The same evidence without the series (or samples) that `keep` refuses. */
export function withoutSamples(
  input: DiagnosisInput,
  keep: (series: Series, index: number) => boolean,
): DiagnosisInput {
  const evidence: Evidence = {
    ...input.evidence,
    series: input.evidence.series.flatMap((series) => {
      const { timesNs, values, quality } = series;
      const kept = [...timesNs.keys()].filter((index) => keep(series, index));
      if (kept.length === 0) return [];
      return [
        seriesWith(series, {
          timesNs: Float64Array.from(kept, (index) => timesNs[index]),
          values: Float64Array.from(kept, (index) => values[index]),
          quality: Uint8Array.from(kept, (index) => quality[index]),
        }),
      ];
    }),
  };
  return { ...input, evidence };
}

/** Elements that a verdict tells of: culprits, then what is odd and cost nothing. */
export const toldOf = ({ culprits, remarks = [] }: Verdict): string[] =>
  [...culprits, ...remarks].map(({ element }) => element.id);
