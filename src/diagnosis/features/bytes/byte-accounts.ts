/**
 * What each NIC sent and received beyond what the connections of the jobs account for, and how far that is certain.
 *
 * Ranks report the payload of every connection, NICs report bytes on the wire; a healthy fabric shows one ratio between
 * the two everywhere (headers, ACKs), which is read off the NICs themselves. The two are polled apart and some polls get
 * lost, so beside the reading there are bounds: counters only rise, and nothing passes a NIC faster than its speed, so that
 * a sample tells the more of an instant the nearer it lies. Foreign bytes only add up: what a later poll takes back was
 * never there, what an earlier one proved stays. Where connections of a rank are missing from the evidence nothing is
 * said about its NIC.
 * Not modelled: jobs whose ranks moved to other hosts, whose bytes then seem foreign on one and missing on the other.
 */
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Nic } from '../../../model/topology/model.js';
import type { Job } from '../../../model/workload/job.js';
import { writtenPerRank } from './checkpoint-traffic.js';
import type { Context } from '../../series/context.js';
import { edgesByJob } from './edges.js';
import { expectedConnections } from './expected-connections.js';
import type { ExpectedConnections } from './expected-connections.js';
import { Store } from '../../series/room.js';
import { freshColumn } from '../../series/samples.js';
import type { Column } from '../../series/samples.js';
import { median, quantile } from '../../series/statistics.js';

const BYTES_PER_NS_PER_GBPS = 0.125;

/** Bytes are counted from the first poll on; all arrays are as long as `timesNs`. */
export interface ByteAccount {
  /** The NIC's own polls. */
  timesNs: Float64Array;
  /** Bytes on the wire that jobs do not account for, up to each poll, as read. */
  raw: Float64Array;
  /** The same without what later polls take back. */
  bytes: Float64Array;
  /**
   * Differences `least[to] - most[from]` are gained at least, whatever happened between the polls. Neither says much by
   * itself: both reckon with the largest ratio between wire and payload that the NICs allow.
   */
  least: Float64Array;
  most: Float64Array;
}

/**
 * By NIC; null where its counters, or connections of its ranks, are not known.
 * @param end 0 for what NICs send, 1 for what they receive
 */
export function byteAccounts(context: Context, end: 0 | 1): (ByteAccount | null)[] {
  const { nics } = context.topology;
  const metric: MetricName = end === 0 ? 'port_tx_bytes' : 'port_rx_bytes';
  const edges = context.once(connectionsOf);
  const store = new Store();
  const wires = nics.map((nic) => {
    const own = edges[nic.index];
    return own === null ? null : covered(wireSums(context, metric, nic, store), own[end]);
  });
  const payloads = wires.map((wire, nic) => {
    const own = edges[nic];
    return wire === null || own === null
      ? null
      : sumsAt(wire.timesNs, own[end], nicBytesPerNs(context, nics[nic]), context.clockSlackNs, store);
  });
  const factor = wireFactor(wires, payloads);
  return wires.map((wire, nic) => {
    const payload = payloads[nic];
    return wire === null || payload === null ? null : account(wire, payload, factor, store);
  });
}

/** What its ports carry together, bytes/ns. */
export function nicBytesPerNs({ topology }: Context, nic: Nic): number {
  const gbps = nic.ports.reduce((sum, port) => sum + topology.links[topology.ports[port].link].rateGbps, 0);
  return gbps * BYTES_PER_NS_PER_GBPS;
}

/** Bytes gained between the polls that enclose a stretch, by one of the readings of an account. */
export function gainOf(
  { timesNs }: ByteAccount,
  bytes: Float64Array,
  { fromNs, toNs }: { fromNs: number; toNs: number },
): number {
  let first = 0;
  let last = timesNs.length - 1;
  while (first + 1 < timesNs.length && timesNs[first + 1] <= fromNs) first++;
  while (last > first && timesNs[last - 1] >= toNs) last--;
  return bytes[last] - bytes[first];
}

/** Counters summed up at given instants: as interpolated, and what the sum is at least and at most. */
interface Sums {
  timesNs: Float64Array;
  values: Float64Array;
  least: Float64Array;
  most: Float64Array;
}

