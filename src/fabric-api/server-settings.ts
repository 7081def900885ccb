/**
 * The server's own settings, which documents may only name: the YAML file of FABRICDRILL_CONFIG.
 *
 * Files, programs, accounts, keys and addresses are the server's to choose: whoever may store a document would otherwise have
 * a program of theirs run, or a key sent, as the server's account. What becomes a word of a command line takes plain
 * characters only, here as well, so that a slip is told at start and not by a device.
 */
import { z } from 'zod';
import { listChoices, nearestHint } from '../core/nearest.js';
import { InputError } from '../core/problem.js';
import { durationNs } from '../core/units.js';

const hostName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,252}$/, 'must be a host name or an address, as in 192.0.2.11');
const userName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/, 'must be the name of an account');
const portNumber = z.int().min(1).max(65_535);
const absolutePath = z
  .string()
  .regex(/^\/[A-Za-z0-9_./@+-]*$/, 'must be an absolute path of letters, digits and _ . / @ + -');

/** Of an entry, here and in the documents that name it. */
export const settingName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/,
    'must be the name of an entry of the server’s settings: letters, digits and _ . -',
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
const loginSchema = otherHost.extend({ jump: jumpSchema.optional() });

const account = {
  user: userName.describe('account on the devices'),
  port: portNumber.describe('of sshd'),
  key: absolutePath.describe('private key, a file of this machine'),
  knownHosts: absolutePath.describe('file of the keys of the hosts; one that is not in it is refused'),
  sudo: z.boolean().describe('commands go through sudo -n'),
};

const hostSchema = z.strictObject({
  host: hostName.describe('where sshd listens, on a network that the drill does not touch'),
  user: account.user.optional(),
  port: account.port.optional(),
  key: account.key.optional(),
  knownHosts: account.knownHosts.optional(),
  sudo: account.sudo.optional(),
  jump: jumpSchema.optional(),
  frrSocket: absolutePath.optional().describe('folder of FRR’s vty sockets, where it is not the usual one'),
});

const sshSchema = z.strictObject({
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
  hosts: z.record(settingName, hostSchema).describe('the devices, by the names that documents give them'),
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

const slurmSchema = z.strictObject({
  configuration: absolutePath
    .optional()
    .describe('slurm.conf where commands run, if it is not the usual one'),
  login: loginSchema
    .optional()
    .describe(
      'host on which Slurm’s commands run, for sites: account and keys as those of the devices; this machine when left out',
    ),
});

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL, as in http://prometheus:9090' })
  // what stands before an @ in the authority
  .refine(
    (text) => !/^https?:[\\/]*[^\\/?#]*@/i.test(text),
    'must hold no user and password; give authorization',
  );

const prometheusSchema = z.strictObject({
  url: httpUrl.describe('of the server, without /api/v1'),
  authorization: z
    .strictObject({
      env: z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
        .describe('the environment variable that holds the token'),
      scheme: z
        .string()
        .regex(/^[A-Za-z]+$/)
        .default('Bearer')
        .describe('word before the token'),
    })
    .optional()
    .describe('sent as the Authorization header'),
  timeout: durationNs
    .refine((ns) => ns >= 100e6 && ns <= 300e9, 'must be from 100ms to 5min')
    .prefault('10s')
    .describe('longest that one answer may take'),
});

export const serverSettingsSchema = z
  .strictObject({
    slurm: z.record(settingName, slurmSchema).default({}).describe('Slurms that run jobs, by name'),
    ssh: z.record(settingName, sshSchema).default({}).describe('sites that are reached over SSH, by name'),
    prometheus: z.record(settingName, prometheusSchema).default({}).describe('Prometheus servers, by name'),
  })
  .meta({ title: 'ServerSettings', description: 'what documents may only name' });

export type SshSettings = z.output<typeof sshSchema>;
export type SlurmServer = z.output<typeof slurmSchema>;
export type PrometheusServer = z.output<typeof prometheusSchema>;
export type JumpHost = z.output<typeof jumpSchema>;
export type LoginHost = z.output<typeof loginSchema>;

export interface ServerSettings extends z.output<typeof serverSettingsSchema> {
  /** Where they stand, for messages; undefined where no file is named. */
  file?: string;
}

export const NO_SETTINGS: ServerSettings = { slurm: {}, ssh: {}, prometheus: {} };

interface Entries {
  slurm: SlurmServer;
  ssh: SshSettings;
  prometheus: PrometheusServer;
}
type SettingKind = keyof Entries;

/**
 * An entry that a document names.
 * @throws InputError that lists the names there are, and says where they are set
 */
export function namedSetting<Kind extends SettingKind>(
  settings: ServerSettings,
  kind: Kind,
  name: string,
  pointer: string,
): Entries[Kind] {
  const entries = settings[kind] as Record<string, Entries[Kind]>;
  if (Object.hasOwn(entries, name)) return entries[name];
  const names = Object.keys(entries);
  const there = names.length === 0 ? 'there is none' : `there is ${listChoices(names)}`;
  const where =
    settings.file === undefined
      ? 'FABRICDRILL_CONFIG names no file where this runs'
      : `they are set in ${settings.file}`;
  const message = `the server’s settings have no ${kind} "${name}"; ${there}, and ${where}`;
  throw InputError.at(pointer, message, nearestHint(name, names) ?? 'docs/real-fabrics.md shows the file');
}
