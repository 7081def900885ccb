/**
 * A device over SSH: OpenSSH's own client, by argument vector, with nothing taken from the user's configuration.
 *
 * sshd hands what it gets to a shell of the account, so every word is quoted for a POSIX shell (`undo/shell.ts`). Host keys
 * must be known, and nothing asks for a password. All sessions of a lane share one connection (ControlMaster), so that a
 * command costs a round trip and no handshake; sshd lets ten sessions into one connection, so what watches has a lane of
 * its own. A jump host is a ProxyCommand, since ProxyJump would not hand on key and known hosts. Sources: ssh(1),
 * ssh_config(5) of OpenSSH 9.2. Not modelled: shells other than POSIX ones; password or certificate authorities.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { contentDigest } from '../../../system/digest.js';
import { Turnstile, through } from '../../../system/turnstile.js';
import { quoteCommand } from '../undo/shell.js';
import { CommandError, SpawningPlace, type Lane, type RunOptions, type RunResult } from './place.js';

export interface SshLogin {
  host: string;
  port: number;
  user: string;
  /** Paths on this machine. */
  key: string;
  knownHosts: string;
}

export interface SshTarget extends SshLogin {
  /** Device, for messages. */
  name: string;
  jump?: SshLogin;
  sudo: boolean;
  connectTimeoutS: number;
  /** Folder of this process alone, for the sockets of shared connections; short, since a socket's path may have 104 bytes. */
  socketFolder: string;
  /** Node and installation on the device. */
  node: string;
  install: (program: string) => string;
}

/** A device may be far away and busy; that it is gone is found by ssh itself, sooner. */
const ANSWER_MS = 30_000;
/** Logging in costs both ends some CPU time: a whole site at once would let each wait for all others. */
const LOGINS_AT_ONCE = 4;
const logins = new Turnstile(LOGINS_AT_ONCE);

/** OpenSSH's own exit code when it never got to run the command. */
const NO_CONNECTION = 255;
/** Commands at once; sshd refuses more than ten sessions, and programs that stay have some of them. */
const COMMANDS_AT_ONCE = 4;
/** A baseline and a fault pass without a command; to log in anew would make the undo late. */
const PERSIST_S = 300;

/** What a fabric itself needs; other lanes are closed by who opens them. */
export const LANES = ['commands', 'watch'] as const;

export class SshPlace extends SpawningPlace {
  readonly name: string;
  override readonly isRemote = true;
  private readonly socket: string;
  private readonly commands = new Turnstile(COMMANDS_AT_ONCE);

  constructor(
    private readonly target: SshTarget,
    private readonly laneName: Lane = 'commands',
  ) {
    super();
    this.name = target.name;
    // One address may be two devices, behind two jump hosts: the socket bears all of what leads to the device.
    const { jump = null, key, host, port, user } = target;
    const way = contentDigest({ name: target.name, jump, key, host, port, user });
    this.socket = `${target.socketFolder}/${laneName}-${way.slice(0, 16)}`;
  }

  /** The same device over a connection of its own. */
  override lane(name: Lane): SshPlace {
    return new SshPlace(this.target, name);
  }

  argv(command: readonly string[]): string[] {
    const { sudo, user, host, port } = this.target;
    const words = sudo ? ['sudo', '-n', '--', ...command] : command;
    return [...this.client(), '-T', '-l', user, '-p', String(port), '--', host, quoteCommand(words)];
  }

  /** By the same account, key and way; a person may be asked, and has no connection of ours to share. */
  override byHand(command: readonly string[]): string[] {
    const { sudo, user, host, port, key, knownHosts, jump, connectTimeoutS } = this.target;
    const words = sudo ? ['sudo', '-n', '--', ...command] : command;
    return [
      ...['ssh', '-i', key, '-o', `UserKnownHostsFile=${knownHosts}`],
      ...(jump === undefined ? [] : ['-o', `ProxyCommand=${throughJump(jump, connectTimeoutS)}`]),
      ...['-p', String(port), '-l', user, host, quoteCommand(words)],
    ];
  }

  override programWords(path: string): string[] {
    return [this.target.node, this.target.install(path)];
  }

  /** @throws CommandError; its code is undefined when the device could not be reached */
  override async run(command: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const gates = existsSync(this.socket) ? [this.commands] : [this.commands, logins];
    return through(gates, () => this.runNow(command, options));
  }

  /** Ends the shared connection, if there is one. */
  close(): void {
    const { user, host, port } = this.target;
    const [program, ...args] = this.client();
    spawnSync(program, [...args, '-O', 'exit', '-l', user, '-p', String(port), '--', host], {
      stdio: 'ignore',
      timeout: 5000,
    });
  }

  private async runNow(command: readonly string[], options: RunOptions): Promise<RunResult> {
    const result = await super.run(command, { timeoutMs: ANSWER_MS, ...options, anyExit: true });
    const { code, stderr, stdout } = result;
    if (code === NO_CONNECTION) throw new CommandError(this.name, command, this.unreachable(stderr));
    if (code === 0 || options.anyExit === true) return result;
    throw new CommandError(this.name, command, stderr.trim() || stdout.trim() || `exit code ${code}`, code);
  }

  private client(): string[] {
    const { connectTimeoutS, jump } = this.target;
    const options = [
      ...loginOptions(this.target, connectTimeoutS),
      'ControlMaster=auto',
      `ControlPath=${this.socket}`,
      `ControlPersist=${PERSIST_S}`,
      ...(jump === undefined ? [] : [`ProxyCommand=${throughJump(jump, connectTimeoutS)}`]),
    ];
    return ['ssh', '-F', 'none', ...options.flatMap((option) => ['-o', option])];
  }

  private unreachable(said: string): string {
    const { user, host, port, jump } = this.target;
    const by = jump === undefined ? '' : ` by way of ${jump.host}:${jump.port}`;
    const why = said.trim().split('\n').slice(-2).join('; ') || 'the connection was lost';
    return `no SSH connection to ${user}@${host}:${port}${by}: ${why}`;
  }
}

/** The file's own rules, and none of the user's: strict host keys, no questions, no agent. */
const loginOptions = ({ key, knownHosts }: SshLogin, connectTimeoutS: number): string[] => [
  'BatchMode=yes',
  'StrictHostKeyChecking=yes',
  `UserKnownHostsFile=${knownHosts}`,
  'GlobalKnownHostsFile=/dev/null',
  'UpdateHostKeys=no',
  'IdentitiesOnly=yes',
  'IdentityAgent=none',
  `IdentityFile=${key}`,
  'PreferredAuthentications=publickey',
  `ConnectTimeout=${connectTimeoutS}`,
  'ServerAliveInterval=2',
  'ServerAliveCountMax=3',
  'LogLevel=ERROR',
];

/** ssh runs it by a shell, and reads `%` in it as the begin of a name. */
function throughJump(jump: SshLogin, connectTimeoutS: number): string {
  const options = loginOptions(jump, connectTimeoutS).flatMap((option) => ['-o', option]);
  const words = ['ssh', '-F', 'none', ...options, '-l', jump.user, '-p', String(jump.port)];
  return `${quoteCommand(words).replaceAll('%', '%%')} -W '[%h]:%p' -- ${quoteCommand([jump.host])}`;
}
