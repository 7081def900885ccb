/**
 * How devices that nobody here has built are reached: the `transport` part of a Fabric document of the driver linux.
 *
 * With it the fabric is a site: each switch and host of the topology is a machine of its own, told by OpenSSH's client. The
 * upper part holds for all nodes, a node may say otherwise. Keys and known hosts are files of the machine that drills; a
 * host whose key is not known there is refused. What becomes a word of a command line takes plain characters only.
 */
import { z } from 'zod';
import { durationNs } from '../core/units.js';

export const DIALECT_NAMES = ['linux', 'frr', 'sonic', 'cumulus'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

const hostName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,252}$/, 'must be a host name or an address, as in 192.0.2.11');
const userName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/, 'must be the name of an account');
const portNumber = z.int().min(1).max(65_535);
export const absolutePath = z
  .string()
  .regex(/^\/[A-Za-z0-9_./@+-]*$/, 'must be an absolute path of letters, digits and _ . / @ + -');
const interfaceName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$/, 'must be the name of an interface');
const ipv4 = /^(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const address = z.string().regex(ipv4, 'must be an IPv4 address');
const prefixedAddress = z
  .string()
  .refine(
    (text) => ipv4.test(text.split('/')[0]) && /^[^/]+\/(?:3[0-2]|[12]?\d)$/.test(text),
    'must be an IPv4 address with its prefix, as in 10.0.1.1/31',
  );

/** A host that is no device, reached with what holds for all nodes unless it says otherwise. */
const otherHost = z.strictObject({
  host: hostName,
  port: portNumber.default(22),
  user: userName.optional().describe('as on the devices when left out'),
  key: absolutePath.optional(),
  knownHosts: absolutePath.optional(),
});

const jumpSchema = otherHost.describe('the host over which all others are reached');
export const loginSchema = otherHost.extend({ jump: jumpSchema.optional() });

const account = {
  user: userName.describe('account on the devices'),
  port: portNumber.describe('of sshd'),
  key: absolutePath.describe('private key, a file of the machine that drills'),
  knownHosts: absolutePath.describe('file of the keys of the hosts; one that is not in it is refused'),
  sudo: z.boolean().describe('commands go through sudo -n'),
};

const nodeSchema = z.strictObject({
  host: hostName.describe('where sshd listens, on a network that the drill does not touch'),
  user: account.user.optional(),
  port: account.port.optional(),
  key: account.key.optional(),
  knownHosts: account.knownHosts.optional(),
  sudo: account.sudo.optional(),
  jump: jumpSchema.optional(),
  dialect: z
    .enum(DIALECT_NAMES)
    .optional()
    .describe('how the device is spoken to; linux for hosts and frr for switches when left out'),
  interfaces: z
    .record(z.string(), interfaceName)
    .default({})
    .describe('port of the topology (without the device) to interface; those left out bear the same name'),
  address: prefixedAddress.optional().describe('of a host in the fabric, with its prefix'),
  gateway: address
    .optional()
    .describe('of a host: its default route, given back after its interface was down'),
  frrSocket: absolutePath.optional().describe('folder of FRR’s vty sockets, where it is not the usual one'),
});

export const transportSchema = z.strictObject({
  ssh: z
    .strictObject({
      user: account.user.default('root'),
      port: account.port.default(22),
      key: account.key,
      knownHosts: account.knownHosts,
      sudo: account.sudo.default(false),
      jump: jumpSchema.optional(),
      connectTimeout: durationNs
        .refine((ns) => ns >= 1e9 && ns <= 120e9, 'must be from 1s to 2min')
        .prefault('5s')
        .describe('longest that a connection may take to be there, whole seconds'),
    })
    .describe('what holds for all nodes'),
  nodes: z.record(z.string(), nodeSchema).describe('every device of the topology, by name'),
  undoFolder: absolutePath
    .default('/run/fabricdrill/undo')
    .describe('on each device: where its undo timers are written down'),
  sharedFolder: absolutePath
    .default('/run/fabricdrill/sites')
    .describe('on this machine and on all hosts the same disk: checkpoints, and permits of injected load'),
  node: absolutePath.optional().describe('Node on the hosts; the path of this machine’s when left out'),
  install: absolutePath
    .optional()
    .describe('folder of fabricdrill on the hosts, the one that holds dist; this machine’s when left out'),
});

export type TransportSettings = z.output<typeof transportSchema>;
export type TransportNode = TransportSettings['nodes'][string];
export type JumpHost = z.output<typeof jumpSchema>;
export type LoginHost = z.output<typeof loginSchema>;
