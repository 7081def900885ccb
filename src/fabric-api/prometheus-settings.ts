/**
 * Where the metrics of a real site are, and what they mean here: the `prometheus` part of a Fabric document.
 *
 * Each line names a metric of the catalogue, the PromQL that gives it in the catalogue's unit, and how its labels name an
 * element. PromQL does the arithmetic (`node_network_speed_bytes * 8 / 1e9`). Address and token stand in the server's
 * settings, which the document names. Not modelled: recording rules, remote read, other time-series databases than
 * those that answer Prometheus' HTTP API.
 */
import { z } from 'zod';
import { durationNs } from '../core/units.js';
import { METRICS, type MetricName } from '../model/telemetry/catalog.js';
import { elementTemplate, labelValues } from './element-labels.js';
import { settingName, type PrometheusServer } from './server-settings.js';

const metricNames = METRICS.map(({ name }) => name) as [MetricName, ...MetricName[]];

const mappingSchema = z.strictObject({
  metric: z.enum(metricNames).describe('a metric of docs/metrics.md'),
  query: z
    .string()
    .min(1)
    .max(4000)
    .describe('PromQL that gives it in the unit of docs/metrics.md, one series per element'),
  element: elementTemplate,
  values: labelValues,
});

export const prometheusSchema = z.strictObject({
  server: settingName.describe('entry `prometheus` of the server’s settings: where it is, and the token'),
  step: durationNs
    .refine((ns) => ns >= 100e6 && ns <= 3600e9, 'must be from 100ms to 1h')
    .prefault('1s')
    .describe('at most the scrape interval, so that no sample is passed over'),
  metrics: z.array(mappingSchema).min(1).max(500).describe('what is read'),
});

export type PrometheusSpec = z.output<typeof prometheusSchema>;
export type PrometheusMapping = PrometheusSpec['metrics'][number];

/** A document's `prometheus` with what the server's settings say of it. */
export type PrometheusSettings = Omit<PrometheusSpec, 'server'> & PrometheusServer;
