/** Every perturbation of evidence: the rows of the table, in its order. A new one is an entry in a file beside this. */
import { COLLECTION } from './collection.js';
import { COMPUTE } from './compute.js';
import { COUNTERS } from './counters.js';
import { OPTICS } from './optics.js';
import type { Perturbation } from './perturbation.js';
import { PORTS } from './ports.js';
import { VIEWS } from './views.js';

/** Harmless by itself: nothing of it may be named, and none may hide a fault. */
export const HARMLESS: readonly Perturbation[] = [
  ...COMPUTE,
  ...OPTICS,
  ...PORTS,
  ...COUNTERS,
  ...COLLECTION,
];

/** Less to see: what is named may be less, what is named in error may not be more. */
export const BLINKERS: readonly Perturbation[] = VIEWS;

export type { Perturbation, Perturbed } from './perturbation.js';
