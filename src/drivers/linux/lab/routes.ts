/**
 * What the kernels would do with a packet to each host: the next hops that are installed, against those there should be.
 *
 * Only the kernel's routes count. BGP may be established and list every path while the kernel forwards to one of two (FRR
 * 8.4 with next-hop objects, after a flap), so no daemon is asked. A next hop that is flagged dead or without carrier is
 * none. Counted are shortest paths of two tiers: over all links to spines that have a link to the host's leaf.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvironmentError } from '../../../core/problem.js';
import { listChoices } from '../../../core/nearest.js';
import { inParallel } from '../parallel.js';
import type { Lab } from './lab.js';
import type { LabNode } from './parts.js';

/** The part of `ip -j route show` that is read here. */
interface RouteLine {
  dst: string;
  dev?: string;
  flags?: string[];
  nexthops?: { dev: string; flags?: string[] }[];
}

/** Prefix of a host, such as 10.0.0.0/31, to the interfaces that the kernel forwards over; dead ones left out. */
export type NextHops = ReadonlyMap<string, readonly string[]>;

const POLL_MS = 60;
const AT_ONCE = 4;

async function readNextHops(node: LabNode): Promise<NextHops> {
  const { stdout } = await node.place.run(['ip', '-j', '-4', 'route', 'show']);
  return parseNextHops(stdout);
}

export function parseNextHops(text: string): NextHops {
  const lines = (text.trim() === '' ? [] : JSON.parse(text)) as RouteLine[];
  const alive = ({ flags = [] }: { flags?: string[] }): boolean =>
    !flags.includes('dead') && !flags.includes('linkdown');
  return new Map(
    lines.map((line): [string, string[]] => {
      if (line.nexthops !== undefined) return [line.dst, line.nexthops.filter(alive).map(({ dev }) => dev)];
      return [line.dst, line.dev !== undefined && alive(line) ? [line.dev] : []];
    }),
  );
}

/** The network of a host's link, as the kernel writes it. @param host device index */
export const hostPrefix = (lab: Lab, host: number): string => lab.hostPort(host).prefix!;

/** Interfaces that a switch should forward over to a host, in port order. */
export function expectedInterfaces(lab: Lab, node: LabNode, host: number): string[] {
  const leaf = lab.peerOf(lab.hostPort(host)).node;
  const ports = lab.portsOf(node);
  if (node === leaf)
    return ports.filter((port) => lab.peerOf(port).node.device === host).map((port) => port.interface);
  if (node.tier === 'spine')
    return ports.filter((port) => lab.peerOf(port).node === leaf).map((port) => port.interface);
  return ports
    .filter((port) => {
      const spine = lab.peerOf(port).node;
      return spine.tier === 'spine' && lab.portsOf(spine).some((one) => lab.peerOf(one).node === leaf);
    })
    .map((port) => port.interface);
}

/** One sentence for each switch whose kernel has fewer next hops than it should; empty when all is complete. */
async function missingNextHops(lab: Lab): Promise<string[]> {
  const found: string[] = [];
  await inParallel(lab.switches, AT_ONCE, async (node) => {
    const hops = await readNextHops(node);
    const missing = lab.hosts
      .map(({ device, name }) => ({
        name,
        has: hops.get(hostPrefix(lab, device))?.length ?? 0,
        wants: expectedInterfaces(lab, node, device).length,
      }))
      .filter(({ has, wants }) => has < wants);
    if (missing.length === 0) return;
    const [{ name, has, wants }] = missing;
    const others = missing.length > 1 ? ` and ${missing.length - 1} more hosts` : '';
    found.push(`${node.name} has ${has} of ${wants} next hops to ${name}${others}`);
  });
  return found;
}

/** @throws EnvironmentError when the routes are not complete in time, with what is missing */
export async function waitForRoutes(lab: Lab, withinMs: number): Promise<void> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const missing = await missingNextHops(lab);
    if (missing.length === 0) return;
    if (performance.now() > untilMs) {
      throw new EnvironmentError(
        `the routes of the lab "${lab.name}" are not complete after ${withinMs / 1000} s: ${listChoices(missing, 3)}`,
        `FRR's logs were in ${lab.folder}; is the machine overloaded?`,
      );
    }
    await sleep(POLL_MS);
  }
}
