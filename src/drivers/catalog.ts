/**
 * All fabrics: one line per driver, greppable and typed. The conformance suite runs over this list.
 */
import type { z } from 'zod';
import { InputError } from '../core/problem.js';
import { nearestHint } from '../core/nearest.js';
import type { FabricDefinition, FabricSpec } from '../fabric-api/definition.js';
import type { Fabric } from '../fabric-api/fabric.js';
import type { FabricInstance, FabricProcesses } from '../fabric-api/fabric-processes.js';
import { namedSetting, NO_SETTINGS, type ServerSettings } from '../fabric-api/server-settings.js';
import { siteTransport } from '../fabric-api/site-transport.js';
import type { LabBuilder } from '../fabric-api/lab-builder.js';
import { linuxDriver } from './linux/driver.js';
import { prometheusDriver } from './prometheus/driver.js';
import { simulatedDriver } from './simulated/driver.js';

export interface FabricDriver {
  /** As in a file's `driver`; also the folder's name. */
  name: string;
  /** One line. */
  summary: string;
  /** Of a Fabric document's `spec`. */
  schema: z.ZodType;
  /**
   * @param seed of the run: everything random about the fabric is drawn from it
   * @param instance a fabric that outlives its opener is found by it again
   * @param settings the server's own, of which documents name entries
   * @throws InputError with pointers into the Fabric document
   */
  create(
    definition: FabricDefinition,
    seed: number,
    instance: FabricInstance | undefined,
    settings: ServerSettings,
  ): Promise<Fabric>;
  /** Loads what `create` needs, for somebody who will call it and has something else to wait for. */
  load?(): Promise<unknown>;
  /** Nothing can be injected into its fabrics, and all that they need is to be read. */
  watchOnly?: boolean;
  /**
   * The `spec` of a simulated fabric that is to behave as this one, from what its file states; left out where there is no such
   * thing.
   */
  twin?(
    definition: FabricDefinition,
    stated: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>>;
  /** Of a driver that builds what it drills. */
  labs?: LabBuilder;
  /** Of a driver whose fabrics may be processes of their own. */
  processes?: FabricProcesses;
}

/** Of this process; whoever starts it says which. */
let settings: ServerSettings = NO_SETTINGS;

export function useServerSettings(given: ServerSettings): void {
  settings = given;
}

/** @throws InputError for each entry that a document names and the server's settings do not have */
export function requireSettings({ transport, orchestrator, prometheus }: FabricSpec): void {
  if (transport !== undefined) siteTransport(transport, settings);
  if (orchestrator !== undefined)
    namedSetting(settings, 'slurm', orchestrator.slurm, '/spec/orchestrator/slurm');
  if (prometheus !== undefined)
    namedSetting(settings, 'prometheus', prometheus.server, '/spec/prometheus/server');
}

export const FABRIC_DRIVERS: readonly FabricDriver[] = [simulatedDriver, linuxDriver, prometheusDriver];

/** @throws InputError naming the drivers there are */
export function fabricDriver(name: string): FabricDriver {
  const driver = FABRIC_DRIVERS.find((candidate) => candidate.name === name);
  if (driver !== undefined) return driver;
  const names = FABRIC_DRIVERS.map((candidate) => candidate.name);
  throw InputError.at(
    '/spec/driver',
    `there is no driver "${name}"; the drivers are ${names.join(', ')}`,
    nearestHint(name, names),
  );
}

/**
 * The fabric that a document describes, ready to be drilled.
 * @param instance as `create` of a driver takes it; without it nothing outlives this process
 * @throws InputError with pointers into the document
 */
export const openFabric = (
  document: { metadata: { name: string }; spec: FabricSpec },
  seed: number,
  instance?: FabricInstance,
): Promise<Fabric> =>
  fabricDriver(document.spec.driver).create(
    { name: document.metadata.name, spec: document.spec },
    seed,
    instance,
    settings,
  );

/** All that runs as a process of its own here. */
export const fabricProcesses = (): FabricProcesses[] =>
  FABRIC_DRIVERS.flatMap(({ processes }) => processes ?? []);

/** Drivers that build what they drill, with their labs. */
export const labBuilders = (): { driver: string; labs: LabBuilder }[] =>
  FABRIC_DRIVERS.flatMap(({ name, labs }) => (labs === undefined ? [] : [{ driver: name, labs }]));
