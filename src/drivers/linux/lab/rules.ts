/**
 * Counters that every port of a lab has, drill or no drill: what it accepted, and what it threw away as damaged.
 *
 * The kernel's own receive errors stay 0 on a veth, so the check of a frame is one rule: frames that carry the mark of
 * damage are counted and dropped. An injector only sets that mark, in a table of its own; the counter is on every port
 * alike, so that the set of series does not tell what is injected. Priorities on ingress: losses -500, damage -400, this -350.
 */
import { counterName } from './counter-name.js';
import { INGRESS_PRIORITY } from './ingress-priority.js';
import { DAMAGED_MARK, RULES_TABLE, type Lab } from './lab.js';
import type { LabNode } from './parts.js';

/** The rule set of a device, to be fed to `nft -f`; feeding it again changes nothing but sets the counters to 0. */
export function countingRules(lab: Lab, node: LabNode): string {
  const names = lab.portsOf(node).map((port) => port.interface);
  const counters = names.flatMap((name) => [
    ` counter ${counterName('rx', name)} {}`,
    ` counter ${counterName('damaged', name)} {}`,
  ]);
  const chains = names.flatMap((name) => [
    ` chain in_${name.replaceAll('-', '_')} {`,
    `  type filter hook ingress device "${name}" priority ${INGRESS_PRIORITY.check};`,
    `  meta mark ${DAMAGED_MARK} counter name ${counterName('damaged', name)} drop`,
    `  counter name ${counterName('rx', name)}`,
    ' }',
  ]);
  return ownTable(RULES_TABLE, [...counters, ...chains]);
}

/** A table that replaces one of its name, if there is one: the same text may be fed as often as one likes. */
export const ownTable = (name: string, content: readonly string[]): string =>
  [
    `add table netdev ${name}`,
    `delete table netdev ${name}`,
    `table netdev ${name} {`,
    ...content,
    '}',
    '',
  ].join('\n');

/** Takes a table away, whether it is there or not. */
export const noTable = (name: string): string => `add table netdev ${name}\ndelete table netdev ${name}\n`;
