/**
 * Which links a connection crosses: asked of the kernels on its way, hop by hop, as they would forward it now.
 *
 * `ip route get` with addresses, protocol and ports gives the member of a next-hop group that the kernel's hash picks
 * (fib_multipath_hash_policy 3); nothing is sent for it. Questions for one device go in one process. With another policy
 * than `fields` the answer is a guess, since a sending socket may bring a hash of its own.
 */
import type { Lab } from './lab.js';
import type { LabNode, LabPort } from './parts.js';

/** A TCP connection; hosts are device indices. */
export interface Flow {
  fromHost: number;
  toHost: number;
  sourcePort: number;
  destinationPort: number;
}

interface Walker {
  flow: Flow;
  /** Where its packet is: the port that it has just left. */
  left: LabPort;
  links: string[];
  /** Set when it has arrived, or can't. */
  done: boolean;
  lost: boolean;
}

/** More hops than a lab of two tiers has. */
const MOST_HOPS = 8;

/** @returns for each flow the ids of the links it crosses, in order; null where some kernel has no route */
export async function tracePaths(lab: Lab, flows: readonly Flow[]): Promise<(string[] | null)[]> {
  const walkers = flows.map((flow): Walker => {
    const left = lab.hostPort(flow.fromHost);
    const done = flow.fromHost === flow.toHost;
    return { flow, left, links: [], done, lost: false };
  });
  for (let hop = 0; hop < MOST_HOPS; hop++) {
    const byNode = new Map<LabNode, Walker[]>();
    for (const walker of walkers.filter(({ done, lost }) => !done && !lost)) {
      const { link } = lab.topology.ports[walker.left.port];
      walker.links.push(lab.topology.links[link].id);
      const { node } = lab.peerOf(walker.left);
      walker.done = node.device === walker.flow.toHost;
      if (!walker.done) byNode.set(node, [...(byNode.get(node) ?? []), walker]);
    }
    if (byNode.size === 0) break;
    await Promise.all([...byNode].map(([node, here]) => forward(lab, node, here)));
  }
  return walkers.map(({ done, links }) => (done ? links : null));
}

async function forward(lab: Lab, node: LabNode, walkers: readonly Walker[]): Promise<void> {
  const questions = walkers.map(({ flow, left }) => {
    const [from, to] = [lab.hostAddress(flow.fromHost), lab.hostAddress(flow.toHost)];
    const ports = `ipproto tcp sport ${flow.sourcePort} dport ${flow.destinationPort}`;
    return `route get ${to} from ${from} iif ${lab.peerOf(left).interface} ${ports}\n`;
  });
  // One question that has no answer must not cost the others theirs.
  const { stdout } = await node.place.run(['ip', '-force', '-batch', '-'], {
    input: questions.join(''),
    anyExit: true,
  });
  const answers = stdout.split('\n').filter((line) => /^\S/.test(line));
  const ports = lab.portsOf(node);
  let next = 0;
  for (const walker of walkers) {
    // What has no route is left out of the answers.
    const answer = answers.at(next)?.startsWith(`${lab.hostAddress(walker.flow.toHost)} `)
      ? answers[next++]
      : undefined;
    const device = / dev (\S+)/.exec(answer ?? '')?.[1];
    const port = ports.find((one) => one.interface === device);
    if (port === undefined) walker.lost = true;
    else walker.left = port;
  }
}
