/**
 * Traffic that no job accounts for: what NICs sent and received beyond what the jobs' own connections delivered.
 *
 * Ranks report the payload of every connection, NICs report bytes on the wire; a healthy fabric shows one ratio between
 * the two everywhere (headers, ACKs), which is read off the NICs themselves. What lies above it was sent by somebody
 * else: a checkpoint, a storage, another tenant. A receiver is found poll by poll, its senders over all of that time,
 * since each of many sends little. Both must stand out from what skewed and lost polls show at the other NICs, and what
 * was received must have been sent: bytes without a sender are a matter of polls. Where connections of a rank are missing
 * from the evidence nothing is said about its NIC.
 * Not modelled: jobs whose ranks moved to other hosts, whose bytes then seem foreign on one and missing on the other.
 */
import { edgeId, nicId } from '../../kernel/elements.js';
import type { MetricName } from '../../telemetry/catalog.js';
import type { Nic } from '../../topology/model.js';
import type { Job } from '../../workload/job.js';
import { writtenPerRank } from './checkpoint-traffic.js';
import { overlaps } from './context.js';
import type { Context, Interval } from './context.js';
import { freshColumn, gainWithin } from './samples.js';
import type { Column } from './samples.js';
import { median } from './statistics.js';

/** How far bytes must stand out from what polls alone make of the other NICs. */
const STANDS_OUT = 8;
/** Part of what was received that found senders must have sent, and of the NICs that must be known to ask for them. */
const SENT_SHARE = 0.4;
const KNOWN_SHARE = 0.9;
/** Share of a NIC's speed from which foreign bytes in one poll are believed; skewed polls reach less. */
const LEAST_SHARE = 0.04;
/** The same for a sender, over the whole time. */
const LEAST_SENDER_SHARE = 0.004;
/** A sender sends at least so much of what the busiest one does. */
const LEAST_OF_BUSIEST = 0.15;
/** Bytes by which foreign and missing ones may balance before they are taken for moved ranks. */
const MOVED_SHARE = 0.5;
/** So many of them are packets that came behind a gap. */
const REPEATED_SHARE = 0.2;
const PACKET_BYTES = 4200;
const BYTES_PER_NS_PER_GBPS = 0.125;

export interface ForeignSender {
  nic: number;
  bytes: number;
}

export interface ForeignLoad {
  /** The NIC that receives. */
  nic: number;
  /** From its begin to its end, as sharp as the parts of the first and the last poll tell. */
  during: Interval;
  /** Null when it was there from the first poll on. */
  onsetNs: number | null;
  bytes: number;
  /** Part of the NIC's speed that it took, in those polls. */
  share: number;
  /** Who sent meanwhile, the busiest first. */
  senders: readonly ForeignSender[];
}

interface Excess {
  /** At the NIC's own polls. */
  timesNs: Float64Array;
  /** Bytes on the wire that jobs do not account for, up to each poll: what later polls do not take back. */
  bytes: Float64Array;
  /** The same as the polls show it. */
  raw: Float64Array;
}

export function observeForeignLoads(context: Context): ForeignLoad[] {
  const received = excesses(context, 'port_rx_bytes', 1);
  const sent = excesses(context, 'port_tx_bytes', 0);
  const noise = pollNoise(received);
  const found = context.topology.nics.flatMap(
    (nic) => loadOf(context, nic, received[nic.index], noise) ?? [],
  );
  const loads = found.filter(
    (load) => !moved(received, load) && !isRepeats(context, context.topology.nics[load.nic], load),
  );
  return loads
    .map((load) => ({ ...load, senders: sendersOf(context, sent, load) }))
    .filter((load) => wasSent(sent, loads, load));
}

/** What one poll is off by through skew and loss of samples alone, bytes/ns: the NICs that nobody loads are the control. */
function pollNoise(excess: readonly (Excess | null)[]): number {
  const rates = excess.flatMap((one) => {
    if (one === null || one.bytes.length < 2) return [];
    const { timesNs, bytes } = one;
    const own = Array.from({ length: bytes.length - 1 }, (_, index) =>
      Math.abs((bytes[index + 1] - bytes[index]) / (timesNs[index + 1] - timesNs[index])),
    );
    return [median(own)];
  });
  return rates.length === 0 ? 0 : median(rates);
}

/** Whether the senders that were found sent enough for all that was received at the time; true where many are not known. */
function wasSent(
  sent: readonly (Excess | null)[],
  loads: readonly Received[],
  { during, senders }: ForeignLoad,
): boolean {
  const known = sent.filter((excess) => excess !== null).length;
  if (known < KNOWN_SHARE * sent.length) return true;
  const all = loads
    .filter((load) => overlaps(load.during, during))
    .reduce((sum, { bytes }) => sum + bytes, 0);
  return senders.reduce((sum, { bytes }) => sum + bytes, 0) >= SENT_SHARE * all;
}