function account(wire: Sums, payload: Sums, { usual, most }: WireFactor, store: Store): ByteAccount {
  const [wireAtFirst, payloadAtFirst] = [wire.values[0], payload.values[0]];
  const beyond = (on: Float64Array, of: Float64Array, factor: number): Float64Array => {
    const bytes = store.take(on.length);
    for (let index = 0; index < bytes.length; index++)
      bytes[index] = on[index] - wireAtFirst - factor * (of[index] - payloadAtFirst);
    return bytes;
  };
  const raw = beyond(wire.values, payload.values, usual);
  return {
    timesNs: wire.timesNs,
    raw,
    bytes: kept(raw, store),
    least: beyond(wire.least, payload.most, most),
    most: beyond(wire.most, payload.least, most),
  };
}

/** Foreign bytes only add up; what a skewed or a missing poll adds for a while is taken back by the next ones. */
function kept(raw: Float64Array, store: Store): Float64Array {
  const bytes = store.take(raw.length);
  let least = Infinity;
  for (let index = raw.length - 1; index >= 0; index--) {
    if (raw[index] < least) least = raw[index];
    bytes[index] = least;
  }
  return bytes;
}

/** Polls of a NIC while all connections were read; null when that are too few. */
function covered(wire: Sums | null, connections: readonly Column[]): Sums | null {
  if (wire === null) return null;
  const { timesNs } = wire;
  const count = timesNs.length;
  const fromNs = Math.max(-Infinity, ...connections.map((column) => column.timesNs[0]));
  const toNs = Math.min(Infinity, ...connections.map((column) => column.timesNs[column.count - 1]));
  const slackNs = (timesNs[count - 1] - timesNs[0]) / count / 4;
  let first = 0;
  let end = count;
  while (first < end && timesNs[first] < fromNs - slackNs) first++;
  while (end > first && timesNs[end - 1] > toNs + slackNs) end--;
  if (end - first < 2) return null;
  return {
    timesNs: timesNs.subarray(first, end),
    values: wire.values.subarray(first, end),
    least: wire.least.subarray(first, end),
    most: wire.most.subarray(first, end),
  };
}

/** Wire bytes per payload byte: as most NICs show it, and what it is at most, with all that polls leave open. */
interface WireFactor {
  usual: number;
  most: number;
}

function wireFactor(wires: readonly (Sums | null)[], payloads: readonly (Sums | null)[]): WireFactor {
  const usual: number[] = [];
  const most: number[] = [];
  wires.forEach((wire, nic) => {
    const payload = payloads[nic];
    if (wire === null || payload === null) return;
    const last = wire.timesNs.length - 1;
    const delivered = payload.values[last] - payload.values[0];
    const surely = payload.least[last] - payload.most[0];
    if (delivered <= 0 || surely <= 0) return;
    usual.push((wire.values[last] - wire.values[0]) / delivered);
    most.push((wire.most[last] - wire.least[0]) / surely);
  });
  return usual.length === 0
    ? { usual: 1, most: 1 }
    : { usual: median(usual), most: Math.max(median(usual), quantile(most, 0.25)) };
}

/** All ports of a NIC added up at the first one's polls; null when a port was read less than twice, or went back. */
function wireSums(context: Context, metric: MetricName, nic: Nic, store: Store): Sums | null {
  const columns = nic.ports.map((port) => freshColumn(context.readPort(metric, port)));
  if (columns.some((column) => column.count < 2 || goesBack(column))) return null;
  const { topology } = context;
  const rateGbps = Math.max(...nic.ports.map((port) => topology.links[topology.ports[port].link].rateGbps));
  const mostPerNs = rateGbps * BYTES_PER_NS_PER_GBPS;
  const [first] = columns;
  return columns.length === 1
    ? asRead(first, mostPerNs, store)
    : sumsAt(first.timesNs.subarray(0, first.count), columns, mostPerNs, 0, store);
}

/** One counter at its own polls: nothing lies between, but it may have risen faster than its port. */
function asRead({ count, timesNs, values }: Column, mostPerNs: number, store: Store): Sums {
  const most = store.take(count);
  most[0] = values[0];
  for (let index = 1; index < count; index++) {
    const possible = values[index - 1] + mostPerNs * (timesNs[index] - timesNs[index - 1]);
    most[index] = Math.min(values[index], possible);
  }
  const own = values.subarray(0, count);
  return { timesNs: timesNs.subarray(0, count), values: own, least: own, most };
}

function goesBack({ count, values }: Column): boolean {
  for (let index = 1; index < count; index++) if (values[index] < values[index - 1]) return true;
  return false;
}

