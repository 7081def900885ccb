/**
 * A group of running flows that share links, a set of flows by its sums, and what is shown of groups in contention.
 */
import type { Flow } from '../jobs/running-flow.js';
import type { Picture } from './congestion-picture.js';

export interface FlowSet {
  key: number;
  check: number;
  count: number;
}

export interface Piece extends FlowSet {
  /** State of the fabric that it is about. */
  version: number;
  groups: readonly FlowGroup[];
  /** In the order of the picture. */
  flows: readonly Flow[];
  picture: Picture;
  /** Counted up to here. */
  sinceNs: number;
}

export class FlowGroup implements FlowSet {
  key = 0;
  check = 0;
  count = 0;
  /** Active ones that cross the fabric, in their fixed order. */
  readonly flows: Flow[] = [];
  /** Steady state of these flows alone; undefined where nothing is contended. */
  picture: Picture | undefined;
  /** What is shown of it, alone or with others: one piece, more after groups have merged, none where it is calm. */
  pieces: readonly Piece[] = [];
  dirty = false;
  /** A flow over the fabric has been here. */
  crossing = false;
  mergedInto: FlowGroup | undefined;
  readonly known = new Map<number, FlowSet & { picture: Picture | undefined }>();

  constructor(readonly index: number) {}
}
