/**
 * Target selectors: elements by what they are, not by what they are called, so that a drill fits any fabric.
 *
 * Filters narrow the elements of one type down, in a fixed order; then `mode` takes one, all, a number or a share of
 * what is left, first in the topology's order or at random by the run's seed. A filter that leaves nothing is an
 * error that says how many each filter had left, never an empty drill.
 */
import { z } from 'zod';
import { checkPatternCount, compileGlob, isGlob } from '../../core/glob.js';
import { deviceId, elementName, nicId, portId, type ElementRef } from '../../core/elements.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import type { Prng } from '../../core/prng.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import { peerPort, type Device, type Topology } from './model.js';

/** Each looks through all elements for what was meant. */
const MOST_ISSUES = 8;

const group = (what: string) => z.int().min(0).optional().describe(`only elements of this ${what}, from 0`);

export const selectorSchema = z.strictObject({
  type: z.enum(['link', 'device', 'nic', 'port']).describe('what to select'),
  names: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('names, element ids or patterns such as leaf-*'),
  tier: z
    .string()
    .optional()
    .describe(
      'devices, NICs and ports: host, leaf, spine or core; links: host-leaf, leaf-spine or spine-core',
    ),
  rail: group('rail'),
  plane: group('plane'),
  pod: group('pod'),
  labels: z.record(z.string(), z.string()).optional().describe('only elements that carry all these labels'),
  device: z
    .string()
    .min(1)
    .optional()
    .describe('name or pattern: only this device and what is attached to it'),
  mode: z
    .enum(['one', 'all', 'count', 'percent'])
    .optional()
    .describe('how many; follows from count or percent, else one'),
  count: z.int().min(1).optional().describe('this many'),
  percent: z.number().gt(0).max(100).optional().describe('this share, rounded up'),
  order: z.enum(['first', 'random']).default('first').describe('which: first by topology, or by the seed'),
});
export type Selector = z.output<typeof selectorSchema>;

/** A caller's own filter, applied last. */
export interface SelectorPredicate {
  /** For the error that says which filter left nothing. */
  description: string;
  test(elementId: string): boolean;
  /** What to do when it leaves nothing. */
  hint?(): string | undefined;
}

interface Candidate {
  id: string;
  tier: string;
  rail?: number;
  plane?: number;
  pod?: number;
  /** Its own and, of what lies between or on devices, theirs: any of them may carry a label. */
  labels: readonly Readonly<Record<string, string>>[];
  /** Names of the devices it is or touches. */
  devices: readonly string[];
}

/**
 * The elements that the selector means, in the topology's order.
 *
 * @param random drawn from only with `order: random`
 * @throws InputError with pointers into the selector: names that match nothing, filters that leave nothing, more
 *   wanted than there are
 */
export function resolveSelector(
  selector: Selector,
  topology: Topology,
  random: Prng,
  predicate?: SelectorPredicate,
): ElementRef[] {
  checkMode(selector);
  let left = candidatesOf(selector.type, topology);
  const trail = [`${left.length} ${selector.type}s`];
  for (const filter of filtersOf(selector, left, predicate)) {
    const kept = left.filter(filter.keeps);
    trail.push(`${kept.length} after ${filter.words}`);
    if (kept.length === 0) {
      const hint = filter.hint?.(left);
      const message = `${filter.words} leaves no ${selector.type}: ${trail.join(', ')}`;
      throw new InputError([{ pointer: filter.pointer, message, ...(hint === undefined ? {} : { hint }) }]);
    }
    left = kept;
  }
  const wanted = wantedCount(selector, left.length, trail);
  if (selector.order === 'random' && wanted < left.length) {
    const order = random.shuffle(left.map((_, index) => index)).slice(0, wanted);
    left = order.sort((a, b) => a - b).map((index) => left[index]);
  }
  return left.slice(0, wanted).map(({ id }) => ({ type: selector.type, id }));
}

function checkMode(selector: Selector): void {
  const { mode, count, percent } = selector;
  const issues: InputIssue[] = [];
  const refuse = (pointer: string, message: string): void => void issues.push({ pointer, message });
  if (count !== undefined && percent !== undefined) refuse('/percent', 'give count or percent, not both');
  else if (mode === 'count' && count === undefined)
    refuse('/count', 'mode count needs a count, as in count: 2');
  else if (mode === 'percent' && percent === undefined) {
    refuse('/percent', 'mode percent needs a percent, as in percent: 25');
  } else if (mode !== undefined && count !== undefined && mode !== 'count') {
    refuse('/count', `count does not go with mode ${mode}`);
  } else if (mode !== undefined && percent !== undefined && mode !== 'percent') {
    refuse('/percent', `percent does not go with mode ${mode}`);
  }
  if (issues.length > 0) throw new InputError(issues);
}

function wantedCount(selector: Selector, available: number, trail: readonly string[]): number {
  const { mode, count, percent } = selector;
  if (percent !== undefined) return Math.ceil((available * percent) / 100);
  if (count === undefined) return mode === 'all' ? available : 1;
  if (count <= available) return count;
  throw InputError.at('/count', `count is ${count}, but only ${available} are left: ${trail.join(', ')}`);
}

