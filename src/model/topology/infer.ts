/**
 * What a bare graph tells about its own structure: tiers, rails, planes and pods.
 *
 * A file of nodes and links has no such words. Tier: distance from the hosts (a leaf has hosts). Rail: all NICs at a
 * leaf sit at the same position in their hosts. Plane: all NICs at a leaf are there with the same port of two; a
 * switch above belongs to a plane when all below it do. Pod: what hangs together below the cores. Where the graph is
 * ambiguous nothing is claimed.
 */

/** Links from each switch to the nearest host; 0 where no host can be reached. */
export function switchLevels(
  neighbours: readonly (readonly number[])[],
  hasHosts: readonly boolean[],
): number[] {
  const levels = hasHosts.map((has): number => (has ? 1 : 0));
  const queue = levels.flatMap((level, index) => (level === 1 ? [index] : []));
  for (const at of queue) {
    for (const neighbour of neighbours[at]) {
      if (levels[neighbour] !== 0) continue;
      levels[neighbour] = levels[at] + 1;
      queue.push(neighbour);
    }
  }
  return levels;
}

/** Tier name for a level; everything above spine is core. */
export const tierOfLevel = (level: number): 'leaf' | 'spine' | 'core' =>
  level <= 1 ? 'leaf' : level === 2 ? 'spine' : 'core';

/** A NIC port at a leaf, as far as inference cares. */
export interface Attachment {
  /** Position of the NIC in its host and number of NICs there. */
  position: number;
  nicsInHost: number;
  /** Which port of the NIC, and how many it has. */
  portNumber: number;
  portsOfNic: number;
}

/** The rail that all attachments share; undefined when they don't, or when hosts have one NIC. */
export function railOf(attachments: readonly Attachment[]): number | undefined {
  const position = attachments[0]?.position;
  return attachments.every((nic) => nic.position === position && nic.nicsInHost > 1) ? position : undefined;
}

/** The plane (port number) that all attachments share; undefined when they don't, or NICs have one port. */
export function planeOf(attachments: readonly Attachment[]): number | undefined {
  const number = attachments[0]?.portNumber;
  return attachments.every((nic) => nic.portNumber === number && nic.portsOfNic > 1) ? number : undefined;
}

/** Planes of all switches, given those of the leaves: a switch shares the plane of everything below it. */
export function planesUpward(
  neighbours: readonly (readonly number[])[],
  levels: readonly number[],
  leafPlanes: readonly (number | undefined)[],
): (number | undefined)[] {
  const planes = [...leafPlanes];
  const upward = levels.map((_, index) => index).sort((a, b) => levels[a] - levels[b] || a - b);
  for (const at of upward) {
    if (levels[at] <= 1) continue;
    const below = new Set(
      neighbours[at].filter((other) => levels[other] < levels[at]).map((other) => planes[other]),
    );
    planes[at] = below.size === 1 ? [...below][0] : undefined;
  }
  return planes;
}

/** Pod of each switch below level 3, numbered by first member; all undefined when there is no third tier. */
export function podsOf(
  neighbours: readonly (readonly number[])[],
  levels: readonly number[],
): (number | undefined)[] {
  const pods = levels.map((): number | undefined => undefined);
  if (!levels.some((level) => level >= 3)) return pods;
  let next = 0;
  levels.forEach((level, start) => {
    if (level >= 3 || pods[start] !== undefined) return;
    pods[start] = next;
    const queue = [start];
    for (const at of queue) {
      for (const neighbour of neighbours[at]) {
        if (levels[neighbour] >= 3 || pods[neighbour] !== undefined) continue;
        pods[neighbour] = next;
        queue.push(neighbour);
      }
    }
    next++;
  });
  return pods;
}
