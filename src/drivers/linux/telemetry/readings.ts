/**
 * What Linux's own tools say, as figures: links, queues, counters of the lab's rule set, sessions, TCP.
 *
 * Sources: `ip -s -s -j link`, `tc -s -j qdisc` (iproute2 6.1), `nft -j list counters` (1.0.6), `show bfd peers json`
 * (FRR 8.4), /proc/net/netstat (kernel documentation snmp_counter). Text that is not
 * what it should be is an error, not a zero.
 */

import { counterName } from '../lab/counter-name.js';

/** From the frame's own header, which counters of netfilter leave out and those of queues do not. */
const FRAME_BYTES = 14;

export interface LinkReading {
  operUp: boolean;
  adminUp: boolean;
  downEvents: number;
  txDropped: number;
}

interface LinkRow {
  ifname: string;
  flags: string[];
  stats64?: {
    rx: { bytes: number; packets: number; errors: number };
    tx: { bytes: number; dropped: number; carrier_changes?: number };
  };
}

/** By interface. */
export function parseLinks(text: string): Map<string, LinkReading> {
  return new Map(
    (JSON.parse(text) as LinkRow[]).map(({ ifname, flags, stats64 }) => {
      const operUp = flags.includes('UP') && flags.includes('LOWER_UP');
      return [
        ifname,
        {
          operUp,
          adminUp: flags.includes('UP'),
          // Carrier comes and goes in turn, and a new interface begins without.
          downEvents: Math.ceil((stats64?.tx.carrier_changes ?? NaN) / 2),
          txDropped: stats64?.tx.dropped ?? NaN,
        },
      ];
    }),
  );
}

/**
 * By interface: Gbit/s of its own. @param text `p1 25000;p2 -1;` of /sys/class/net/NAME/speed; what is not positive is unknown
 */
export function parseSpeeds(text: string): Map<string, number> {
  return new Map(
    text.split(';').flatMap((entry) => {
      const [name, mbps] = entry.trim().split(' ');
      return Number(mbps) > 0 ? [[name, Number(mbps) / 1000] as const] : [];
    }),
  );
}

export interface QueueReading {
  /** NaN without a rate limit. */
  rateGbps: number;
  sentBytes: number;
  dropped: number;
  backlogBytes: number;
}

interface QueueRow {
  kind: string;
  dev: string;
  root?: boolean;
  options: { rate?: number };
  bytes: number;
  drops: number;
  backlog: number;
}

/** By interface: its root queue. */
export function parseQueues(text: string): Map<string, QueueReading> {
  return new Map(
    (JSON.parse(text) as QueueRow[])
      .filter(({ root }) => root === true)
      .map(({ dev, options, bytes, drops, backlog }) => [
        dev,
        {
          rateGbps: ((options.rate ?? NaN) * 8) / 1e9,
          sentBytes: bytes,
          dropped: drops,
          backlogBytes: backlog,
        },
      ]),
  );
}

interface CounterRow {
  counter?: { name: string; packets: number; bytes: number };
}

/** By name: packets, and bytes with their frame headers. */
export function parseCounters(text: string): Map<string, { packets: number; bytes: number }> {
  const { nftables } = JSON.parse(text) as { nftables: CounterRow[] };
  return new Map(
    nftables.flatMap(({ counter }) =>
      counter === undefined
        ? []
        : [
            [
              counter.name,
              { packets: counter.packets, bytes: counter.bytes + FRAME_BYTES * counter.packets },
            ] as const,
          ],
    ),
  );
}

/** By interface: whether the BFD session over it is up. */
export function parseBfdPeers(text: string): Map<string, boolean> {
  const peers = JSON.parse(text) as { interface?: string; status: string }[];
  return new Map(
    peers.flatMap(({ interface: name, status }) => (name === undefined ? [] : [[name, status === 'up']])),
  );
}

/** `TcpExt.TCPTimeouts` and the like to their values. */
export function parseNetstat(text: string): Map<string, number> {
  const values = new Map<string, number>();
  const lines = text.split('\n').filter((line) => line !== '');
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const [group, ...names] = lines[at].split(' ');
    const [, ...numbers] = lines[at + 1].split(' ');
    names.forEach((name, index) => values.set(`${group.replace(':', '')}.${name}`, Number(numbers[index])));
  }
  return values;
}

/** Where no rules count: what interfaces have received, under the names of the rules' counters. */
export function countersOfLinks(text: string): Map<string, { packets: number; bytes: number }> {
  return new Map(
    (JSON.parse(text) as LinkRow[]).flatMap(({ ifname, stats64 }) =>
      stats64 === undefined
        ? []
        : [
            [counterName('rx', ifname), { packets: stats64.rx.packets, bytes: stats64.rx.bytes }] as const,
            [counterName('damaged', ifname), { packets: stats64.rx.errors, bytes: NaN }] as const,
          ],
    ),
  );
}

/** Where queues can't be seen: what interfaces have sent. Speed and what waits are not known. */
export function queuesOfLinks(text: string): Map<string, QueueReading> {
  return new Map(
    (JSON.parse(text) as LinkRow[]).flatMap(({ ifname, stats64 }) =>
      stats64 === undefined
        ? []
        : [[ifname, { rateGbps: NaN, sentBytes: stats64.tx.bytes, dropped: 0, backlogBytes: NaN }] as const],
    ),
  );
}
