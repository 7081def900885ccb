/**
 * Which contended groups share a switch's buffer so closely that they have to be solved together.
 *
 * Groups have no link in common; they meet in the buffers of switches alone, where each leaves the others less to take
 * (dynamic thresholds, Choudhury and Hahne 1998). That matters only where somebody's port or queue asks for about as
 * much free buffer as all of them together leave; elsewhere thresholds are out of reach with or without the others. The
 * answer depends on the groups' steady states alone, not on what was there before.
 */
import type { BufferClaim } from './congestion-picture.js';

/** Share of the free buffer that somebody may ask for without coming near his threshold. */
const OUT_OF_REACH = 0.8;

/**
 * Numbers of those that belong together, each once, in order of the first one.
 * @param claims of each on the buffers it uses
 */
export function jointBuffers(claims: readonly (readonly BufferClaim[])[]): number[][] {
  const crowded = crowdedDevices(claims);
  const partOf = claims.map((_, index) => index);
  const rootOf = (index: number): number => (partOf[index] === index ? index : rootOf(partOf[index]));
  const firstAt = new Map<number, number>();
  claims.forEach((own, index) => {
    for (const { device, usedBytes } of own) {
      if (usedBytes === 0 || !crowded.has(device)) continue;
      const first = firstAt.get(device);
      if (first === undefined) firstAt.set(device, index);
      else join(partOf, rootOf(first), rootOf(index));
    }
  });
  const parts = new Map<number, number[]>();
  for (let index = 0; index < claims.length; index++) {
    const root = rootOf(index);
    const part = parts.get(root);
    if (part === undefined) parts.set(root, [index]);
    else part.push(index);
  }
  return [...parts.values()];
}

function join(partOf: number[], one: number, other: number): void {
  partOf[Math.max(one, other)] = Math.min(one, other);
}

/** Devices whose buffer somebody could run out of by what others have of it. */
function crowdedDevices(claims: readonly (readonly BufferClaim[])[]): Set<number> {
  const totals = new Map<number, { used: number; needed: number; users: number; shared: number }>();
  for (const own of claims) {
    for (const { device, usedBytes, neededBytes, sharedBytes } of own) {
      if (usedBytes === 0) continue;
      let total = totals.get(device);
      if (total === undefined)
        totals.set(device, (total = { used: 0, needed: 0, users: 0, shared: sharedBytes }));
      total.used += usedBytes;
      total.needed = Math.max(total.needed, neededBytes);
      total.users++;
    }
  }
  const crowded = new Set<number>();
  for (const [device, { used, needed, users, shared }] of totals) {
    if (users > 1 && needed > OUT_OF_REACH * (shared - used)) crowded.add(device);
  }
  return crowded;
}
