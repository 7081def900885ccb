/**
 * Element ids: the one spelling in which files, evidence, verdicts and scorecards name a thing.
 *
 * `device:leaf-3`, `port:leaf-3/p17`, `queue:leaf-3/p17/3`, `nic:host-12/nic-4`, `job:llm-a`, `pattern:incast`,
 * `link:host-12/nic-4--leaf-3/p17` (ends are ports, sorted by code unit), `edge:llm-a/3-7` (rank 3 sends to rank 7
 * of a job), `rank:llm-a/3` (one of its processes), `fabric:all` (the system as a whole). The prefix is part of the id.
 */

export const ELEMENT_TYPES = [
  'device',
  'port',
  'queue',
  'link',
  'nic',
  'job',
  'edge',
  'rank',
  'pattern',
  'fabric',
] as const;
export type ElementType = (typeof ELEMENT_TYPES)[number];

/** A reference to an element; `id` carries the prefix. */
export interface ElementRef {
  type: ElementType;
  id: string;
}

export const deviceId = (device: string): string => `device:${device}`;
/** @param port full port name, such as `leaf-3/p17` or `host-12/nic-4` */
export const portId = (port: string): string => `port:${port}`;
export const queueId = (port: string, priority: number): string => `queue:${port}/${priority}`;
export const nicId = (nic: string): string => `nic:${nic}`;
export const jobId = (job: string): string => `job:${job}`;
export const edgeId = (job: string, sourceRank: number, destinationRank: number): string =>
  `edge:${job}/${sourceRank}-${destinationRank}`;
export const rankId = (job: string, rank: number): string => `rank:${job}/${rank}`;
export const patternId = (pattern: string): string => `pattern:${pattern}`;
export const FABRIC_ID = 'fabric:all';

/** The link between two ports, whichever order they come in. */
export function linkId(portA: string, portB: string): string {
  return portA < portB ? `link:${portA}--${portB}` : `link:${portB}--${portA}`;
}

/** Splits an id at its prefix; undefined when the prefix is not a known element type. */
export function parseElementId(id: string): ElementRef | undefined {
  const type = id.slice(0, Math.max(0, id.indexOf(':'))) as ElementType;
  return ELEMENT_TYPES.includes(type) ? { type, id } : undefined;
}

/** The name behind the prefix: `leaf-3` for `device:leaf-3`. */
export function elementName(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}

/** Element reference for an id whose prefix is known to be good. */
export function elementRef(id: string): ElementRef {
  const element = parseElementId(id);
  if (element === undefined) throw new RangeError(`no element id: ${id}`);
  return element;
}
