/**
 * What a driver can whose fabrics are processes of their own on this machine: show them, and end one.
 */

/** Names one opening of a fabric for ever: one that outlives its opener is found by it again. */
export interface FabricInstance {
  /** Such as the id of a run. */
  name: string;
  /** What is injected is nobody's to know yet, so that what shows this fabric to people leaves it out. */
  sealed: boolean;
}

export interface FabricProcess {
  /** What it was started for, such as the id of a run. */
  instance: string;
  fabric: string;
  pace: string;
  /** When it was started, what it is for was sealed. */
  sealed: boolean;
  pid: number;
  /** ISO 8601. */
  since: string;
  /** `up`, `lost` (its process is gone and said nothing), or `ended`. */
  state: 'up' | 'lost' | 'ended';
  /** Why it ended. */
  reason: string | null;
  /** How far its clock is, ns; null unless it is up and answers. */
  nowNs: number | null;
  /** Ids of impairments that are in place; null unless it is up and answers. */
  inPlace: string[] | null;
  /** How far it was behind the wall clock at most, ms; null unless it is up and answers. */
  behindMs: number | null;
}

export interface FabricProcesses {
  /** Those that run, then those that ended in the last days. */
  list(): Promise<FabricProcess[]>;
  /** What it wrote of what was done to it, a JSON object a line; undefined when there is none of this name. */
  log(instance: string): string | undefined;
  /** Reverts what is in place on it and ends it. @returns false when none of this name runs */
  end(instance: string): Promise<boolean>;
}