type Received = Omit<ForeignLoad, 'senders'>;

function loadOf(context: Context, nic: Nic, excess: Excess | null, noise: number): Received | null {
  if (excess === null) return null;
  const { timesNs, bytes } = excess;
  const speed = nicBytesPerNs(context, nic);
  let from = -1;
  let to = -1;
  let total = 0;
  let most = 0;
  let activeNs = 0;
  for (let index = 1; index < timesNs.length; index++) {
    const gained = bytes[index] - bytes[index - 1];
    const spanNs = timesNs[index] - timesNs[index - 1];
    if (gained < Math.max(LEAST_SHARE * speed, STANDS_OUT * noise) * spanNs) continue;
    if (from < 0) from = index;
    to = index;
    total += gained;
    most = Math.max(most, gained / spanNs);
    activeNs += spanNs;
  }
  if (from < 0) return null;
  /** How long it takes at full pace to receive what a poll counted. */
  const filled = (index: number): number =>
    Math.min(timesNs[index] - timesNs[index - 1], (bytes[index] - bytes[index - 1]) / most);
  const onsetNs = timesNs[from] - filled(from);
  return {
    nic: nic.index,
    during: { fromNs: onsetNs, toNs: timesNs[to - 1] + filled(to) },
    onsetNs: from === 1 ? null : onsetNs,
    bytes: total,
    share: total / (speed * activeNs),
  };
}

function sendersOf(context: Context, sent: readonly (Excess | null)[], load: Received): ForeignSender[] {
  const lastsNs = load.during.toNs - load.during.fromNs;
  const { nics } = context.topology;
  const gains = sent.map((excess) => (excess === null ? 0 : gainOf(excess, load.during)));
  const noise = median(gains.map((gain) => Math.abs(gain)));
  const senders = nics.flatMap((nic): ForeignSender[] => {
    const bytes = gains[nic.index];
    const least = Math.max(LEAST_SENDER_SHARE * nicBytesPerNs(context, nic) * lastsNs, STANDS_OUT * noise);
    return nic.index !== load.nic && bytes >= least ? [{ nic: nic.index, bytes }] : [];
  });
  const most = Math.max(0, ...senders.map(({ bytes }) => bytes));
  return senders
    .filter(({ bytes }) => bytes >= LEAST_OF_BUSIEST * most)
    .sort((one, other) => other.bytes - one.bytes || one.nic - other.nic);
}

/** Packets behind a gap arrive and are thrown away: bytes on the wire that no job gets. */
function isRepeats(context: Context, nic: Nic, load: Received): boolean {
  const dropped = gainWithin(context.read('nic_out_of_sequence', nicId(nic.name)), load.during);
  return dropped * PACKET_BYTES > REPEATED_SHARE * load.bytes;
}

/** Foreign bytes here that are missing elsewhere at the same time belong to ranks that moved. */
function moved(received: readonly (Excess | null)[], load: Received): boolean {
  const missing = received.reduce(
    (sum, excess) =>
      sum + (excess === null ? 0 : Math.max(0, -gainOf({ ...excess, bytes: excess.raw }, load.during))),
    0,
  );
  return missing > MOVED_SHARE * load.bytes;
}

/** Bytes between the polls that enclose a stretch. */
function gainOf({ timesNs, bytes }: Excess, { fromNs, toNs }: Interval): number {
  let first = 0;
  let last = timesNs.length - 1;
  while (first + 1 < timesNs.length && timesNs[first + 1] <= fromNs) first++;
  while (last > first && timesNs[last - 1] >= toNs) last--;
  return bytes[last] - bytes[first];
}

function nicBytesPerNs({ topology }: Context, nic: Nic): number {
  const gbps = nic.ports.reduce((sum, port) => sum + topology.links[topology.ports[port].link].rateGbps, 0);
  return gbps * BYTES_PER_NS_PER_GBPS;
}

/** By NIC; null where its counters, or connections of its ranks, are not known. */
function excesses(context: Context, metric: MetricName, end: 0 | 1): (Excess | null)[] {
  const { nics } = context.topology;
  const edges = connectionsOf(context);
  const wires = nics.map((nic) => {
    const own = edges[nic.index];
    return own === null ? null : covered(wireBytes(context, metric, nic), own[end]);
  });
  const payloads = wires.map((wire, nic) => {
    const own = edges[nic];
    if (wire === null || own === null) return null;
    const sum = new Float64Array(wire.count);
    for (const column of own[end]) addAt(sum, wire.timesNs, column);
    return sum;
  });
  const factor = wireFactor(wires, payloads);
  return wires.map((wire, nic) => {
    const payload = payloads[nic];
    if (wire === null || payload === null) return null;
    const raw = wire.values.map(
      (value, index) => value - wire.values[0] - factor * (payload[index] - payload[0]),
    );
    return { timesNs: wire.timesNs, raw, bytes: kept(raw) };
  });
}

