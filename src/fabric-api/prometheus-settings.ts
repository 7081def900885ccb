/**
 * Where the metrics of a real site are, and what they mean here: the `prometheus` part of a Fabric document.
 *
 * Each line names a metric of the catalogue, the PromQL that gives it in the catalogue's unit, and how its labels name an
 * element. PromQL does the arithmetic (`node_network_speed_bytes * 8 / 1e9`). Secrets are no part of a file: a header's
 * value comes from an environment variable, of those that are meant for it only, since whoever may write a fabric file
 * could have any other sent to a host of his own. Not modelled: recording rules, remote read, other time-series databases than
 * those that answer Prometheus' HTTP API.
 */
import { z } from 'zod';
import { durationNs } from '../core/units.js';
import { METRICS, type MetricName } from '../model/telemetry/catalog.js';
import { elementTemplate, labelValues } from './element-labels.js';

const metricNames = METRICS.map(({ name }) => name) as [MetricName, ...MetricName[]];

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL, as in http://prometheus:9090' })
  // what stands before an @ in the authority
  .refine(
    (text) => !/^https?:[\\/]*[^\\/?#]*@/i.test(text),
    'must hold no user and password; give authorization',
  );

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
  url: httpUrl.describe('of the server, without /api/v1'),
  authorization: z
    .strictObject({
      env: z
        .string()
        .regex(
          /^FABRICDRILL_PROMETHEUS_[A-Z0-9_]+$/,
          'must be an environment variable whose name begins with FABRICDRILL_PROMETHEUS_',
        )
        .describe(
          'the environment variable that holds the token; one of the same name with _FOR behind it says to which origin alone it may go',
        ),
      scheme: z
        .string()
        .regex(/^[A-Za-z]+$/)
        .default('Bearer')
        .describe('word before the token'),
    })
    .optional()
    .describe('sent as the Authorization header'),
  timeout: durationNs
    .refine((ns) => ns >= 100e6 && ns <= 300e9, 'must be from 100ms to 5min')
    .prefault('10s')
    .describe('longest that one answer may take'),
  step: durationNs
    .refine((ns) => ns >= 100e6 && ns <= 3600e9, 'must be from 100ms to 1h')
    .prefault('1s')
    .describe('at most the scrape interval, so that no sample is passed over'),
  metrics: z.array(mappingSchema).min(1).max(500).describe('what is read'),
});

export type PrometheusSettings = z.output<typeof prometheusSchema>;
export type PrometheusMapping = PrometheusSettings['metrics'][number];
