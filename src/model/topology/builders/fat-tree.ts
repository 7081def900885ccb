/**
 * Three tiers: pods of leaves and spines, joined by cores.
 *
 * `k` alone gives the k-ary fat tree of Al-Fares et al. (SIGCOMM 2008): k pods of k/2 leaves and k/2 spines, k/2
 * hosts a leaf, (k/2)² cores. The other keys override its numbers or stand alone. Spine j of every pod goes to the
 * same cores, the j-th group. Port numbers: what is below first, in order, then what is above.
 */
import { z } from 'zod';
import { TopologyBuilder } from '../builder.js';
import type { Topology } from '../model.js';
import { connectHost, connectSwitches, count, hostKeys, interiorOf, linkKeys, upTo } from './shape.js';

const SIZES = ['pods', 'leavesPerPod', 'spinesPerPod', 'hostsPerLeaf', 'uplinksPerSpine'] as const;

export const fatTreeSchema = z
  .strictObject({
    builder: z.literal('fat-tree'),
    k: count(2, 64, 'ports of every switch, even; gives all sizes that are left out').optional(),
    pods: count(1, 256, 'number of pods; k when left out').optional(),
    leavesPerPod: count(1, 256, 'leaves in a pod; k / 2 when left out').optional(),
    spinesPerPod: count(1, 256, 'spines in a pod; k / 2 when left out').optional(),
    hostsPerLeaf: count(1, 1024, 'hosts attached to each leaf; k / 2 when left out').optional(),
    uplinksPerSpine: count(1, 256, 'cores that each spine is linked to; k / 2 when left out').optional(),
    nicsPerHost: count(1, 64, 'NICs in every host; as many as GPUs when left out').optional(),
    ...hostKeys,
    ...linkKeys,
  })
  .superRefine((spec, context) => {
    if (spec.k !== undefined) {
      if (spec.k % 2 !== 0) {
        context.addIssue({ code: 'custom', path: ['k'], message: `k is ${spec.k}; it must be even` });
      }
      return;
    }
    for (const size of SIZES.filter((key) => spec[key] === undefined)) {
      const message = `give k, or all of ${SIZES.join(', ')}`;
      context.addIssue({ code: 'custom', path: [size], message });
    }
  });

type FatTreeSpec = z.output<typeof fatTreeSchema>;

/** @throws InputError when the numbers don't make a fabric */
export function buildFatTree(spec: FatTreeSpec): Topology {
  const builder = new TopologyBuilder();
  const half = (spec.k ?? 0) / 2;
  const pods = spec.pods ?? spec.k ?? 0;
  const leavesPerPod = spec.leavesPerPod ?? half;
  const spinesPerPod = spec.spinesPerPod ?? half;
  const uplinksPerSpine = spec.uplinksPerSpine ?? half;
  const portCount = spec.portsPerSwitch;
  for (const leaf of upTo(pods * leavesPerPod)) {
    const pod = Math.floor((leaf - 1) / leavesPerPod);
    builder.addSwitch({ name: `leaf-${leaf}`, tier: 'leaf', pod, portCount });
  }
  for (const spine of upTo(pods * spinesPerPod)) {
    const pod = Math.floor((spine - 1) / spinesPerPod);
    builder.addSwitch({ name: `spine-${spine}`, tier: 'spine', pod, portCount });
  }
  for (const core of upTo(spinesPerPod * uplinksPerSpine)) {
    builder.addSwitch({ name: `core-${core}`, tier: 'core', portCount });
  }
  addHosts(builder, spec, pods * leavesPerPod, leavesPerPod, spec.hostsPerLeaf ?? half);
  for (const leaf of upTo(pods * leavesPerPod)) {
    const firstSpine = Math.floor((leaf - 1) / leavesPerPod) * spinesPerPod;
    for (const position of upTo(spinesPerPod)) {
      connectSwitches(builder, `leaf-${leaf}`, `spine-${firstSpine + position}`, 1, spec);
    }
  }
  for (const spine of upTo(pods * spinesPerPod)) {
    const firstCore = ((spine - 1) % spinesPerPod) * uplinksPerSpine;
    for (const position of upTo(uplinksPerSpine)) {
      connectSwitches(builder, `spine-${spine}`, `core-${firstCore + position}`, 1, spec);
    }
  }
  return builder.build(interiorOf(spec));
}

function addHosts(
  builder: TopologyBuilder,
  spec: FatTreeSpec,
  leaves: number,
  leavesPerPod: number,
  hostsPerLeaf: number,
): void {
  const nics = spec.nicsPerHost ?? spec.gpusPerHost;
  for (const host of upTo(leaves * hostsPerLeaf)) {
    const leaf = Math.ceil(host / hostsPerLeaf);
    const pod = Math.floor((leaf - 1) / leavesPerPod);
    builder.addHost({ name: `host-${host}`, nicPorts: new Array<number>(nics).fill(1), pod });
    for (let nic = 0; nic < nics; nic++) {
      connectHost(builder, `host-${host}/nic-${nic}`, `leaf-${leaf}`, spec);
    }
  }
}
