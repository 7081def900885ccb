/**
 * The `spec` of a Fabric document: what a fabric is made of, whoever runs it.
 *
 * `driver` says which adapter makes it real. Topology and jobs are described the same way for all drivers. The
 * simulator's settings are part of the shape because a fabric file may carry them for its simulated twin.
 */
import { z } from 'zod';
import { fabricSettingsSchema, traitsSchema } from '../simulator/settings.js';
import { telemetrySchema } from '../model/telemetry/settings.js';
import { topologySchema } from '../model/topology/topology-spec.js';
import { jobSchema } from '../model/workload/job-schema.js';
import { alertLabelsSchema } from './alert-labels.js';
import { labSettingsSchema } from './lab-settings.js';
import { orchestratorSchema } from './orchestrator-settings.js';
import { paceSchema } from './pace.js';
import { prometheusSchema } from './prometheus-settings.js';
import { transportSchema } from './transport-settings.js';

/** Names of all drivers; `drivers/catalog.ts` has an adapter for each. */
export const DRIVER_NAMES = ['simulated', 'linux', 'prometheus'] as const;

export const fabricSpecSchema = z.strictObject({
  driver: z.enum(DRIVER_NAMES).default('simulated').describe('what runs the fabric'),
  pace: paceSchema
    .optional()
    .describe(
      'runs on a simulated fabric keep to the wall clock: 1x as slow as the real thing, 10x ten times as fast',
    ),
  topology: topologySchema.describe('devices and links'),
  settings: fabricSettingsSchema.describe('transport, detection and routing behaviour'),
  traits: traitsSchema.describe('traits and background events that this file states, in place of draws'),
  jobs: z.array(jobSchema).default([]).describe('training jobs on the fabric'),
  telemetry: telemetrySchema.describe('how the fabric is watched'),
  lab: labSettingsSchema.optional().describe('how the driver linux builds the fabric'),
  transport: transportSchema
    .optional()
    .describe('how the driver linux reaches devices that it has not built'),
  orchestrator: orchestratorSchema
    .optional()
    .describe('who runs the jobs of the driver linux, where it is not the lab itself'),
  prometheus: prometheusSchema.optional().describe('where the driver prometheus reads the metrics of a site'),
  alertLabels: alertLabelsSchema
    .optional()
    .describe('what the operator’s own alerts mean; the first rule that fits an alert counts'),
});

export type FabricSpec = z.output<typeof fabricSpecSchema>;
/** Transport, detection and routing as files give them to every driver. */
export type FabricSettings = FabricSpec['settings'];
export type FabricSpecInput = z.input<typeof fabricSpecSchema>;

/** A fabric with its name, parsed. */
export interface FabricDefinition {
  name: string;
  spec: FabricSpec;
}
