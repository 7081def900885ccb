/**
 * Foreign loads that run at the same time, together: bytes alone do not tell which sender sends to which receiver.
 */
import { overlaps } from '../series/context.js';
import type { Context } from '../series/context.js';
import { observeForeignLoads } from '../features/bytes/foreign-load.js';
import type { ForeignLoad } from '../features/bytes/foreign-load.js';

export interface ForeignGroup {
  loads: readonly ForeignLoad[];
  /** NICs that sent to any of them. */
  senders: readonly number[];
}

export const foreignGroups = (context: Context): readonly ForeignGroup[] => context.once(group);

function group(context: Context): ForeignGroup[] {
  const groups: ForeignLoad[][] = [];
  for (const load of context.once(observeForeignLoads)) {
    const together = groups.find((loads) => loads.some((other) => overlaps(other.during, load.during)));
    if (together === undefined) groups.push([load]);
    else together.push(load);
  }
  return groups.map((loads) => ({
    loads,
    senders: [...new Set(loads.flatMap(({ senders }) => senders.map(({ nic }) => nic)))],
  }));
}
