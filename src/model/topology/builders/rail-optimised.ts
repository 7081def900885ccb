/**
 * Rail-optimised: NIC g of every host in a segment goes to the segment's leaf for rail g.
 *
 * GPUs of equal rank then meet at one leaf, and ring traffic between hosts never climbs to a spine within a segment
 * (NVIDIA's reference design, Spectrum-X). All rails share the spines. Port numbers: on a leaf hosts first, then
 * spines; on a spine leaves in order. Not modelled: rail-only fabrics without spines, which need a relay GPU.
 */
import { z } from 'zod';
import { InputError } from '../../../core/problem.js';
import { TopologyBuilder } from '../builder.js';
import type { Topology } from '../model.js';
import { connectHost, connectSwitches, count, hostKeys, interiorOf, linkKeys, upTo } from './shape.js';

export const railOptimisedSchema = z.strictObject({
  builder: z.literal('rail-optimised'),
  hosts: count(1, 16384, 'number of hosts over all segments'),
  spines: count(1, 1024, 'number of spine switches'),
  segments: count(1, 256, 'groups of hosts with leaves of their own').default(1),
  linksPerSpine: count(1, 64, 'parallel links from each leaf to each spine').default(1),
  nicsPerHost: count(1, 64, 'NICs, and so rails, of every host; as many as GPUs when left out').optional(),
  ...hostKeys,
  gpusPerHost: count(1, 64, 'GPUs in every host').default(8),
  ...linkKeys,
});

/** @throws InputError when the numbers don't make a fabric */
export function buildRailOptimised(spec: z.output<typeof railOptimisedSchema>): Topology {
  const hostsPerSegment = dividedBySegments(spec.hosts, spec.segments);
  const builder = new TopologyBuilder();
  const rails = spec.nicsPerHost ?? spec.gpusPerHost;
  const portCount = spec.portsPerSwitch;
  for (let leaf = 0; leaf < spec.segments * rails; leaf++) {
    const pod = Math.floor(leaf / rails);
    const labels = segmentLabel(pod);
    builder.addSwitch({ name: `leaf-${leaf + 1}`, tier: 'leaf', pod, rail: leaf % rails, labels, portCount });
  }
  for (const spine of upTo(spec.spines))
    builder.addSwitch({ name: `spine-${spine}`, tier: 'spine', portCount });
  for (const host of upTo(spec.hosts)) {
    const pod = Math.floor((host - 1) / hostsPerSegment);
    const nicPorts = new Array<number>(rails).fill(1);
    builder.addHost({ name: `host-${host}`, nicPorts, pod, labels: segmentLabel(pod) });
    for (let rail = 0; rail < rails; rail++) {
      connectHost(builder, `host-${host}/nic-${rail}`, `leaf-${pod * rails + rail + 1}`, spec);
    }
  }
  for (const leaf of upTo(spec.segments * rails)) {
    for (const spine of upTo(spec.spines)) {
      connectSwitches(builder, `leaf-${leaf}`, `spine-${spine}`, spec.linksPerSpine, spec);
    }
  }
  return builder.build(interiorOf(spec));
}

/** Hosts in each segment. @throws InputError when they don't divide */
export function dividedBySegments(hosts: number, segments: number): number {
  if (hosts % segments === 0) return hosts / segments;
  throw InputError.at('/hosts', `${hosts} hosts don't divide among ${segments} segments`);
}

/** Label of everything in a segment, numbered from 1 like devices. */
export const segmentLabel = (segment: number): Record<string, string> => ({ segment: String(segment + 1) });
