/**
 * What a driver can that builds the fabric it drills: labs, up and down.
 */
import type { FabricDefinition } from './definition.js';

export interface LabSummary {
  name: string;
  devices: number;
  links: number;
  /** ISO 8601. */
  since: string;
}

export interface LabRemoval {
  /** What was removed, by name. */
  namespaces: string[];
  /** Processes that were ended. */
  processes: number;
}

export interface LabBuilder {
  /**
   * Builds the lab and waits until it forwards.
   * @param progress told of each step
   * @throws InputError for what no such lab can be @throws EnvironmentError when the machine can't; nothing is left then
   */
  up(definition: FabricDefinition, progress: (step: string) => void): Promise<LabSummary>;
  /** @returns undefined when there is no such lab */
  down(name: string): Promise<LabRemoval | undefined>;
  /** Labs of which something is there. */
  names(): string[];
}
