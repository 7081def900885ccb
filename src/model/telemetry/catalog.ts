/**
 * The metric catalogue: every figure that may be observed, what it means, and which counter it is in the field.
 *
 * Producers (fabrics) may emit these names only, consumers (diagnosis, scoring, gate) may read these names only, and
 * docs/metrics.md is written from this file. Counter sources: Linux mlx5 counters.rst, SONiC COUNTERS_DB and
 * STATE_DB designs, OpenConfig models, node_exporter and dcgm-exporter; an empty source means that the system in
 * question does not export it.
 */
import type { MetricDefinition } from './metrics/definition.js';
import { NETWORK_METRICS } from './metrics/network.js';
import { NIC_METRICS } from './metrics/nic.js';
import { OPTIC_METRICS } from './metrics/optic.js';
import { TRAINING_METRICS } from './metrics/training.js';

export type { MetricDefinition, MetricKind, MetricSources, Sampling } from './metrics/definition.js';

export const METRICS = [
  ...NETWORK_METRICS,
  ...OPTIC_METRICS,
  ...NIC_METRICS,
  ...TRAINING_METRICS,
] as const satisfies readonly MetricDefinition[];

export type MetricName = (typeof METRICS)[number]['name'];

const byName = new Map<string, MetricDefinition>(METRICS.map((metric) => [metric.name, metric]));

/** The definition of a metric, undefined for an unknown name. */
export const metricDefinition = (name: string): MetricDefinition | undefined => byName.get(name);
