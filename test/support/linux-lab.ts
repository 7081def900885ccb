/**
 * Labs of Linux namespaces for suites: whether this machine can have one, and one of a suite's own.
 *
 * Names carry the process id, so that suites beside each other, and labs of people, do not meet.
 */
import { spawnSync } from 'node:child_process';
import { labBuilders } from '../../src/fabrics/catalog.js';
import { fabricSpecSchema, type FabricDefinition } from '../../src/fabrics/contract/definition.js';

/** Why there can be no lab here; undefined where there can. Prints it, since a skip must not be silent. */
export function whyNoLab(what: string): string | undefined {
  const why = missing();
  if (why !== undefined) process.stderr.write(`skipped: ${what}: ${why}\n`);
  return why;
}

/** The same for drills, which take minutes of real time and want the machine to themselves. */
export function whyNoLabDrills(what: string): string | undefined {
  if (process.env.FABRICDRILL_LAB_DRILLS === '1') return whyNoLab(what);
  const why = 'they take minutes and an idle machine, so they are asked for: FABRICDRILL_LAB_DRILLS=1';
  process.stderr.write(`skipped: ${what}: ${why}\n`);
  return why;
}

function missing(): string | undefined {
  if (process.getuid?.() !== 0) return 'namespaces take root';
  for (const [program, name] of [
    ['/usr/lib/frr/bgpd', 'frr'],
    ['nft', 'nftables'],
    ['ethtool', 'ethtool'],
  ]) {
    const command = program.startsWith('/') ? ['test', '-x', program] : [program, '--version'];
    if (spawnSync(command[0], command.slice(1)).status !== 0) {
      return `${program} is not installed (apt-get install ${name})`;
    }
  }
  const name = `fdprobe${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name], { encoding: 'utf8' });
  if (made.status !== 0) return `ip netns add is forbidden here: ${made.stderr.trim()}`;
  spawnSync('ip', ['netns', 'del', name]);
  return undefined;
}

let labs = 0;

/** A definition with a name of its own. @param spec as in a file, without driver and lab.prefix */
export function labDefinition(spec: Record<string, unknown>): FabricDefinition {
  const name = `t${process.pid.toString(36)}x${labs++}`;
  const lab = typeof spec.lab === 'object' ? spec.lab : {};
  return {
    name,
    spec: fabricSpecSchema.parse({ ...spec, driver: 'linux', lab: { ...lab, prefix: name } }),
  };
}

const [{ labs: builder }] = labBuilders();

export const labUp = (definition: FabricDefinition): ReturnType<typeof builder.up> =>
  builder.up(definition, () => undefined);

export const labDown = (definition: FabricDefinition): ReturnType<typeof builder.down> =>
  builder.down(definition.name);
