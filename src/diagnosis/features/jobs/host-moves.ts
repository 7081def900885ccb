/**
 * What the scheduler says of hosts: when one was drained, when ranks left it, when ranks came.
 *
 * Where the scheduler is not heard, bytes tell the same: a host that sent for a job before its restart and is silent
 * after it, while a host that was silent begins to send.
 */
import type { Context, Interval } from '../../series/context.js';
import { increments, freshSamples, stateSpans } from '../../series/samples.js';

export interface AllocationChange {
  timeNs: number;
  /** GPUs given to jobs, less those before. */
  gpus: number;
}

export interface HostMoves {
  host: number;
  /** The scheduler was heard about this host. */
  known: boolean;
  drained: Interval[];
  changes: AllocationChange[];
}

export function observeHostMoves(context: Context): HostMoves[] {
  return context.topology.devices
    .filter(({ role }) => role === 'host')
    .map(({ index: host }): HostMoves => {
      const gpus = freshSamples(context.readDevice('host_allocated_gpus', host));
      return {
        host,
        known: gpus.length > 0 || freshSamples(context.readDevice('host_drained', host)).length > 0,
        drained: stateSpans(context.readDevice('host_drained', host), context.window.toNs).filter(
          ({ value }) => value === 1,
        ),
        changes: gpus.slice(1).flatMap(({ timeNs, value }, at) => {
          const change = value - gpus[at].value;
          return change === 0 ? [] : [{ timeNs, gpus: change }];
        }),
      };
    });
}

/** Bytes per ns that the NICs of a host sent in a stretch; null when they were not read in it. */
export function sentRate(context: Context, host: number, during: Interval): number | null {
  const { topology } = context;
  let bytes = 0;
  let coveredNs = 0;
  for (const port of topology.devices[host].ports) {
    const inside = increments(context.readPort('port_tx_bytes', port)).filter(
      ({ fromNs, toNs }) => fromNs >= during.fromNs && toNs <= during.toNs,
    );
    bytes += inside.reduce((sum, { gain }) => sum + gain, 0);
    coveredNs = Math.max(
      coveredNs,
      inside.reduce((sum, { fromNs, toNs }) => sum + toNs - fromNs, 0),
    );
  }
  return coveredNs === 0 ? null : bytes / coveredNs;
}
