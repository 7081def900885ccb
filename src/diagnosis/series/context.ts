/**
 * What one diagnosis looks at: the fabric and jobs as an operator knows them, and the evidence, indexed once.
 *
 * Elements are walked by topology index and never by name, so that renaming a device can't change a verdict.
 */
import { deviceId, nicId, portId } from '../../core/elements.js';
import type { MetricName } from '../../model/telemetry/catalog.js';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import type { Evidence, Series } from '../../model/telemetry/series.js';
import type { Link, Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import { Admission } from './admission.js';
import { QueueTable, SeriesTable } from './series-table.js';

export interface DiagnosisInput {
  topology: Topology;
  jobs: readonly Job[];
  evidence: Evidence;
}

/** A stretch of the fabric's clock, ns. */
export interface Interval {
  fromNs: number;
  toNs: number;
}

export class Context {
  readonly topology: Topology;
  readonly jobs: readonly Job[];
  readonly window: Interval;
  readonly evidence: Evidence;
  private readonly index: EvidenceIndex;
  private readonly made = new Map<unknown, unknown>();
  private readonly ports: SeriesTable;
  private readonly nics: SeriesTable;
  private readonly devices: SeriesTable;
  private readonly queues: QueueTable;
  private readonly admission: Admission;
  private readonly admitted = new Map<string, readonly Series[]>();

  /** @param clockSlackNs by how much the clocks of two devices may differ (clocks.ts) */
  constructor(
    input: DiagnosisInput,
    readonly clockSlackNs = 0,
  ) {
    const { topology, jobs, evidence } = input;
    this.topology = topology;
    this.jobs = jobs;
    this.evidence = evidence;
    this.window = { fromNs: evidence.fromNs, toNs: evidence.toNs };
    this.index = new EvidenceIndex(evidence);
    this.admission = new Admission(evidence);
    this.ports = new SeriesTable(
      this.index,
      topology.ports.map(({ name }) => portId(name)),
    );
    this.nics = new SeriesTable(
      this.index,
      topology.nics.map(({ name }) => nicId(name)),
    );
    this.devices = new SeriesTable(
      this.index,
      topology.devices.map(({ name }) => deviceId(name)),
    );
    this.queues = new QueueTable(this.index, this.ports, topology.ports.length);
  }

  /** What a feature sees, worked out at the first call and kept: hypotheses and words ask for the same. */
  once<T>(observe: (context: Context) => T): T {
    if (!this.made.has(observe)) this.made.set(observe, observe(this));
    return this.made.get(observe) as T;
  }

  read(metric: MetricName, element: string): Series | undefined {
    return this.admit(this.index.get(metric, element));
  }

  all(metric: MetricName): readonly Series[] {
    let known = this.admitted.get(metric);
    if (known === undefined) {
      known = this.index.all(metric).map((series) => this.admission.admit(series));
      this.admitted.set(metric, known);
    }
    return known;
  }

  readPort(metric: MetricName, port: number): Series | undefined {
    return this.admit(this.ports.get(metric, port));
  }

  readNic(metric: MetricName, nic: number): Series | undefined {
    return this.admit(this.nics.get(metric, nic));
  }

  readQueue(metric: MetricName, port: number, priority: number): Series | undefined {
    return this.admit(this.queues.get(metric, port, priority));
  }

  readDevice(metric: MetricName, device: number): Series | undefined {
    return this.admit(this.devices.get(metric, device));
  }

  /** What of the evidence was no reading, as far as it was looked at. */
  notes(): string[] {
    return this.admission.notes();
  }

  private admit(series: Series | undefined): Series | undefined {
    return series === undefined ? undefined : this.admission.admit(series);
  }

  /** Traffic classes of which a queue metric is told, in rising order. */
  classesOf(metric: MetricName): number[] {
    return this.queues.classes(metric);
  }

  portName(port: number): string {
    return this.topology.ports[port].name;
  }

  deviceName(device: number): string {
    return this.topology.devices[device].name;
  }

  /** The two ports of a link, the one nearer to the hosts first. */
  endsOf(link: Link): [number, number] {
    const { ports, devices } = this.topology;
    const [a, b] = [devices[ports[link.portA].device], devices[ports[link.portB].device]];
    const aFirst = a.tierLevel !== b.tierLevel ? a.tierLevel < b.tierLevel : link.portA < link.portB;
    return aFirst ? [link.portA, link.portB] : [link.portB, link.portA];
  }
}

/** Whether two stretches share more than an instant. */
export const overlaps = (one: Interval, other: Interval): boolean =>
  one.fromNs < other.toNs && other.fromNs < one.toNs;
