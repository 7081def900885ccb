/**
 * Words that faults and diagnosis share without knowing each other.
 *
 * A fault says what it did and a verdict says what it found in the same terms, or they could not be compared. This
 * file must stay free of anything that tells how a fault is injected.
 */
export type { ElementRef, ElementType } from '../../core/elements.js';

/** What can be the cause of lost training time. */
export const CULPRIT_KINDS = [
  'link-down',
  'link-flap',
  'one-way-loss',
  'node-down',
  'speed-downgrade',
  'optic-error',
  'incast',
  'slow-receiver',
  'pause-storm',
  'pause-deadlock',
  'ecmp-collision',
  'ecn-misconfig',
  'pfc-misconfig',
  'job-migration',
  'straggler',
  'stale-route',
] as const;
export type CulpritKind = (typeof CULPRIT_KINDS)[number];

/** What kind of end of the element the cause sits at: the cable itself, a port end, or the configuration. */
export const SIDES = ['cable', 'configuration', 'device', 'host', 'switch', 'unknown'] as const;
export type Side = (typeof SIDES)[number];

/**
 * Which way traffic suffers: `both`, or `from A` to `B` written as the sending port's id, so that it reads the same
 * whoever looks (`port:host-12/nic-4` means: what this port sends is lost).
 */
export type Direction = 'both' | `port:${string}`;
