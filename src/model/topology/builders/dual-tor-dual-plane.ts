/**
 * Dual ToR, dual plane: each NIC has one port to either of two leaves, which belong to separate planes.
 *
 * The fabric of Alibaba HPN (SIGCOMM 2024): rail-optimised segments, 2 × 200G a NIC, spines that belong to one plane
 * only, so that losing a leaf or a NIC port leaves the other plane. Leaves are numbered segment by segment, plane by
 * plane, rail by rail. Port numbers: on a leaf hosts first, then spines; on a spine leaves in order.
 * Not modelled: the third tier that joins pods.
 */
import { z } from 'zod';
import { TopologyBuilder } from '../builder.js';
import type { Topology } from '../model.js';
import { dividedBySegments, segmentLabel } from './rail-optimised.js';
import { connectHost, connectSwitches, count, hostKeys, interiorOf, linkKeys, upTo } from './shape.js';

const PLANES = 2;

export const dualTorDualPlaneSchema = z.strictObject({
  builder: z.literal('dual-tor-dual-plane'),
  hosts: count(1, 16384, 'number of hosts over all segments'),
  spinesPerPlane: count(1, 512, 'spine switches of each plane'),
  segments: count(1, 256, 'groups of hosts with leaves of their own').default(1),
  linksPerSpine: count(1, 64, 'parallel links from each leaf to each spine of its plane').default(1),
  nicsPerHost: count(1, 64, 'NICs, and so rails, of every host; as many as GPUs when left out').optional(),
  ...hostKeys,
  gpusPerHost: count(1, 64, 'GPUs in every host').default(8),
  ...linkKeys,
  hostRate: linkKeys.hostRate.unwrap().prefault('200Gbps').describe('rate of each of the two ports of a NIC'),
});

/** @throws InputError when the numbers don't make a fabric */
export function buildDualTorDualPlane(spec: z.output<typeof dualTorDualPlaneSchema>): Topology {
  const hostsPerSegment = dividedBySegments(spec.hosts, spec.segments);
  const builder = new TopologyBuilder();
  const rails = spec.nicsPerHost ?? spec.gpusPerHost;
  const leavesPerSegment = PLANES * rails;
  const portCount = spec.portsPerSwitch;
  const planeOfLeaf = (leaf: number): number => Math.floor(((leaf - 1) % leavesPerSegment) / rails);
  for (const leaf of upTo(spec.segments * leavesPerSegment)) {
    const pod = Math.floor((leaf - 1) / leavesPerSegment);
    const place = { pod, rail: (leaf - 1) % rails, plane: planeOfLeaf(leaf), labels: segmentLabel(pod) };
    builder.addSwitch({ name: `leaf-${leaf}`, tier: 'leaf', ...place, portCount });
  }
  for (const spine of upTo(PLANES * spec.spinesPerPlane)) {
    const plane = Math.floor((spine - 1) / spec.spinesPerPlane);
    builder.addSwitch({ name: `spine-${spine}`, tier: 'spine', plane, portCount });
  }
  for (const host of upTo(spec.hosts)) {
    const pod = Math.floor((host - 1) / hostsPerSegment);
    const nicPorts = new Array<number>(rails).fill(PLANES);
    builder.addHost({ name: `host-${host}`, nicPorts, pod, labels: segmentLabel(pod) });
    for (let rail = 0; rail < rails; rail++) {
      for (let plane = 0; plane < PLANES; plane++) {
        const leaf = pod * leavesPerSegment + plane * rails + rail + 1;
        connectHost(builder, `host-${host}/nic-${rail}/p${plane}`, `leaf-${leaf}`, spec);
      }
    }
  }
  for (const leaf of upTo(spec.segments * leavesPerSegment)) {
    for (const position of upTo(spec.spinesPerPlane)) {
      const spine = planeOfLeaf(leaf) * spec.spinesPerPlane + position;
      connectSwitches(builder, `leaf-${leaf}`, `spine-${spine}`, spec.linksPerSpine, spec);
    }
  }
  return builder.build(interiorOf(spec));
}