/**
 * @param mostPerNs none of the counters rises faster, bytes/ns
 * @param slackNs by how much their clocks may differ from that of the instants
 */
function sumsAt(
  timesNs: Float64Array,
  columns: readonly Column[],
  mostPerNs: number,
  slackNs: number,
  store: Store,
): Sums {
  const zeros = (): Float64Array => store.take(timesNs.length);
  const sums: Sums = { timesNs, values: zeros(), least: zeros(), most: zeros() };
  for (const column of columns) addAt(sums, column, mostPerNs, slackNs);
  return sums;
}

/** Adds a counter as it was between its polls. */
function addAt(
  { timesNs, values: sums, least, most }: Sums,
  { count, timesNs: own, values }: Column,
  mostPerNs: number,
  slackNs: number,
): void {
  let next = 0;
  for (let index = 0; index < sums.length; index++) {
    const timeNs = timesNs[index];
    while (next < count && own[next] < timeNs) next++;
    const [before, after] = [values[next - 1], values[next]];
    const [sinceNs, untilNs] = [timeNs - own[next - 1], own[next] - timeNs];
    const [early, late] = [next === 0, next === count];
    if (early || late) sums[index] += early ? after : before;
    else sums[index] += before + (sinceNs / (sinceNs + untilNs)) * (after - before);
    // a sample that seems to lie before the instant may lie behind it, by no more than the clocks differ
    least[index] += Math.max(
      early ? -Infinity : before - mostPerNs * Math.max(0, slackNs - sinceNs),
      late ? -Infinity : after - mostPerNs * (untilNs + slackNs),
    );
    most[index] += Math.min(
      late ? Infinity : after + mostPerNs * Math.max(0, slackNs - untilNs),
      early ? Infinity : before + mostPerNs * (sinceNs + slackNs),
    );
  }
}

const sentOverEdges = (context: Context) => edgesByJob(context, 'edge_tx_bytes');

/** By NIC: payload counters of what its ranks send and of what they are sent; null where some are not known. */
export function connectionsOf(context: Context): ([Column[], Column[]] | null)[] {
  const { gpus, nics } = context.topology;
  const found = nics.map((): [Column[], Column[]] | null => [[], []]);
  const edges = context.once(sentOverEdges);
  for (const job of context.jobs) {
    const sends = Array.from(job.placement, () => new Set<number>());
    const receives = Array.from(job.placement, () => new Set<number>());
    for (const { from, to, series } of edges.get(job) ?? []) {
      const column = freshColumn(series);
      if (column.count < 2 || goesBack(column)) continue;
      sends[from].add(to);
      receives[to].add(from);
      [from, to].forEach((rank, end) => found[gpus[job.placement[rank]].nic]?.[end].push(column));
    }
    const isWhole = completeness(context, job, { sends, receives });
    job.placement.forEach((gpu, rank) => {
      if (!isWhole(rank)) found[gpus[gpu].nic] = null;
    });
    addCheckpoints(context, job, found);
  }
  return found;
}

/**
 * Whether all connections of a rank are there. Most come in both directions, and a rank that is sent to by fewer than it
 * sends to has senders that are mute; unless these are what its program asks for, as where a ring crosses an all-to-all.
 */
function completeness(
  { topology }: Context,
  job: Job,
  { sends, receives }: ExpectedConnections,
): (rank: number) => boolean {
  let asked: ExpectedConnections | undefined;
  const isSame = (wanted: ReadonlySet<number>, there: ReadonlySet<number>): boolean =>
    wanted.size === there.size && [...wanted].every((partner) => there.has(partner));
  return (rank) => {
    if (sends[rank].size === 0 && receives[rank].size === 0) return false;
    if (sends[rank].size === receives[rank].size) return true;
    asked ??= expectedConnections(job, topology);
    return isSame(asked.sends[rank], sends[rank]) && isSame(asked.receives[rank], receives[rank]);
  };
}

/** What ranks write to storage hosts is the jobs' own as well. */
function addCheckpoints(context: Context, job: Job, found: ([Column[], Column[]] | null)[]): void {
  const { traffic } = job.checkpoint ?? {};
  if (traffic === undefined) return;
  const written = writtenPerRank(context, job);
  const { gpus } = context.topology;
  job.placement.forEach((gpu, rank) => {
    [gpu, traffic.receivers[rank]].forEach((one, end) => {
      const { nic } = gpus[one];
      if (written === null) found[nic] = null;
      else found[nic]?.[end].push(written);
    });
  });
}
