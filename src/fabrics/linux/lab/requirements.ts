/**
 * What a lab needs of this machine: root, namespaces, and the programs by the packages that bring them.
 *
 * All that is missing is said at once, with the command that mends it; nothing has been made by then. Kernel features
 * (token buckets, netfilter on ingress) are not asked for here: the first command that needs one says so.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { EnvironmentError } from '../../../kernel/problem.js';

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

/** @throws EnvironmentError that names each missing package and the command that installs it */
export function requireMachine(machine: Machine = thisMachine): void {
  if (process.platform !== 'linux') {
    throw new EnvironmentError('a Linux lab needs Linux', 'run it in a virtual machine or on a Linux host');
  }
  const missing = [
    ...PROGRAMS.filter(([program]) => !machine.has(program)),
    ...DAEMONS.filter((name) => !machine.has(`${FRR_FOLDER}/${name}`)).map((name) => [name, 'frr'] as const),
  ];
  if (missing.length > 0) {
    const packages = [...new Set(missing.map(([, name]) => name))];
    const programs = missing.map(([program]) => program).join(', ');
    throw new EnvironmentError(
      `a Linux lab needs the package${packages.length > 1 ? 's' : ''} ${packages.join(', ')}: there is no ${programs}`,
      `apt-get install -y --no-install-recommends ${packages.join(' ')}`,
    );
  }
  if (!machine.isRoot) {
    throw new EnvironmentError('a Linux lab makes network namespaces, which takes root', 'run it with sudo');
  }
}

const searchPath = (): string[] => [
  ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
  '/usr/sbin',
  '/sbin',
];

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