/** Foreign bytes only add up; what a skewed or a missing poll adds for a while is taken back by the next ones. */
function kept(raw: Float64Array): Float64Array {
  const bytes = raw.slice();
  for (let index = bytes.length - 2; index >= 0; index--)
    bytes[index] = Math.min(bytes[index], bytes[index + 1]);
  return bytes;
}

/** Polls of a NIC while all connections were read; null when that are too few. */
function covered(wire: Column | null, connections: readonly Column[]): Column | null {
  if (wire === null) return null;
  const fromNs = Math.max(-Infinity, ...connections.map(({ timesNs }) => timesNs[0]));
  const toNs = Math.min(Infinity, ...connections.map(({ timesNs, count }) => timesNs[count - 1]));
  const slackNs = (wire.timesNs[wire.count - 1] - wire.timesNs[0]) / wire.count / 4;
  let first = 0;
  let end = wire.count;
  while (first < end && wire.timesNs[first] < fromNs - slackNs) first++;
  while (end > first && wire.timesNs[end - 1] > toNs + slackNs) end--;
  if (end - first < 2) return null;
  return {
    count: end - first,
    timesNs: wire.timesNs.subarray(first, end),
    values: wire.values.subarray(first, end),
  };
}

/** Wire bytes per payload byte, as most NICs show it. */
function wireFactor(wires: readonly (Column | null)[], payloads: readonly (Float64Array | null)[]): number {
  const ratios = wires.flatMap((wire, nic) => {
    const payload = payloads[nic];
    if (wire === null || payload === null || wire.count < 2) return [];
    const delivered = payload[wire.count - 1] - payload[0];
    return delivered > 0 ? [(wire.values[wire.count - 1] - wire.values[0]) / delivered] : [];
  });
  return ratios.length === 0 ? 1 : median(ratios);
}

/** Both ports of a NIC added up at the first one's polls; null when a port was read less than twice, or went back. */
function wireBytes(context: Context, metric: MetricName, nic: Nic): Column | null {
  const [first, ...rest] = nic.ports.map((port) => freshColumn(context.readPort(metric, port)));
  if ([first, ...rest].some((column) => column.count < 2 || goesBack(column))) return null;
  if (rest.length === 0) return first;
  const values = first.values.slice(0, first.count);
  for (const column of rest) addAt(values, first.timesNs, column);
  return { ...first, values };
}

function goesBack({ count, values }: Column): boolean {
  for (let index = 1; index < count; index++) if (values[index] < values[index - 1]) return true;
  return false;
}

/** Adds a counter, read between its polls, to sums at other instants. */
function addAt(sums: Float64Array, timesNs: Float64Array, { count, timesNs: own, values }: Column): void {
  let next = 0;
  for (let index = 0; index < sums.length; index++) {
    while (next < count && own[next] < timesNs[index]) next++;
    if (next === 0) sums[index] += values[0];
    else if (next === count) sums[index] += values[count - 1];
    else {
      const part = (timesNs[index] - own[next - 1]) / (own[next] - own[next - 1]);
      sums[index] += values[next - 1] + part * (values[next] - values[next - 1]);
    }
  }
}

/** By NIC: payload counters of what its ranks send and of what they are sent; null where some are not known. */
function connectionsOf(context: Context): ([Column[], Column[]] | null)[] {
  const { gpus, nics } = context.topology;
  const found = nics.map((): [Column[], Column[]] | null => [[], []]);
  for (const job of context.jobs) {
    const ranks = Array.from(job.placement, (): [number, number] => [0, 0]);
    const prefix = edgeId(job.name, 0, 0).slice(0, -3);
    for (const series of context.all('edge_tx_bytes')) {
      if (!series.element.startsWith(prefix)) continue;
      const [from, to] = series.element.slice(prefix.length).split('-').map(Number);
      const column = freshColumn(series);
      if (column.count < 2 || goesBack(column)) continue;
      [from, to].forEach((rank, end) => {
        ranks[rank][end]++;
        found[gpus[job.placement[rank]].nic]?.[end].push(column);
      });
    }
    // Connections come in both directions; a rank that is sent to by fewer than it sends to has senders that are mute.
    ranks.forEach(([sends, receives], rank) => {
      const { nic } = gpus[job.placement[rank]];
      if (sends !== receives || sends === 0) found[nic] = null;
    });
    addCheckpoints(context, job, found);
  }
  return found;
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
