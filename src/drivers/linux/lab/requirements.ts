/**
 * What a lab needs of this machine: root, namespaces, and the programs by the packages that bring them.
 *
 * All that is missing is said at once, with the command that mends it; nothing has been made by then. To remove a lab takes
 * less than to build one, so that it can be removed after its programs were. Kernel features (token buckets, netfilter on
 * ingress) are not asked for here: the first command that needs one says so.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { EnvironmentError } from '../../../core/problem.js';

/** Where Debian and FRR's own packages put the daemons. */
export const FRR_FOLDER = '/usr/lib/frr';

const PROGRAMS: readonly (readonly [program: string, packageName: string])[] = [
  ['ip', 'iproute2'],
  ['tc', 'iproute2'],
  ['sysctl', 'procps'],
  ['ethtool', 'ethtool'],
  ['nft', 'nftables'],
  ['vtysh', 'frr'],
];
const DAEMONS = ['zebra', 'bgpd', 'bfdd'] as const;
/** Where programs of administrators lie; the search path of an account without them (su, cron) leaves them out. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];

/** What this machine has; for tests of machines that lack it. */
export interface Machine {
  isRoot: boolean;
  has(program: string): boolean;
}

export const thisMachine: Machine = {
  isRoot: process.getuid?.() === 0,
  has: (program) =>
    program.startsWith('/')
      ? existsSync(program)
      : searchPath().some((folder) => isExecutable(join(folder, program))),
};

/**
 * For labs that are to be built or drilled.
 * @throws EnvironmentError that names each missing package and the command that installs it
 */
export function requireMachine(machine: Machine = thisMachine): void {
  requirePrograms(machine, [
    ...PROGRAMS,
    ...DAEMONS.map((name) => [`${FRR_FOLDER}/${name}`, 'frr'] as const),
  ]);
}

/** For labs that are to be removed. @throws EnvironmentError as `requireMachine` does */
export function requireRemoval(machine: Machine = thisMachine): void {
  requirePrograms(
    machine,
    PROGRAMS.filter(([program]) => program === 'ip'),
  );
}

function requirePrograms(machine: Machine, programs: typeof PROGRAMS): void {
  if (process.platform !== 'linux') {
    throw new EnvironmentError('a Linux lab needs Linux', 'run it in a virtual machine or on a Linux host');
  }
  const missing = programs.filter(([program]) => !machine.has(program));
  if (missing.length > 0) {
    const packages = [...new Set(missing.map(([, name]) => name))];
    const names = missing.map(([program]) => basename(program)).join(', ');
    throw new EnvironmentError(
      `a Linux lab needs the package${packages.length > 1 ? 's' : ''} ${packages.join(', ')}: there is no ${names}`,
      `apt-get install -y --no-install-recommends ${packages.join(' ')}`,
    );
  }
  if (!machine.isRoot) {
    throw new EnvironmentError('a Linux lab is of network namespaces, which takes root', 'run it with sudo');
  }
  // What was found here must be found by every program that is started from now on.
  process.env.PATH = searchPath().join(delimiter);
}

function searchPath(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...folders, ...SYSTEM_FOLDERS.filter((folder) => !folders.includes(folder))];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
