/**
 * What the collector and the process that watches the lab say to each other: a configuration down, readings up, one JSON
 * object a line. Instants are CLOCK_MONOTONIC, ns.
 */
import type { LinkReading, QueueReading } from './readings.js';

/** Argument vectors of programs that stay; all of them run on the device. */
export interface WatchedNode {
  role: 'host' | 'switch';
  ip: readonly string[];
  /** Null where queueing disciplines see no packets of the fabric. */
  tc: readonly string[] | null;
  /** Null where no rules of ours count: interfaces do, then. */
  nft: readonly string[] | null;
  monitor: readonly string[];
  /** False where the kernel sees next to nothing of what the ports forward: such counters are not told. */
  countsPackets: boolean;
  /** A program that answers each line with the speeds of the ports; null where token buckets say all there is. */
  speeds: readonly string[] | null;
  /** The BFD daemon: its socket, or a program that answers each line with all sessions; null where there is none. */
  bfdd: string | readonly string[] | null;
  /** A program that answers each line with /proc/net/netstat; null where the file can be read from here. */
  netstat: readonly string[] | null;
}

export interface WatchConfiguration {
  nodes: readonly WatchedNode[];
  /** The table of counters that every device has. */
  table: string;
  switchIntervalNs: number;
  hostIntervalNs: number;
  /** Between two looks at the queues of switches. */
  lookNs: number;
  /** A device that does not answer for so long is silent. */
  answerMs: number;
}

export type WatchReading =
  | {
      reading: 'state';
      node: number;
      /** When it was announced, or read where nothing was. */
      atNs: number;
      links: [string, LinkReading][];
      /** Of switches: as `ip -j route` gives it. */
      routes: string | null;
      /** Sessions by interface and whether they are up; null where there is no BFD. */
      bfd: [string, boolean][] | 'no answer' | null;
    }
  | {
      reading: 'counters';
      node: number;
      /** When queues were read, and with them what was sent. */
      atNs: number;
      /** When the rules that count what arrives were read: another program, another instant. */
      arrivedNs: number;
      queues: [string, QueueReading][];
      /** By queue: most bytes seen waiting since the last reading. */
      depths: [string, number][];
      counters: [string, { packets: number; bytes: number }][];
      /** Gbit/s of the ports by themselves, where they are asked. */
      speeds: [string, number][];
      netstat: [string, number][];
    }
  | { reading: 'silent'; node: number; atNs: number; why: string }
  /** CPU time of all that watches, ms, and rounds of polls of switches so far. */
  | { reading: 'cost'; cpuMs: number; rounds: number };
