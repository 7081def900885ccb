/**
 * A fabric written out as nodes and links: for odd shapes, for lab fabrics, and for what importers produce.
 *
 * Link ends name a switch (`tor-a`, next free port), a switch port (`tor-a/p7`), a host with one NIC (`gpu-1`), a NIC
 * (`gpu-1/nic-3`) or one port of a dual-port NIC (`gpu-1/nic-3/p1`); a host's NICs are those its links name. Tier,
 * rail, plane and pod are inferred where they are not written.
 */
import { z } from 'zod';
import { InputError, type InputIssue } from '../../../core/problem.js';
import { durationNs, rateGbps } from '../../../core/units.js';
import { TopologyBuilder } from '../builder.js';
import {
  planeOf,
  planesUpward,
  podsOf,
  railOf,
  switchLevels,
  tierOfLevel,
  type Attachment,
} from '../infer.js';
import type { Topology } from '../model.js';
import { HostEnds } from './host-ends.js';
import { count, hostKeys, interiorOf } from './shape.js';

const place = {
  rail: count(0, 4096, 'rail number').optional(),
  plane: count(0, 64, 'plane number').optional(),
  pod: count(0, 4096, 'pod number').optional(),
  labels: z.record(z.string(), z.string()).optional(),
};
const nodeName = z.string().min(1);

const nodeSchema = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('switch'),
    name: nodeName,
    tier: z.enum(['leaf', 'spine', 'core']).optional(),
    ports: count(1, 4096, 'number of ports; unlimited when left out').optional(),
    ...place,
  }),
  z.strictObject({ role: z.literal('host'), name: nodeName, pod: place.pod, labels: place.labels }),
]);

const linkSchema = z.strictObject({
  a: nodeName.describe('one end: switch, switch port, host, NIC or NIC port'),
  b: nodeName.describe('the other end'),
  rate: rateGbps,
  delay: durationNs.describe('one way'),
  loss: z.number().min(0).lt(1).default(0).describe('probability that a packet is lost'),
  ...place,
});

export const explicitSchema = z.strictObject({
  builder: z.literal('explicit'),
  nodes: z.array(nodeSchema).min(2).max(65536),
  links: z.array(linkSchema).min(1).max(65536),
  ...hostKeys,
  gpusPerHost: count(
    1,
    64,
    'GPUs in every host; as many as the first host has NICs when left out',
  ).optional(),
});

type ExplicitSpec = z.output<typeof explicitSchema>;
type SwitchNode = Extract<ExplicitSpec['nodes'][number], { role: 'switch' }>;

/** @throws InputError with pointers into the description */
export function buildExplicit(spec: ExplicitSpec): Topology {
  const hosts = new HostEnds(spec.nodes.flatMap((node) => (node.role === 'host' ? [node.name] : [])));
  const issues = sharedNames(spec);
  spec.links.forEach((link, index) => {
    hosts.add(link.a, `/links/${index}/a`, issues);
    hosts.add(link.b, `/links/${index}/b`, issues);
  });
  hosts.check(issues);
  if (issues.length > 0) throw new InputError(issues);

  const builder = new TopologyBuilder();
  const structure = inferStructure(spec, hosts);
  spec.nodes.forEach((node, index) => {
    if (node.role === 'host') return;
    const { ports: portCount, role: _role, ...given } = node;
    const inferred = structure.switches.get(node.name) ?? { tier: 'leaf' };
    builder.addSwitch({ ...inferred, ...given, portCount, pointer: `/nodes/${index}` });
  });
  spec.nodes.forEach((node, index) => {
    if (node.role === 'switch') return;
    const { name, labels } = node;
    const pod = node.pod ?? structure.podOfHost.get(name);
    builder.addHost({ name, labels, pod, nicPorts: hosts.nicPortsOf(name), pointer: `/nodes/${index}` });
  });
  spec.links.forEach((link, index) => {
    const { rate, delay, loss, a, b, ...rest } = link;
    const options = { rateGbps: rate, delayNs: delay, lossRatio: loss, ...rest, pointer: `/links/${index}` };
    builder.connect(hosts.portName(a), hosts.portName(b), options);
  });
  const gpusPerHost = spec.gpusPerHost ?? Math.max(1, hosts.nicPortsOfFirst().length);
  return builder.build(interiorOf({ ...spec, gpusPerHost }));
}

/** A name that a switch and a host share makes link ends ambiguous; the builder reports other doubles. */
function sharedNames(spec: ExplicitSpec): InputIssue[] {
  const roles = new Map<string, string>();
  return spec.nodes.flatMap((node, index) => {
    const role = roles.get(node.name) ?? node.role;
    roles.set(node.name, role);
    const clash = role !== node.role;
    return clash ? [{ pointer: `/nodes/${index}`, message: `the name ${node.name} is used twice` }] : [];
  });
}

interface Structure {
  switches: Map<string, SwitchPlace>;
  podOfHost: Map<string, number>;
}

interface SwitchPlace {
  tier: 'leaf' | 'spine' | 'core';
  tierLevel?: number;
  rail?: number;
  plane?: number;
  pod?: number;
}

function inferStructure(spec: ExplicitSpec, hosts: HostEnds): Structure {
  const switches = spec.nodes.filter((node): node is SwitchNode => node.role === 'switch');
  const indexOf = new Map(switches.map((node, index) => [node.name, index]));
  const neighbours: number[][] = switches.map(() => []);
  const attachments: Attachment[][] = switches.map(() => []);
  const leavesOfHost = new Map<string, number[]>();
  for (const link of spec.links) {
    const [a, b] = [link.a, link.b].map((end) => indexOf.get(end.split('/')[0]));
    if (a !== undefined && b !== undefined) {
      neighbours[a].push(b);
      neighbours[b].push(a);
    } else if (a !== undefined || b !== undefined) {
      const leaf = (a ?? b) as number;
      const end = a === undefined ? link.a : link.b;
      const attachment = hosts.attachment(end);
      if (attachment === undefined) continue;
      attachments[leaf].push(attachment);
      const host = end.split('/')[0];
      leavesOfHost.set(host, [...(leavesOfHost.get(host) ?? []), leaf]);
    }
  }
  const levels = levelsOf(switches, neighbours, attachments);
  const planes = planesUpward(neighbours, levels, attachments.map(planeOf));
  const pods = podsOf(neighbours, levels).map((pod, index) => switches[index].pod ?? pod);
  const places = switches.map((node, index): [string, SwitchPlace] => {
    const tier = node.tier ?? tierOfLevel(levels[index]);
    const tierLevel = node.tier === undefined ? Math.max(1, levels[index]) : undefined;
    const rail = attachments[index].length > 0 ? railOf(attachments[index]) : undefined;
    return [node.name, { tier, tierLevel, rail, plane: planes[index], pod: pods[index] }];
  });
  const podOfHost = new Map<string, number>();
  for (const [host, leaves] of leavesOfHost) {
    const [pod, ...others] = new Set(leaves.map((leaf) => pods[leaf]));
    if (pod !== undefined && others.length === 0) podOfHost.set(host, pod);
  }
  return { switches: new Map(places), podOfHost };
}

const LEVEL = { leaf: 1, spine: 2, core: 3 } as const;

function levelsOf(
  switches: readonly SwitchNode[],
  neighbours: readonly (readonly number[])[],
  attachments: readonly (readonly Attachment[])[],
): number[] {
  const inferred = switchLevels(
    neighbours,
    attachments.map((list) => list.length > 0),
  );
  return inferred.map((level, index) => {
    const tier = switches[index].tier;
    return tier === undefined ? level : LEVEL[tier];
  });
}
