/**
 * What logging in to a site needs of this machine: OpenSSH's client, and the files of the server's settings that it reads.
 *
 * Asked before any device is, since ssh itself says "permission denied" or "connection closed" for each device where a file
 * of this machine is missing. Whether a key is the right one, only the device can tell.
 */
import { accessSync, constants } from 'node:fs';
import { listChoices } from '../../../core/nearest.js';
import { EnvironmentError } from '../../../core/problem.js';
import type { TransportSettings } from '../../../fabric-api/transport-settings.js';
import { thisMachine, type Machine } from '../lab/requirements.js';

/** @throws EnvironmentError that names the client's package, or every file that can't be read */
export function requireLogins(
  transport: TransportSettings,
  machine: Pick<Machine, 'has'> = thisMachine,
): void {
  if (!machine.has('ssh')) {
    const hint = 'apt-get install -y --no-install-recommends openssh-client';
    throw new EnvironmentError('a site needs the package openssh-client: there is no ssh', hint);
  }
  const logins = [transport, ...Object.values(transport.nodes)].flatMap((one) => [one, one.jump]);
  const files = new Set(logins.flatMap((one) => [one?.key ?? [], one?.knownHosts ?? []].flat()));
  const unreadable = [...files].filter((file) => !isReadable(file));
  if (unreadable.length === 0) return;
  throw new EnvironmentError(
    `no file of this machine that can be read: ${listChoices(unreadable, 4)}`,
    'key and knownHosts in the server’s settings (FABRICDRILL_CONFIG) name them; ssh-keyscan HOST prints keys to be compared and noted down',
  );
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
