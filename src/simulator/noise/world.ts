/**
 * The world of one run: its level of untidiness, what a file states in place of draws, and a record of both.
 *
 * Each draw is a hash of seed, trait, element and index. A quiet world draws nothing, but what a file states holds there,
 * too, so that one trait can be looked at alone.
 */
import { deviceId, nicId, portId } from '../../core/elements.js';
import { hashText, Prng } from '../../core/prng.js';
import { InputError, withPointer } from '../../core/problem.js';
import type { Topology } from '../../model/topology/model.js';
import { resolveSelector } from '../../model/topology/selector.js';
import { uniformAt } from './draws.js';
import { levelOf, type Level, type Realism } from './levels.js';
import { traitDefinition, type TraitName } from './trait-catalog.js';
import { parseTraitValue, type StatedTraits } from './trait-schema.js';

/** What a trait came out as, by element. */
interface TraitRecord {
  unit: string;
  stated: string[];
  values: Record<string, number>;
}

/** What happened though nobody injected it. */
interface EventRecord {
  event: string;
  element: string;
  fromNs: number;
  toNs: number;
  value?: number;
}

export interface WorldRecord {
  realism: Realism;
  traits: Record<string, TraitRecord>;
  events: EventRecord[];
}

/** The id of a GPU, which no selector selects alone. */
const gpuId = (host: string, position: number): string => `gpu:${host}/${position}`;

export class World {
  readonly level: Level | undefined;
  readonly seed: number;
  private readonly traits: Record<string, TraitRecord> = {};
  private readonly events: EventRecord[] = [];
  private readonly seeds = new Map<string, number>();

  /** @param stated by trait, then element */
  constructor(
    private readonly realism: Realism,
    seed: number,
    private readonly stated: ReadonlyMap<TraitName, ReadonlyMap<string, number>> = new Map(),
  ) {
    this.level = levelOf(realism);
    this.seed = hashText('noise', seed >>> 0);
  }

  /** Nothing is drawn and nothing is stated. */
  get isQuiet(): boolean {
    return this.level === undefined && this.stated.size === 0;
  }

  /** Of a trait, for `uniformAt`. */
  seedOf(trait: string): number {
    let seed = this.seeds.get(trait);
    if (seed === undefined) this.seeds.set(trait, (seed = hashText(trait, this.seed)));
    return seed;
  }

  uniform(trait: string, element: string, index = 0): number {
    return uniformAt(this.seedOf(trait), hashText(element), index);
  }

  /** What the file states about an element. */
  statedOf(trait: TraitName, element: string): number | undefined {
    return this.stated.get(trait)?.get(element);
  }

  isStated(trait: TraitName): boolean {
    return this.stated.has(trait);
  }

  /** All that the file states of a trait. */
  allStated(trait: TraitName): ReadonlyMap<string, number> {
    return this.stated.get(trait) ?? new Map();
  }

  /**
   * A lasting trait of an element: stated, else drawn, else as in a tidy world.
   * @param element of which the record tells; `also` are ids of what it belongs to, which a file may have named
   */
  lasting(
    trait: TraitName,
    element: string,
    draw: (level: Level, uniform: number) => number,
    tidy: number,
    ...also: string[]
  ): number {
    for (const id of [element, ...also]) {
      const stated = this.statedOf(trait, id);
      if (stated === undefined) continue;
      this.note(trait, element, stated, true);
      return stated;
    }
    if (this.level === undefined) return tidy;
    const drawn = draw(this.level, this.uniform(trait, element));
    this.note(trait, element, drawn, false);
    return drawn;
  }

  happened(record: EventRecord): void {
    this.events.push(record);
  }

  /** All that was drawn or stated so far. */
  get record(): WorldRecord {
    return { realism: this.realism, traits: this.traits, events: this.events };
  }

  private note(trait: TraitName, element: string, value: number, stated: boolean): void {
    const record = (this.traits[trait] ??= { unit: traitDefinition(trait).unit, stated: [], values: {} });
    record.values[element] = Number(value.toPrecision(4));
    if (stated) record.stated.push(element);
  }
}

/**
 * What a file states, by element.
 * @throws InputError with the pointer of an entry that selects nothing, or states what another has stated
 */
export function statedTraits(
  entries: StatedTraits,
  topology: Topology,
  seed: number,
): Map<TraitName, Map<string, number>> {
  const all = new Map<TraitName, Map<string, number>>();
  const by = new Map<string, number>();
  entries.forEach(({ element, gpu, trait, value }, index) => {
    const pointer = `/spec/traits/${index}`;
    const random = new Prng(seed).stream(`trait ${index}`);
    const selected = withPointer(`${pointer}/element`, () => resolveSelector(element, topology, random));
    const values = all.get(trait) ?? new Map<string, number>();
    all.set(trait, values);
    for (const { id } of selected) {
      if (gpu !== undefined && gpu >= topology.gpusPerHost) {
        throw InputError.at(`${pointer}/gpu`, `${id} has GPUs 0 to ${topology.gpusPerHost - 1}`);
      }
      const target = gpu === undefined ? id : gpuId(id.slice('device:'.length), gpu);
      const earlier = by.get(`${trait} ${target}`);
      if (earlier !== undefined) {
        throw InputError.at(
          `${pointer}/trait`,
          `${trait} of ${target} is stated twice, here and in traits/${earlier}`,
          'state it once',
        );
      }
      by.set(`${trait} ${target}`, index);
      values.set(target, parseTraitValue(String(value), traitDefinition(trait))!);
    }
  });
  return all;
}

/** Ids in the order of a topology's elements, as the record names them. */
export const idsOf = (topology: Topology) => ({
  devices: topology.devices.map(({ name }) => deviceId(name)),
  nics: topology.nics.map(({ name }) => nicId(name)),
  ports: topology.ports.map(({ name }) => portId(name)),
  links: topology.links.map(({ id }) => id),
  gpus: topology.gpus.map(({ host, position }) => gpuId(topology.devices[host].name, position)),
});
