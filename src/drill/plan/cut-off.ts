/**
 * Who has no way left while a fault lasts: a reader of the plan should know it before the run.
 *
 * Routes are those of the fabric once it has noticed: links and devices that a fault takes down are gone, for good. Faults
 * are looked at one by one. What a fault only slows or corrupts cuts nobody off.
 */
import { deviceId } from '../../core/elements.js';
import { impairedElement } from '../../fabric-api/impairment.js';
import type { Topology } from '../../model/topology/model.js';
import { cutOffBy } from '../../model/topology/reachability.js';
import type { PlannedFault } from './planned.js';

const DOWN = new Set(['link-admin-down', 'link-cut', 'node-down']);

export function cutOffNotes(faults: readonly PlannedFault[], topology: Topology): string[] {
  return faults.flatMap(({ name, impairments }) => {
    const elements = new Set(
      impairments
        .filter(({ impairment }) => DOWN.has(impairment.type))
        .map((one) => impairedElement(one.impairment)),
    );
    if (elements.size === 0) return [];
    const devices = topology.devices.filter((device) => elements.has(deviceId(device.name)));
    const links = topology.links.flatMap((link) => (elements.has(link.id) ? [link.index] : []));
    const down = [
      ...links,
      ...devices.flatMap(({ ports }) => ports.map((port) => topology.ports[port].link)),
    ];
    const gone = new Set(devices.map(({ index }) => index));
    return cutOffBy(topology, down, gone).map(
      (who) => `${name} cuts ${who} off from the others: there is no other way`,
    );
  });
}
