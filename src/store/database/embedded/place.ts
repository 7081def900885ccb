/**
 * Where the embedded server lives, and as which account it runs.
 *
 * PostgreSQL refuses to run as root, so root hands it to the existing account `nobody`, which must be able to walk
 * to binaries and data. A home below a folder that only root may enter (a checkout in /root, say) is therefore
 * replaced by a folder of its own under /var/lib/fabricdrill, named after the home so that the same home always
 * finds the same data. No account is created. Access lists beyond the mode bits are not looked at: where they
 * refuse, the start of initdb says so.
 */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { EnvironmentError, messageOf } from '../../../core/problem.js';

/** Where root keeps what an unprivileged account must reach. */
export const SYSTEM_HOME = '/var/lib/fabricdrill';
/** The hint of every error that says the embedded server can't run here. */
export const OWN_SERVER_HINT =
  'set DATABASE_URL to a PostgreSQL server of your own, as in postgres://user:password@host:5432/fabricdrill';
/** The hint of every error that says the home can't be written to. */
export const OTHER_HOME_HINT = `set FABRICDRILL_HOME to a folder you may write to, or ${OWN_SERVER_HINT}`;

export interface Account {
  uid: number;
  gid: number;
}

export interface EmbeddedPlace {
  /** Holds binaries, data, log, password, leases and lock. */
  folder: string;
  data: string;
  leases: string;
  lock: string;
  password: string;
  log: string;
  /** Account to run as; undefined when the server runs as the user itself. */
  runAs?: Account;
}

/**
 * The place for a home folder; makes the folders on the way.
 * @throws EnvironmentError when they can't be made or an existing database can no longer be reached
 */
export function preparePlace(home: string): EmbeddedPlace {
  try {
    const asRoot = process.getuid?.() === 0;
    const folder = join(asRoot ? reachableHome(resolve(home)) : resolve(home), 'postgresql');
    makeFolder(folder, asRoot ? 0o711 : 0o700);
    const data = join(realpathSync(folder), 'data');
    const place = placeIn(realpathSync(folder));
    return asRoot ? { ...place, runAs: ownerOf(data) ?? nobody() } : place;
  } catch (error) {
    if (error instanceof EnvironmentError) throw error;
    const reason = messageOf(error);
    throw new EnvironmentError(
      `no place for the embedded database under ${home}: ${reason}`,
      OTHER_HOME_HINT,
      { cause: error },
    );
  }
}

function placeIn(folder: string): EmbeddedPlace {
  return {
    folder,
    data: join(folder, 'data'),
    leases: join(folder, 'leases'),
    lock: join(folder, 'lock'),
    password: join(folder, 'password'),
    log: join(folder, 'server.log'),
  };
}

/** `home` itself, or its stand-in under the system home where `nobody` could not walk there. */
function reachableHome(home: string): string {
  if (existsSync(SYSTEM_HOME) && statSync(SYSTEM_HOME).uid === 0) {
    chmodSync(SYSTEM_HOME, statSync(SYSTEM_HOME).mode | 0o111);
  }
  const real = realOf(home);
  const account = ownerOf(join(real, 'postgresql', 'data')) ?? nobody();
  if (mayWalk(real, account)) return real;
  if (existsSync(join(real, 'postgresql', 'data'))) {
    throw new EnvironmentError(
      `the embedded database in ${real} can no longer be reached by the account that runs it (uid ${account.uid})`,
      `give the folders above it the right to be entered (chmod o+x), or ${OWN_SERVER_HINT}`,
    );
  }
  const name = createHash('sha256').update(real).digest('hex').slice(0, 16);
  return join(SYSTEM_HOME, 'homes', name);
}

/** The path with links resolved as far as it exists. */
function realOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(realOf(parent), basename(path));
}

/** Whether an account may enter every folder from the root down to `path`, as far as it exists. */
function mayWalk(path: string, account: Account): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(folder)) {
      const { mode, uid, gid } = statSync(folder);
      const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
      if ((mode & bit) === 0) return false;
    }
    if (folder === dirname(folder)) return true;
  }
}

/** Makes a folder and what is missing above it; their mode does not depend on the umask. */
function makeFolder(folder: string, mode: number): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder), mode);
  mkdirSync(folder);
  chmodSync(folder, mode);
}

function ownerOf(folder: string): Account | undefined {
  if (!existsSync(folder)) return undefined;
  const { uid, gid } = statSync(folder);
  return uid === 0 ? undefined : { uid, gid };
}

function nobody(): Account {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  if (line === undefined) {
    throw new EnvironmentError(
      'PostgreSQL refuses to run as root, and there is no account "nobody" to run it as',
      `run as an ordinary user, or ${OWN_SERVER_HINT}`,
    );
  }
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}
