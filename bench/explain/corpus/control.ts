/**
 * The controls of the corpus: runs in which no network element is to blame.
 *
 * Nothing happens; or a GPU or a host computes slower than its peers (FALCON, arXiv 2410.12588: from a few per cent to
 * several times, for tens of seconds and more; most stragglers in production are not the network's); or the load changes,
 * since another job starts in mid-run and takes its share of the links. Naming any part of the network is a false alarm.
 */
import { logBetween, pick, type Weights } from './draw.js';
import { oneDevice, type FaultEntry } from './fault-entry.js';

export type Control = 'nothing' | 'straggler' | 'load-change';

export const CONTROL_WEIGHTS: Weights<Control> = [
  ['nothing', 0.4],
  ['straggler', 0.35],
  ['load-change', 0.25],
];

export const STRAGGLER: FaultEntry = {
  name: 'straggler',
  kind: 'straggler',
  class: 'job',
  weight: 1,
  targets: oneDevice('host'),
  parameters: (random, scene) => {
    const slowdown = 1 + logBetween(random, 0.05, 2.5);
    return pick(random, [
      { variant: 'gpu', gpu: random.below(scene.gpusPerHost), slowdown },
      { variant: 'host', slowdown },
    ]);
  },
};
