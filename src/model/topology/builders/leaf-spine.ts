/**
 * Two tiers: every leaf linked to every spine, all NICs of a host on one leaf.
 *
 * The plain top-of-rack Clos, and the fabric of most published packet-level cases. `spines: 0` with one leaf is a
 * single switch. Port numbers: on a leaf hosts first, then spines in order; on a spine leaves in order.
 */
import { z } from 'zod';
import { TopologyBuilder } from '../builder.js';
import type { Topology } from '../model.js';
import { connectHost, connectSwitches, count, hostKeys, interiorOf, linkKeys, upTo } from './shape.js';

export const leafSpineSchema = z.strictObject({
  builder: z.literal('leaf-spine'),
  leaves: count(1, 1024, 'number of leaf switches'),
  spines: count(0, 1024, 'number of spine switches'),
  hostsPerLeaf: count(1, 1024, 'hosts attached to each leaf'),
  linksPerSpine: count(1, 64, 'parallel links from each leaf to each spine').default(1),
  nicsPerHost: count(1, 64, 'NICs in every host; as many as GPUs when left out').optional(),
  ...hostKeys,
  ...linkKeys,
});

/** @throws InputError when the numbers don't make a fabric */
export function buildLeafSpine(spec: z.output<typeof leafSpineSchema>): Topology {
  const builder = new TopologyBuilder();
  const nics = spec.nicsPerHost ?? spec.gpusPerHost;
  const portCount = spec.portsPerSwitch;
  for (const leaf of upTo(spec.leaves)) builder.addSwitch({ name: `leaf-${leaf}`, tier: 'leaf', portCount });
  for (const spine of upTo(spec.spines))
    builder.addSwitch({ name: `spine-${spine}`, tier: 'spine', portCount });
  for (const host of upTo(spec.leaves * spec.hostsPerLeaf)) {
    const leaf = Math.ceil(host / spec.hostsPerLeaf);
    builder.addHost({ name: `host-${host}`, nicPorts: new Array<number>(nics).fill(1) });
    for (let nic = 0; nic < nics; nic++) {
      connectHost(builder, `host-${host}/nic-${nic}`, `leaf-${leaf}`, spec);
    }
  }
  for (const leaf of upTo(spec.leaves)) {
    for (const spine of upTo(spec.spines)) {
      connectSwitches(builder, `leaf-${leaf}`, `spine-${spine}`, spec.linksPerSpine, spec);
    }
  }
  return builder.build(interiorOf(spec));
}
