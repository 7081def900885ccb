/**
 * Labs of Linux namespaces for suites: whether this machine can have one, and one of a suite's own.
 *
 * Names carry the process id, so that suites beside each other, and labs of people, do not meet.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { labBuilders } from '../../src/drivers/catalog.js';
import { fabricSpecSchema, type FabricDefinition } from '../../src/fabric-api/definition.js';
import { requireMachine } from '../../src/drivers/linux/lab/requirements.js';
import { requireUndoOutlivesUs } from '../../src/drivers/linux/undo/container.js';
import type { EnvironmentError } from '../../src/core/problem.js';

/** Why there can be no lab here; undefined where there can. Prints it, since a skip must not be silent. */
export function whyNoLab(what: string): string | undefined {
  const why = missing();
  if (why !== undefined) process.stderr.write(`skipped: ${what}: ${why}\n`);
  return why;
}

function missing(): string | undefined {
  try {
    requireMachine();
    requireUndoOutlivesUs();
  } catch (error) {
    return (error as EnvironmentError).message;
  }
  const name = `fdprobe${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name], { encoding: 'utf8' });
  if (made.status !== 0) return `ip netns add is forbidden here: ${made.stderr.trim()}`;
  spawnSync('ip', ['netns', 'del', name]);
  return undefined;
}

let labs = 0;

/** A name that no other lab of this machine has. */
export const labName = (): string => `t${process.pid.toString(36)}x${labs++}`;

/** A definition with a name of its own. @param spec as in a file, without driver and lab.prefix */
export function labDefinition(spec: Record<string, unknown>): FabricDefinition {
  const name = labName();
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

/** Namespaces of a lab, sorted. */
export const labNamespaces = (prefix: string): string[] =>
  execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.split(' ')[0])
    .filter((name) => name.startsWith(`${prefix}-`))
    .sort();

export const inNamespace = (namespace: string, ...command: string[]): string =>
  execFileSync('ip', ['netns', 'exec', namespace, ...command], { encoding: 'utf8' });

/**
 * What the kernels have that `fabrics up` has not put there: rules, other rates, ports that are down.
 * @param rate of every port, as tc prints it
 */
export function labTraces(prefix: string, rate: string): string[] {
  return labNamespaces(prefix).flatMap((namespace) => {
    const lines = (...command: string[]): string[] => inNamespace(namespace, ...command).split('\n');
    const tables = lines('nft', 'list', 'tables').filter(
      (line) => line !== '' && !/ fabricdrill$/.test(line),
    );
    const slow = lines('tc', 'qdisc', 'show').filter(
      (line) => line.includes(' tbf ') && !line.includes(` rate ${rate} `),
    );
    const down = lines('ip', '-o', 'link', 'show').filter((line) =>
      / state (DOWN|LOWERLAYERDOWN) /.test(line),
    );
    return [...tables, ...slow, ...down].map((line) => `${namespace}: ${line}`);
  });
}
