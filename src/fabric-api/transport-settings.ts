/**
 * Devices that nobody here has built: the `transport` part of a Fabric document of the driver linux.
 *
 * With it the fabric is a site: each switch and host of the topology is a machine of its own, told by OpenSSH's client. How it
 * is reached (addresses, accounts, keys, folders) stands in the server's settings, which the document names; here is what
 * only the fabric's own wiring says.
 */
import { z } from 'zod';
import { settingName, type SshSettings } from './server-settings.js';

export const DIALECT_NAMES = ['linux', 'frr', 'sonic', 'cumulus'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

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

const nodeSchema = z.strictObject({
  host: settingName
    .optional()
    .describe('host of the server’s ssh entry; the one of the device’s name when left out'),
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
});

export const transportSchema = z.strictObject({
  ssh: settingName.describe('entry `ssh` of the server’s settings: how the devices are reached'),
  nodes: z.record(z.string(), nodeSchema).describe('every device of the topology, by name'),
});

export type TransportSpec = z.output<typeof transportSchema>;

/** A document's transport with what the server's settings say of it. */
export type TransportSettings = Omit<SshSettings, 'hosts'> & { nodes: Record<string, TransportNode> };
export type TransportNode = Omit<TransportSpec['nodes'][string], 'host'> & SshSettings['hosts'][string];
