/**
 * Builds a lab: namespaces, links, rates, counters, routing, and waits until the kernels' routes are complete.
 *
 * What is about to be made stands in the record first. If anything fails, what was made is removed again and the reason
 * is passed on. Steps that belong to one device go in few processes, several devices at once: starting processes is what
 * building costs. Sources: iproute2, tc-tbf(8), FRR 8.4 as Debian ships it; kernel documentation ip-sysctl.
 */
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvironmentError } from '../../../core/problem.js';
import type { FabricSettings } from '../../../fabric-api/definition.js';
import { ackTimeoutNs } from '../ack-timeout.js';
import { inParallel } from '../parallel.js';
import { CommandError, LocalPlace } from '../transport/place.js';
import { frrConfigurations } from './frr.js';
import type { Lab } from './lab.js';
import type { LabNode, LabPort } from './parts.js';
import {
  isBusy,
  namespaceExists,
  newRecord,
  noteInodes,
  readRecord,
  recordedLabs,
  writeRecord,
  type LabRecord,
} from './record.js';
import { removeLab } from './remove.js';
import { FRR_FOLDER } from './requirements.js';
import { waitForRoutes } from './routes.js';
import { countingRules } from './rules.js';

export interface BuildProgress {
  (step: string): void;
}

/** Devices that are set up at once: two are one for each core of a small machine, more hide the waiting. */
const AT_ONCE = 6;
/** Longest that routes may take to be complete. */
const ROUTES_WITHIN_MS = 45_000;

/**
 * @param digest of what the lab is made of, see `LabRecord`
 * The machine must have what `requireMachine` asks for.
 * @throws EnvironmentError when it is up already, when names are taken by others, or when a step fails
 */
export async function buildLab(lab: Lab, digest: string, progress: BuildProgress): Promise<LabRecord> {
  await clearTheWay(lab, progress);
  const record = newRecord(
    lab.name,
    digest,
    lab.nodes.map(({ namespace }) => namespace),
  );
  writeRecord(record);
  try {
    await makeDevices(lab, record, progress);
    await startRouting(lab, progress);
    progress('waiting for routes');
    await waitForRoutes(lab, ROUTES_WITHIN_MS);
  } catch (error) {
    await removeLab(lab.name);
    throw withHint(error);
  }
  record.state = 'up';
  writeRecord(record);
  return record;
}

/** A lab that is half there is removed, one that is up or in work is left alone, and so are names of others. */
async function clearTheWay(lab: Lab, progress: BuildProgress): Promise<void> {
  const found = readRecord(lab.name);
  if (found?.state === 'up') {
    throw new EnvironmentError(`the lab "${lab.name}" is up already`, `fabrics down ${lab.name} removes it`);
  }
  if (found !== undefined && isBusy(found)) {
    throw new EnvironmentError(
      `another process is at work on the lab "${lab.name}"`,
      'wait until it is done',
    );
  }
  if (found !== undefined) {
    progress('removing what an interrupted build has left');
    await removeLab(lab.name);
  }
  const taken = lab.nodes.find(({ namespace }) => namespaceExists(namespace));
  if (taken === undefined) return;
  const owner = recordedLabs().find((name) =>
    readRecord(name)?.namespaces.some((entry) => entry.name === taken.namespace),
  );
  throw new EnvironmentError(
    `there is a network namespace ${taken.namespace} already, which ${owner === undefined ? `is not of a lab "${lab.name}"` : `the lab "${owner}" has made`}`,
    `give the fabric another lab.prefix, or ${owner === undefined ? 'remove the namespace if nobody needs it' : `fabrics down ${owner}`}`,
  );
}

async function makeDevices(lab: Lab, record: LabRecord, progress: BuildProgress): Promise<void> {
  progress(`${lab.nodes.length} namespaces, ${lab.topology.links.length} links`);
  const local = new LocalPlace();
  const batch = (lines: readonly string[]): Promise<unknown> =>
    local.run(['ip', '-batch', '-'], { input: `${lines.join('\n')}\n`, timeoutMs: 30_000 });
  await batch(lab.nodes.map(({ namespace }) => `netns add ${namespace}`));
  noteInodes(record);
  writeRecord(record);
  const account = frrAccount();
  for (const node of lab.nodes) makeFolder(node.folder, account);
  makeFolder(lab.jobsFolder);
  makeFolder(lab.telemetryFolder);
  makeFolder(lab.undoFolder);
  // Forwarding and address detection are set before there is an interface that would go by the defaults.
  await inParallel(lab.nodes, AT_ONCE, (node) => node.place.run(['sysctl', '-qw', ...sysctls(lab, node)]));
  await batch(
    lab.topology.links.map(({ portA, portB }) => {
      const [a, b] = [lab.ports[portA], lab.ports[portB]];
      const end = (port: LabPort): string =>
        `${port.interface} mtu ${lab.mtuBytes} netns ${port.node.namespace}`;
      return `link add ${end(a)} type veth peer name ${end(b)}`;
    }),
  );
  await inParallel(lab.nodes, AT_ONCE, (node) => setUp(lab, node));
}

