/**
 * What was really injected, and what a simulated world had of its own beside it. Types only: nothing on the diagnoser's side may reach this file.
 */
import type { CulpritKind, Direction, ElementRef, Side } from '../model/telemetry/vocabulary.js';

export type { WorldRecord } from '../fabric-api/fabric.js';

export interface TruthEntry {
  kind: CulpritKind;
  /** Equivalent names of the one thing that was hurt, most exact first (link, then its ports, then its devices). */
  elements: readonly ElementRef[];
  side: Side;
  direction: Direction;
  /** ns from the run's start on the fabric's clock, as really applied and reverted. */
  fromNs: number;
  toNs: number;
}
