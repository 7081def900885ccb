/**
 * A fault's target selector to the elements it means on this fabric, at this moment, with this seed.
 *
 * The topology's selectors know names, tiers and labels; which jobs use an element is asked of the fabric.
 */
import { compileGlob } from '../../core/glob.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, withPointer } from '../../core/problem.js';
import type { Prng } from '../../core/prng.js';
import { deviceId, nicId, portId } from '../../core/elements.js';
import type { ElementRef } from '../../model/telemetry/vocabulary.js';
import { resolveSelector, type SelectorPredicate } from '../../model/topology/selector.js';
import type { AnyFaultKind } from '../../faults/catalog.js';
import { tracesPaths, type Fabric, type FabricDescription } from '../../fabric-api/fabric.js';
import type { TargetSpec } from '../../documents/experiment.js';

export interface TargetQuestion {
  /** Undefined for a kind that acts on nothing. */
  target: TargetSpec | undefined;
  kind: AnyFaultKind;
  parameters: unknown;
  /** Of the fault, `/spec/faults/0`. */
  pointer: string;
  fabric: Fabric;
  random: Prng;
}

export interface ResolvedTarget {
  elements: ElementRef[];
  /** Wishes of the selector that had to be dropped. */
  dropped: readonly string[];
}

/** @throws InputError when the type does not fit the kind or nothing is left, wishes dropped or not */
export async function resolveTarget(question: TargetQuestion): Promise<ResolvedTarget> {
  const { target } = question;
  if (target === undefined) return { elements: [], dropped: [] };
  const { prefer = [], ...wanted } = target;
  const wishes = prefer.filter((key) => wanted[key] !== undefined);
  let refusal: unknown;
  for (const dropped of fewestFirst(wishes)) {
    const kept = Object.fromEntries(
      Object.entries(wanted).filter(([key]) => !dropped.some((one) => one === key)),
    );
    try {
      return { elements: await elementsOf(kept as TargetSpec, question), dropped };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      // the last refusal is of what can't be dropped
      refusal = error;
    }
  }
  throw refusal;
}

/** All choices of some of these, the smallest first, among equal ones those of the first names. */
function fewestFirst<T>(of: readonly T[]): T[][] {
  const all = Array.from({ length: 2 ** of.length }, (_, mask) => of.filter((__, bit) => (mask >> bit) & 1));
  return all.sort((a, b) => a.length - b.length);
}

async function elementsOf(target: TargetSpec, question: TargetQuestion): Promise<ElementRef[]> {
  const { kind, parameters, fabric } = question;
  const pointer = `${question.pointer}/target`;
  const types = kind.targetTypes(parameters as never);
  if (!types.includes(target.type)) {
    throw InputError.at(
      `${pointer}/type`,
      `${kind.name} with these params acts on a ${types.join(' or a ')}, not on a ${target.type}`,
      `write type: ${types[0]}`,
    );
  }
  const { usedBy, notUsedBy, ...selector } = target;
  const predicate =
    usedBy === undefined && notUsedBy === undefined
      ? undefined
      : await usagePredicate({ usedBy, notUsedBy }, pointer, fabric, target.type);
  return withPointer(pointer, () =>
    resolveSelector(selector, fabric.describe().topology, question.random.stream('target'), predicate),
  );
}

/** Which elements the named jobs' present routes cross, asked of the fabric once per candidate. */
async function usagePredicate(
  filter: { usedBy?: string; notUsedBy?: string },
  pointer: string,
  fabric: Fabric,
  type: TargetSpec['type'],
): Promise<SelectorPredicate> {
  const description = fabric.describe();
  if (description.capabilities.size === 0) {
    throw InputError.at(
      pointer,
      `"${description.name}" can only be watched (driver ${description.driver}): nothing can be injected into it`,
      'name a fabric that can be drilled; diagnose asks this one why it is slow',
    );
  }
  if (!tracesPaths(fabric)) {
    throw InputError.at(
      `${pointer}/${filter.usedBy === undefined ? 'notUsedBy' : 'usedBy'}`,
      `the fabric "${description.name}" can't tell which jobs use an element`,
      'select by names, tier or labels instead',
    );
  }
  const jobs = description.jobs.map((job) => job.name);
  const using = jobPattern(filter.usedBy, `${pointer}/usedBy`, jobs);
  const avoiding = jobPattern(filter.notUsedBy, `${pointer}/notUsedBy`, jobs);
  const crossing = new Map<string, readonly string[]>();
  for (const id of candidateIds(description, type)) crossing.set(id, await fabric.jobsCrossing(id));
  const words = [
    ...(filter.usedBy === undefined ? [] : [`usedBy ${filter.usedBy}`]),
    ...(filter.notUsedBy === undefined ? [] : [`notUsedBy ${filter.notUsedBy}`]),
  ];
  const test = (id: string): boolean => {
    const here = crossing.get(id) ?? [];
    return (using === undefined || here.some(using)) && (avoiding === undefined || !here.some(avoiding));
  };
  const what = words.join(' and ');
  return {
    description: what,
    test,
    hint: () => elsewhereHint([...crossing.keys()].filter(test), type, description),
  };
}

/** Where on this fabric the wanted usage is found, when it is not where the other filters look. */
function elsewhereHint(
  found: readonly string[],
  type: TargetSpec['type'],
  { topology }: FabricDescription,
): string | undefined {
  if (found.length === 0 && topology.devices.filter(({ role }) => role === 'host').length === 1)
    return 'it has one host, so its jobs send nothing over the network: take a fabric of two hosts or more';
  if (found.length === 0)
    return `no ${type} of this fabric is used like that: name other jobs, or leave notUsedBy out`;
  if (type !== 'link' && type !== 'device') return undefined;
  const tiers = new Map<string, string>(
    type === 'link'
      ? topology.links.map(({ id, tier }) => [id, tier])
      : topology.devices.map(({ name, tier }) => [deviceId(name), tier]),
  );
  const known = [...new Set(found.map((id) => tiers.get(id)!))];
  return `there are such ${type}s of tier ${listChoices(known)}`;
}

function candidateIds({ topology }: FabricDescription, type: TargetSpec['type']): string[] {
  const all: Record<TargetSpec['type'], () => string[]> = {
    link: () => topology.links.map((link) => link.id),
    device: () => topology.devices.map((device) => deviceId(device.name)),
    nic: () => topology.nics.map((nic) => nicId(nic.name)),
    port: () => topology.ports.map((port) => portId(port.name)),
  };
  return all[type]();
}

function jobPattern(
  pattern: string | undefined,
  pointer: string,
  jobs: readonly string[],
): ((job: string) => boolean) | undefined {
  if (pattern === undefined) return undefined;
  const matches = compileGlob(pattern);
  if (matches === undefined || !jobs.some(matches)) {
    throw InputError.at(
      pointer,
      `no job matches "${pattern}"; the jobs are ${listChoices(jobs) || '(none)'}`,
      nearestHint(pattern, jobs) ??
        (pointer.endsWith('/notUsedBy')
          ? 'leave notUsedBy out, or take a fabric with such a job'
          : 'write usedBy: "*" for any of them, or take a fabric with such a job'),
    );
  }
  return matches;
}