async function setUp(lab: Lab, node: LabNode): Promise<void> {
  const { place } = node;
  const ports = lab.portsOf(node);
  const route = lab.defaultRoute(node);
  const run = (program: string, lines: readonly string[]): Promise<unknown> =>
    place.run([program, '-batch', '-'], { input: `${lines.join('\n')}\n` });
  if (node.role === 'host') {
    for (const port of ports) await place.run(['ethtool', '-K', port.interface, 'tso', 'off', 'gso', 'off']);
  }
  await run(
    'tc',
    ports.map((port) => `qdisc replace ${bucket(lab, port, port.rateMbps)}`),
  );
  await place.run(['nft', '-f', '-'], { input: countingRules(lab, node) });
  await run('ip', [
    'link set lo up',
    ...(node.role === 'switch' ? [`addr add ${node.loopback}/32 dev lo`] : []),
    ...ports.flatMap((port) => [
      ...(port.address === undefined ? [] : [`addr add ${port.address}/31 dev ${port.interface}`]),
      `link set ${port.interface} up`,
    ]),
    ...(route === undefined ? [] : [`route add ${route.join(' ')}`]),
  ]);
}

/** The token bucket of a port, as arguments of `tc qdisc`. */
export const bucket = (lab: Lab, port: LabPort, rateMbps: number): string =>
  `dev ${port.interface} root tbf rate ${Math.round(rateMbps * 1e6)}bit burst ${lab.lab.burst} limit ${lab.lab.queueLimit}`;

const HASH_POLICY = { l3: 0, l4: 1, fields: 3 } as const;
/** Addresses, protocol and ports. */
const HASH_FIELDS = 0x37;

function sysctls({ lab, settings }: Lab, node: LabNode): string[] {
  const addresses = ['all', 'default'].flatMap((scope) => [
    `net.ipv6.conf.${scope}.accept_dad=0`,
    `net.ipv4.conf.${scope}.ignore_routes_with_linkdown=1`,
  ]);
  if (node.role === 'switch') {
    return [
      ...addresses,
      'net.ipv6.conf.default.dad_transmits=0',
      'net.ipv4.ip_forward=1',
      'net.ipv6.conf.all.forwarding=1',
      `net.ipv4.fib_multipath_hash_policy=${HASH_POLICY[lab.hashPolicy]}`,
      `net.ipv4.fib_multipath_hash_fields=${HASH_FIELDS}`,
    ];
  }
  return [
    ...addresses,
    'net.ipv4.tcp_congestion_control=reno',
    'net.ipv4.tcp_tw_reuse=1',
    `net.ipv4.tcp_wmem=4096 ${Math.min(16_384, lab.sendBuffer)} ${lab.sendBuffer}`,
    // Linux 6.15 and later; a queue pair waits no longer than its timeout between two tries either.
    ...(existsSync(RTO_MOST) ? [`net.ipv4.tcp_rto_max_ms=${longestTimeoutMs(settings)}`] : []),
  ];
}

const RTO_MOST = '/proc/sys/net/ipv4/tcp_rto_max_ms';
/** Within what the kernel takes. */
const longestTimeoutMs = (settings: FabricSettings): number =>
  Math.min(120_000, Math.max(1000, Math.round(ackTimeoutNs(settings) / 1e6)));

async function startRouting(lab: Lab, progress: BuildProgress): Promise<void> {
  progress(`FRR on ${lab.switches.length} switches`);
  const account = frrAccount();
  await inParallel(lab.switches, AT_ONCE, async (node) => {
    for (const { daemon, text } of frrConfigurations(lab, node)) {
      const file = join(node.folder, `${daemon}.conf`);
      writeFileSync(file, text);
      chownSync(file, account.uid, account.gid);
      await node.place.run(daemonCommand(node, daemon), { daemon: true });
      await preferDaemon(node, daemon);
    }
  });
}

/** Above anything that is not real-time; BFD of a switch is a matter of hardware or of such a thread. */
const BFD_PRIORITY = '5';

/**
 * Routing goes before the load of the machine, as on a switch, whose control plane does not share a core with hosts: each
 * daemon is a scheduling group of its own (sched(7), autogroup), so that a nice value of the process would do nothing.
 * BFD, whose sessions fail when a few tenths of a second are missed, is real-time where the machine allows it.
 */
async function preferDaemon({ folder }: LabNode, daemon: string): Promise<void> {
  const pid = readFileSync(join(folder, `${daemon}.pid`), 'utf8').trim();
  const group = `/proc/${pid}/autogroup`;
  if (existsSync(group)) writeFileSync(group, '-10');
  if (daemon !== 'bfdd') return;
  const command = ['chrt', '--all-tasks', '--fifo', '--pid', BFD_PRIORITY, pid];
  await new LocalPlace().run(command, { anyExit: true }).catch(() => undefined);
}

function daemonCommand({ folder }: LabNode, daemon: string): string[] {
  const own: Record<string, readonly string[]> = {
    zebra: ['-s', '1000000'],
    bgpd: ['-p', '179'],
    bfdd: ['--bfdctl', `${folder}/bfdd.sock`],
  };
  return [
    ...[`${FRR_FOLDER}/${daemon}`, '-d', '-f', `${folder}/${daemon}.conf`, '-i', `${folder}/${daemon}.pid`],
    ...['-z', `${folder}/zserv.api`, '--vty_socket', folder, '-u', 'frr', '-g', 'frr'],
    ...(own[daemon] ?? []),
  ];
}

interface Account {
  uid: number;
  gid: number;
}

function frrAccount(): Account {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('frr:'));
  if (line === undefined) {
    throw new EnvironmentError('there is no account "frr", which FRR runs as', 'apt-get install -y frr');
  }
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

function makeFolder(folder: string, owner?: Account): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
}

function withHint(error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  const hint = /not permitted|permission denied/i.test(error.why)
    ? 'this root may not do it: a container needs --privileged (or CAP_SYS_ADMIN and CAP_NET_ADMIN, and a writable /proc/sys)'
    : 'docs/real-fabrics.md says what the kernel must be able to do';
  return new EnvironmentError(`the lab can't be built: ${error.message}`, `nothing of it is left; ${hint}`, {
    cause: error,
  });
}
