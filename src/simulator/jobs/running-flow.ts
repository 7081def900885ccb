/**
 * The state of one flow of the engine, and its life: told to start, running or standing still, then the tail.
 */
import type { FlowBacklog } from '../congestion/flow-backlog.js';
import type { FlowShape } from '../rates/flow-shape.js';

export const IDLE = 0;
/** Told to start at this instant; runs or stalls once all events of the instant are known. */
export const STARTING = 1;
export const RUNNING = 2;
export const STALLED = 3;
/** All bytes are across; the latency of the dependent steps is still to pass. */
export const TAIL = 4;

export interface Flow {
  state: number;
  shape: FlowShape | undefined;
  /** Version of the shape that the solver knows. */
  version: number;
  /** Negative for a load that belongs to no job. */
  job: number;
  operation: number;
  classIndex: number;
  /** Its rate is that of the congestion equilibrium. */
  overruled: boolean;
  /** In the max-min solver, -1 while it does not run. */
  variable: number;
  remaining: number;
  rate: number;
  settledNs: number;
  /** Bytes of the variable that no counter has seen yet. */
  unread: number;
  /** What of it waits in queues, if anything does. */
  backlog: FlowBacklog | undefined;
  event: number;
}

export const idleFlow = (): Flow => ({
  state: IDLE,
  shape: undefined,
  version: -1,
  job: -1,
  operation: -1,
  classIndex: 0,
  overruled: false,
  variable: -1,
  remaining: 0,
  rate: 0,
  settledNs: 0,
  unread: 0,
  backlog: undefined,
  event: -1,
});

/** A fixed order of flows that run at the same time, whatever the order in which they started. */
export const flowOrder = (one: Flow, other: Flow): number =>
  one.shape!.id - other.shape!.id || one.job - other.job || one.operation - other.operation;
