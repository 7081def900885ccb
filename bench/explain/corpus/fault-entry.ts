/**
 * What an entry of the corpus says about one variant of one fault kind: where it may strike and how bad it may be.
 *
 * An entry names a kind of the fault catalogue and gives a target and parameters in the words of experiment files, so
 * that every case is an experiment anybody could write.
 */
import type { Prng } from '../../../src/core/prng.js';
import type { Family, Scene, SceneNeeds } from './scene.js';

/** As the published anchors divide them: stated outright, seen in counters or traffic only, queues, and jobs moved. */
export type FaultClass = 'hard' | 'gray' | 'congestion' | 'job';

export type Parameters = Record<string, unknown>;
export type Target = Record<string, unknown>;

export interface FaultEntry {
  /** `link-down/cut`: kind and variant. */
  name: string;
  kind: string;
  class: FaultClass;
  /** How often it is drawn, relative to the others of its class. */
  weight: number;
  needs?: SceneNeeds;
  /** A counter of switches or their ports: instead of `targets` only switches at which it rises without the fault. */
  atWork?: string;
  /** Targets to try, in this order: the first with an element that a job sends over is taken. */
  targets(random: Prng, scene: Scene): readonly Target[];
  parameters(random: Prng, scene: Scene): Parameters;
}

const some = { usedBy: '*', mode: 'one', order: 'random' } as const;

/** One link that jobs send over, of one tier or of another. */
export function anyLink(random: Prng, scene: Scene): readonly Target[] {
  const tiers = ['host-leaf', 'leaf-spine', ...(scene.family === 'fat-tree' ? ['spine-core'] : [])];
  return random.shuffle(tiers).map((tier) => ({ type: 'link', tier, ...some }));
}

export const switchLink = (random: Prng, scene: Scene): readonly Target[] =>
  anyLink(random, scene).filter(({ tier }) => tier !== 'host-leaf');

export const hostLink = (): readonly Target[] => [{ type: 'link', tier: 'host-leaf', ...some }];

export const anyNic = (): readonly Target[] => [{ type: 'nic', ...some }];

export const oneDevice = (tier: string) => (): readonly Target[] => [{ type: 'device', tier, ...some }];

export const anySwitch = (random: Prng, scene: Scene): readonly Target[] =>
  random
    .shuffle(['leaf', 'spine', ...(scene.family === 'fat-tree' ? ['core'] : [])])
    .map((tier) => ({ type: 'device', tier, ...some }));

export const SINGLE_PORT: readonly Family[] = ['leaf-spine', 'rail-optimised', 'fat-tree'];
export const DUAL_PORT: readonly Family[] = ['dual-tor-dual-plane'];
