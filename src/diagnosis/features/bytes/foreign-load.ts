/**
 * Traffic that no job accounts for: what NICs sent and received beyond what the jobs' own connections delivered.
 *
 * It was sent by somebody else: a checkpoint, a storage, another tenant. A receiver is found poll by poll, its senders
 * over all of that time, since each of many sends little. Both must stand out from what skewed and lost polls show at the
 * other NICs; half of it must be certain, whatever happened between the polls (byte-accounts.ts); and what was received
 * must have been sent: bytes without a sender are a matter of polls. An account with holes is not known, and names nobody.
 */
import type { Nic } from '../../../model/topology/model.js';
import { byteAccounts, gainOf, nicBytesPerNs } from './byte-accounts.js';
import type { ByteAccount } from './byte-accounts.js';
import { overlaps } from '../../series/context.js';
import type { Context, Interval } from '../../series/context.js';
import { Room } from '../../series/room.js';
import { gainWithin } from '../../series/samples.js';
import { median } from '../../series/statistics.js';

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
/** Part of a load that is certain, however the polls lie. */
const CERTAIN_SHARE = 0.5;
/** Polls before and after a load that may tell better what came. */
const POLLS_AROUND = 3;

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

export function observeForeignLoads(context: Context): ForeignLoad[] {
  const received = byteAccounts(context, 1);
  const sent = byteAccounts(context, 0);
  const noise = pollNoise(received);
  const sentNoise = pollNoise(sent);
  const found = context.topology.nics.flatMap(
    (nic) => loadOf(context, nic, received[nic.index], noise) ?? [],
  );
  const loads = found.filter(
    (load) => !moved(received, load) && !isRepeats(context, context.topology.nics[load.nic], load),
  );
  return loads
    .map((load) => ({ ...load, senders: sendersOf(context, sent, sentNoise, load) }))
    .filter((load) => wasSent(sent, loads, load));
}

const ROOM = new Room();

/** What one poll is off by through skew and loss of samples alone, bytes/ns: the NICs that nobody loads are the control. */
function pollNoise(excess: readonly (ByteAccount | null)[]): number {
  const rates = excess.flatMap((one) => {
    if (one === null || one.bytes.length < 2) return [];
    const { timesNs, bytes } = one;
    const own = ROOM.take(bytes.length - 1).subarray(0, bytes.length - 1);
    for (let index = 0; index < own.length; index++)
      own[index] = Math.abs((bytes[index + 1] - bytes[index]) / (timesNs[index + 1] - timesNs[index]));
    return [median(own)];
  });
  return rates.length === 0 ? 0 : median(rates);
}

/** Whether the senders that were found sent enough for all that was received at the time; true where many are not known. */
function wasSent(
  sent: readonly (ByteAccount | null)[],
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

function loadOf(context: Context, nic: Nic, excess: ByteAccount | null, noise: number): Received | null {
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
  if (from < 0 || certainGain(excess, from - 1, to) < CERTAIN_SHARE * total) return null;
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

/** Bytes gained for certain between two polls; some around them may lie better, and what is foreign only adds up. */
function certainGain({ least, most }: ByteAccount, from: number, to: number): number {
  const before = most.subarray(Math.max(0, from - POLLS_AROUND), from + 1);
  return Math.max(...least.subarray(to, to + 1 + POLLS_AROUND)) - Math.min(...before);
}

/** @param bytesPerNs what one poll is off by, bytes/ns */
function sendersOf(
  context: Context,
  sent: readonly (ByteAccount | null)[],
  bytesPerNs: number,
  load: Received,
): ForeignSender[] {
  const lastsNs = load.during.toNs - load.during.fromNs;
  const { nics } = context.topology;
  const gains = sent.map((excess) => (excess === null ? 0 : gainOf(excess, excess.bytes, load.during)));
  // where most NICs send to it, their median is no noise; what their own polls are off by is, added up
  const noise = Math.min(median(gains.map((gain) => Math.abs(gain))), bytesPerNs * lastsNs);
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
  const dropped = gainWithin(context.readNic('nic_out_of_sequence', nic.index), load.during);
  return dropped * PACKET_BYTES > REPEATED_SHARE * load.bytes;
}

/** Foreign bytes here that are missing elsewhere at the same time belong to ranks that moved. */
function moved(received: readonly (ByteAccount | null)[], load: Received): boolean {
  const missing = received.reduce(
    (sum, excess) => sum + (excess === null ? 0 : Math.max(0, -gainOf(excess, excess.raw, load.during))),
    0,
  );
  return missing > MOVED_SHARE * load.bytes;
}
