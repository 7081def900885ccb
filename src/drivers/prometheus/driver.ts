/**
 * A fabric that is only watched: a real site whose own monitoring already has the metrics, read from Prometheus.
 *
 * Nothing can be injected here, so its map of capabilities is empty and every plan says so; `diagnose` is what it is for.
 * Its clock is the wall clock, counted from when it was opened; telemetry from before that can be asked for as well.
 */
import { InputError, withPointer } from '../../core/problem.js';
import { buildTopology } from '../../model/topology/topology-spec.js';
import type { Topology } from '../../model/topology/model.js';
import type { Evidence } from '../../model/telemetry/series.js';
import { buildJobs } from '../../model/workload/build-jobs.js';
import type { Job } from '../../model/workload/job.js';
import { knownElements } from '../../model/workload/known-elements.js';
import { fabricSpecSchema, type FabricDefinition, type FabricSettings } from '../../fabric-api/definition.js';
import type {
  ConfigurationSnapshot,
  Fabric,
  FabricDescription,
  KeepsTime,
  RemembersTelemetry,
} from '../../fabric-api/fabric.js';
import type { FabricInstance } from '../../fabric-api/fabric-processes.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { namedSetting, type ServerSettings } from '../../fabric-api/server-settings.js';
import { PrometheusClient } from './client.js';
import { PrometheusSource } from './source.js';

export const prometheusDriver = {
  name: 'prometheus',
  summary: 'a real site that is only watched, by the metrics that its Prometheus has',
  schema: fabricSpecSchema,
  watchOnly: true,
  create: async (
    definition: FabricDefinition,
    _seed: number,
    _instance: FabricInstance | undefined,
    settings: ServerSettings,
  ): Promise<PrometheusFabric> => {
    const { spec } = definition;
    if (spec.prometheus === undefined) {
      const hint = 'as in prometheus: { server: NAME, metrics: […] }';
      throw InputError.at('/spec/prometheus', 'where its metrics are is missing', hint);
    }
    const topology = withPointer('/spec/topology', () => buildTopology(spec.topology));
    const jobs = buildJobs(spec.jobs, topology, '/spec/jobs');
    const { server, ...own } = spec.prometheus;
    const client = new PrometheusClient({
      ...own,
      ...namedSetting(settings, 'prometheus', server, '/spec/prometheus/server'),
    });
    const source = new PrometheusSource(client, own, knownElements(topology, jobs));
    return new PrometheusFabric(definition.name, topology, jobs, spec.settings, source);
  },
};

export class PrometheusFabric implements Fabric, KeepsTime, RemembersTelemetry {
  private readonly openedMs: number;

  constructor(
    private readonly name: string,
    private readonly topology: Topology,
    private readonly jobs: readonly Job[],
    private readonly settings: FabricSettings,
    private readonly source: Pick<PrometheusSource, 'read'>,
    private readonly wallClockMs: () => number = Date.now,
  ) {
    this.openedMs = wallClockMs();
  }

  describe(): FabricDescription {
    const { mtu, headerBytes, ackBytes } = this.settings;
    return {
      name: this.name,
      driver: 'prometheus',
      topology: this.topology,
      jobs: this.jobs,
      transport: { mtuBytes: mtu, headerBytes, ackBytes },
      capabilities: new Map(),
    };
  }

  clockNs(): number {
    return (this.wallClockMs() - this.openedMs) * 1e6;
  }

  observe({ fromNs, toNs }: { fromNs: number; toNs: number }): Promise<Evidence> {
    return this.source.read(this.openedMs, fromNs, toNs);
  }

  remember(fromMs: number, toMs: number): Promise<Evidence> {
    return this.source.read(fromMs, 0, (toMs - fromMs) * 1e6);
  }

  async readBack(impairment: Impairment): Promise<ConfigurationSnapshot> {
    throw this.refusal(impairment);
  }

  async apply(_id: string, impairment: Impairment): Promise<void> {
    throw this.refusal(impairment);
  }

  async revert(_id: string, impairment: Impairment): Promise<void> {
    throw this.refusal(impairment);
  }

  async close(): Promise<void> {
    return undefined;
  }

  private refusal({ type }: Impairment): InputError {
    return InputError.at(
      '/type',
      `the fabric "${this.name}" is only watched: ${type} can't be applied to it`,
    );
  }
}
