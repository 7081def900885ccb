/** What of a flow waits in queues on its way, and what is to wait there. */
import type { EquilibriumPaths } from './equilibrium/model.js';

/** What a flow's paths are to have in queues: in order of their places in `paths.links`. */
export interface FlowWaits {
  readonly path: readonly number[];
  /** Of the queue's direction, in `paths.links`. */
  readonly place: readonly number[];
  readonly bytes: readonly number[];
}

/** What they have. */
export interface FlowBacklog {
  readonly paths: EquilibriumPaths;
  waits: FlowWaits | undefined;
  path: number[];
  place: number[];
  bytes: number[];
  aim: number[];
  /** Of the flow's variable, not yet taken off the queues. */
  delivered: number;
}
