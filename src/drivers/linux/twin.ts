/**
 * The simulated twin of a fabric of Linux network stacks: its own file, and beside it what a simulator must be told that a
 * kernel, FRR and TCP do by themselves. What the file states wins.
 *
 * - FRR 8.4: bgpd lets routes wait 50 ms before it works on them (hold of its queue), in every switch that the news passes.
 *   Next hops come back when the neighbour's router advertisement has been heard (one a second) and the connect timer has
 *   run out, each of which takes half its interval on average, and the session has been set up and its table sent.
 * - A kernel: a veth tells of its carrier within milliseconds.
 * - TCP: connections that meet come to equal shares, and what a window holds fits in the queues in front of the token buckets.
 *   What is lost without an ACK behind it is probed for after two round trips (RFC 8985), each of which is the time that a
 *   full window takes through a host's port; then at growing intervals.
 * - Jobs of a lab choose their source ports by the paths that these take.
 * Not modelled: queues, and with them drops and their telemetry; TCP's window after a loss, so that a lossy link costs the
 * twin less; a machine that is too busy. Times of restarts are those of the jobs in the file.
 */
import type { FabricDefinition } from '../../fabric-api/definition.js';
import { labSettingsSchema } from '../../fabric-api/lab-settings.js';
import { BYTES_PER_NS_PER_GBPS } from '../../core/units.js';
import { buildTopology } from '../../model/topology/topology-spec.js';

type Stated = Readonly<Record<string, unknown>>;

/** Parts of a file that mean the same to every driver. */
const COMMON = ['topology', 'settings', 'jobs', 'telemetry', 'alertLabels'] as const;

const LINUX = {
  carrierDetection: '5ms',
  carrierDebounce: '5ms',
  routeRepair: '52ms',
  bgpPropagation: '53ms',
  adaptiveFactor: 2,
  sourcePorts: 'spread',
  contention: 'fair',
  dcqcn: { on: false },
  ecn: { pmax: 0 },
} as const;

const PROBE_ROUND_TRIPS = 2;
/** `ipv6 nd ra-interval` of the uplinks. */
const ADVERTISEMENT_NS = 1e9;
/** What is left of a session's return once both timers have run: opening it, the table, the kernel. Measured. */
const SESSION_NS = 0.9e9;

/** @param stated the `spec` as its file states it */
export function simulatedTwin({ spec }: FabricDefinition, stated: Stated): Stated {
  const { bgpConnectRetry, sendBuffer } = spec.lab ?? labSettingsSchema.parse({});
  const slowestGbps = Math.min(...buildTopology(spec.topology).links.map(({ rateGbps }) => rateGbps));
  const windowNs = sendBuffer / (slowestGbps * BYTES_PER_NS_PER_GBPS);
  const settings = {
    ...LINUX,
    adaptiveBase: `${Math.round(PROBE_ROUND_TRIPS * windowNs)}ns`,
    sessionRestore: `${(ADVERTISEMENT_NS + bgpConnectRetry) / 2 + SESSION_NS}ns`,
    // the classes exist, since loads and jobs name them
    pfc: { on: false, priorities: [...new Set(spec.jobs.map(({ priority }) => priority))] },
    ...(stated.settings as Stated | undefined),
    // parity compares what both sides were asked to do
    realism: 'quiet',
  };
  const common = COMMON.filter((part) => stated[part] !== undefined).map(
    (part) => [part, stated[part]] as const,
  );
  return { ...Object.fromEntries<unknown>(common), driver: 'simulated', settings };
}
