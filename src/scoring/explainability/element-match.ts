/**
 * How well a named element fits the one that was hurt: the ladder of credits.
 *
 * 1 for the element itself or an equivalent name of it (a link and its ports name one cable), 0.8 for something that
 * hangs on the same port (its NIC, a queue), 0.5 for a device at its end (too wide), 0.25 for a part of a dead device
 * (too narrow), 0 for anything else. A pattern of traffic (`pattern:incast`) names the fault that it is as well as the
 * queue does. Ids are compared whole, with the topology; a similar name earns nothing.
 */
import type { ElementRef } from '../../core/elements.js';
import { deviceId } from '../../core/elements.js';
import type { Topology } from '../../model/topology/model.js';
import type { TruthEntry } from '../../faults/ground-truth.js';
import { portsOfElement, portsOfEntry } from '../measures/fault-elements.js';

export const LADDER = { exact: 1, attached: 0.8, device: 0.5, part: 0.25, wrong: 0 } as const;

/** Types that name one cable or an end of it. */
const CABLE_TYPES = new Set(['link', 'port', 'nic', 'queue']);

const isDevice = (element: ElementRef): boolean => element.type === 'device';

/** Names that the truth lists for one thing; a device at the end of a link is no name of the link. */
function isEquivalentName(named: ElementRef, entry: TruthEntry): boolean {
  const [exact] = entry.elements;
  if (!entry.elements.some(({ id }) => id === named.id)) return false;
  // A pattern of traffic and the queue or link on which it meets are one answer to one question.
  if (named.type === 'pattern') return true;
  if (exact.type === 'pattern') return CABLE_TYPES.has(named.type);
  return CABLE_TYPES.has(exact.type) ? CABLE_TYPES.has(named.type) : named.type === exact.type;
}

/** Credit of a named element against one truth entry, 0..1. */
export function elementCredit(named: ElementRef, entry: TruthEntry, topology: Topology): number {
  const [exact] = entry.elements;
  if (exact === undefined) return LADDER.wrong;
  if (isEquivalentName(named, entry)) return LADDER.exact;
  const hurt = portsOfEntry(topology, entry);
  const namedPorts = portsOfElement(topology, named.id);
  const shares = namedPorts.some((port) => hurt.includes(port));
  if (isDevice(exact)) return !isDevice(named) && shares ? LADDER.part : LADDER.wrong;
  if (isDevice(named)) {
    const owners = hurt.map((port) => deviceId(topology.devices[topology.ports[port].device].name));
    return owners.includes(named.id) ? LADDER.device : LADDER.wrong;
  }
  return shares ? LADDER.attached : LADDER.wrong;
}
