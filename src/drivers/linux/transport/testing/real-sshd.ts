/**
 * Real sshd for suites: one listening port on loopback for each place, whose sessions run in that network namespace.
 *
 * Each connection is given to an sshd of its own (`sshd -i`) started within the namespace, as inetd would. So the way there
 * is loopback of this machine, which no fault of a lab cuts, and no interface is added anywhere. Keys are made for the suite.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SSHD = '/usr/sbin/sshd';

/** Why there can be no sshd here; undefined where there can. */
export function whyNoSshd(): string | undefined {
  if (process.getuid?.() !== 0) return 'sshd of a suite takes root';
  if (!existsSync(SSHD)) return `${SSHD} is not installed (apt-get install openssh-server)`;
  const probe = spawnSync('ssh', ['-V'], { stdio: 'ignore' });
  return probe.error === undefined ? undefined : 'there is no program ssh (apt-get install openssh-client)';
}

export class RealSshd {
  readonly folder = mkdtempSync(join(tmpdir(), 'fabricdrill-sshd-'));
  readonly key = join(this.folder, 'client');
  readonly knownHosts = join(this.folder, 'known_hosts');
  /** By port. */
  private readonly servers = new Map<number, Server>();
  private readonly children = new Map<ChildProcess, number>();
  /** Connections so far, for tests that count them. */
  connections = 0;

  constructor() {
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    for (const name of ['client', 'host', 'stranger']) {
      const words = ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(this.folder, name)];
      execFileSync('ssh-keygen', words);
    }
    writeFileSync(join(this.folder, 'authorized'), readFileSync(`${this.key}.pub`), { mode: 0o600 });
    writeFileSync(this.knownHosts, '');
    const lines = [
      `HostKey ${join(this.folder, 'host')}`,
      `AuthorizedKeysFile ${join(this.folder, 'authorized')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin yes',
      'PidFile none',
      'LogLevel QUIET',
      // start files of the account that runs the suite are no part of it, and may take seconds
      `SetEnv HOME=${this.folder}`,
    ];
    writeFileSync(join(this.folder, 'sshd_config'), `${lines.join('\n')}\n`);
  }

  /** A key that no sshd here accepts. */
  get strangersKey(): string {
    return join(this.folder, 'stranger');
  }

  /**
   * @param namespace left out: this host's own
   * @param aheadS by how much the monotonic clock of its sessions is ahead of this machine's, as after a later boot
   * @returns the port on 127.0.0.1, whose host key is then known
   */
  async listen(namespace?: string, aheadS = 0): Promise<number> {
    const clock = ['unshare', '--time', '--monotonic', String(aheadS), '--boottime', String(aheadS), '--'];
    const words = [
      ...(aheadS === 0 ? [] : clock),
      ...(namespace === undefined ? [] : ['ip', 'netns', 'exec', namespace]),
      ...[SSHD, '-i', '-f', join(this.folder, 'sshd_config')],
    ];
    let port = 0;
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      this.connections++;
      socket.on('error', () => undefined);
      const child = spawn(words[0], words.slice(1), { stdio: [socket, socket, 'ignore'] });
      this.children.set(child, port);
      child.once('error', () => undefined);
      child.once('exit', () => {
        this.children.delete(child);
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    this.servers.set(port, server);
    const [type, key] = readFileSync(join(this.folder, 'host.pub'), 'utf8').split(' ');
    writeFileSync(this.knownHosts, `[127.0.0.1]:${port} ${type} ${key}\n`, { flag: 'a' });
    return port;
  }

  /** Ends every session that there is, as the loss of the way there would. @param only those of this port */
  cut(only?: number): void {
    for (const [child, port] of this.children) if (only === undefined || port === only) child.kill('SIGKILL');
  }

  /** Nobody answers there any more, until `find`. */
  lose(port: number): void {
    this.servers.get(port)?.close();
    this.cut(port);
  }

  async find(port: number): Promise<void> {
    const server = this.servers.get(port);
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
  }

  stop(): void {
    for (const server of this.servers.values()) server.close();
    this.cut();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