function candidatesOf(type: Selector['type'], topology: Topology): Candidate[] {
  const { devices, nics, ports, links } = topology;
  const deviceOfPort = (port: number): Device => devices[ports[port].device];
  switch (type) {
    case 'device':
      return devices.map((device) => ({
        ...device,
        id: deviceId(device.name),
        labels: [device.labels],
        devices: [device.name],
      }));
    case 'link':
      return links.map((link) => {
        const ends = [deviceOfPort(link.portA), deviceOfPort(link.portB)];
        const labels = [link.labels, ...ends.map((end) => end.labels)];
        return { ...link, labels, devices: ends.map(({ name }) => name) };
      });
    case 'port':
      return ports.map((port) => {
        const link = links[port.link];
        const device = devices[port.device];
        const { rail, plane, pod } = link;
        const labels = [link.labels, device.labels];
        return { id: portId(port.name), tier: device.tier, rail, plane, pod, labels, devices: [device.name] };
      });
    case 'nic':
      return nics.map((nic) => {
        const host = devices[nic.host];
        const leaves = nic.ports.map((port) => deviceOfPort(peerPort(topology, port)));
        const [rail, plane] = [
          shared(leaves.map((leaf) => leaf.rail)),
          shared(leaves.map((leaf) => leaf.plane)),
        ];
        const pod = host.pod ?? shared(leaves.map((leaf) => leaf.pod));
        const labels = [host.labels];
        return { id: nicId(nic.name), tier: 'host', rail, plane, pod, labels, devices: [host.name] };
      });
  }
}

/** The value that all have in common, else undefined. */
const shared = (values: readonly (number | undefined)[]): number | undefined =>
  values.every((value) => value === values[0]) ? values[0] : undefined;

interface Filter {
  pointer: string;
  words: string;
  keeps: (candidate: Candidate) => boolean;
  /** What would have matched, from those that were left before. */
  hint?: (before: readonly Candidate[]) => string | undefined;
}

function filtersOf(
  selector: Selector,
  all: readonly Candidate[],
  predicate: SelectorPredicate | undefined,
): Filter[] {
  const filters: Filter[] = [];
  if (selector.names !== undefined) filters.push(namesFilter(selector.names, selector.type, all));
  for (const key of ['tier', 'rail', 'plane', 'pod'] as const) {
    const wanted = selector[key];
    if (wanted === undefined) continue;
    filters.push({
      pointer: `/${key}`,
      words: `${key} ${wanted}`,
      keeps: (candidate) => candidate[key] === wanted,
      hint: (before) => {
        const values = [...new Set(before.flatMap((candidate) => candidate[key] ?? []))];
        if (values.length === 0) return `none of these ${selector.type}s has a ${key}`;
        return `there is ${key} ${listChoices(values.map(String))}`;
      },
    });
  }
  for (const [label, value] of Object.entries(selector.labels ?? {})) {
    filters.push({
      pointer: `/labels`,
      words: `label ${label}=${value}`,
      keeps: ({ labels }) => labels.some((own) => Object.hasOwn(own, label) && own[label] === value),
      hint: (before) => labelHint(label, before),
    });
  }
  if (selector.device !== undefined) {
    const pattern = selector.device;
    const matches = globOf(pattern, '/device');
    filters.push({
      pointer: '/device',
      words: `device ${pattern}`,
      keeps: ({ devices }) => devices.some(matches),
      hint: (before) => nearestHint(pattern, new Set(before.flatMap(({ devices }) => devices))),
    });
  }
  if (predicate !== undefined) {
    const { description } = predicate;
    filters.push({
      pointer: '',
      words: description,
      keeps: ({ id }) => predicate.test(id),
      hint: () => predicate.hint?.(),
    });
  }
  return filters;
}

function labelHint(label: string, before: readonly Candidate[]): string {
  const known = [...new Set(before.flatMap(({ labels }) => labels.flatMap(Object.keys)))];
  if (known.length === 0) return 'none of these has labels';
  if (!known.includes(label)) return `there are the labels ${listChoices(known)}`;
  const values = new Set(
    before.flatMap(({ labels }) => labels.flatMap((own) => (Object.hasOwn(own, label) ? [own[label]] : []))),
  );
  return `there is ${label}=${listChoices(values)}`;
}

/** Every name must match something, or a misspelt one of several would go unnoticed. */
function namesFilter(names: readonly string[], type: Selector['type'], all: readonly Candidate[]): Filter {
  const issues: InputIssue[] = [];
  const kept = new Set<string>();
  const byName = new Map(all.map(({ id }) => [elementName(id), id]));
  checkPatternCount(names, '/names');
  names.forEach((given, index) => {
    if (issues.length >= MOST_ISSUES) return;
    const pointer = `/names/${index}`;
    const name = given.startsWith(`${type}:`) ? elementName(given) : given;
    const matches = globOf(name, pointer);
    const exact = isGlob(name) ? undefined : byName.get(name);
    const found = exact === undefined ? all.filter(({ id }) => matches(elementName(id))) : [{ id: exact }];
    for (const { id } of found) kept.add(id);
    if (found.length > 0) return;
    const known = [...byName.keys()];
    const hint = isGlob(name) ? undefined : nearestHint(name, known);
    const message = `no ${type} is called "${given}"; there are ${listChoices(known, 6)}`;
    issues.push({ pointer, message, ...(hint === undefined ? {} : { hint }) });
  });
  if (issues.length > 0) throw new InputError(issues);
  return { pointer: '/names', words: `names ${listChoices(names, 3)}`, keeps: ({ id }) => kept.has(id) };
}

function globOf(pattern: string, pointer: string): (name: string) => boolean {
  const matches = compileGlob(pattern);
  if (matches !== undefined) return matches;
  throw InputError.at(pointer, `"${pattern}" is no pattern`, 'brackets hold numbers, as in host-[1-4,9]');
}
