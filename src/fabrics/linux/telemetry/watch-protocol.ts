/**
 * What the collector and the process that watches the lab say to each other: a configuration down, readings up, one JSON
 * object a line. Instants are CLOCK_MONOTONIC, ns.
 */
import type { LinkReading, QueueReading } from './readings.js';

/** Argument vectors of programs that stay; all of them run in the device's namespace. */
export interface WatchedNode {
  role: 'host' | 'switch';
  ip: readonly string[];
  tc: readonly string[];
  nft: readonly string[];
  monitor: readonly string[];
  /** Socket of the BFD daemon; null where there is none. */
  bfdd: string | null;
}

export interface WatchConfiguration {
  nodes: readonly WatchedNode[];
  /** The table of counters that every device has. */
  table: string;
  switchIntervalNs: number;
  hostIntervalNs: number;
  /** Between two looks at the queues of switches. */
  lookNs: number;
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
      bfd: [string, boolean][] | null;
    }
  | {
      reading: 'counters';
      node: number;
      atNs: number;
      queues: [string, QueueReading][];
      /** By queue: most bytes seen waiting since the last reading. */
      depths: [string, number][];
      counters: [string, { packets: number; bytes: number }][];
      netstat: [string, number][];
    }
  | { reading: 'silent'; node: number; atNs: number; why: string }
  /** CPU time of all that watches, ms, and rounds of polls of switches so far. */
  | { reading: 'cost'; cpuMs: number; rounds: number };
