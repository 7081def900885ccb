/**
 * How much of what a worker sent has been acknowledged, and for how long nothing was: from the kernel's own table of
 * TCP sockets, which every process reads for its own network without a command.
 *
 * The column tx_queue of /proc/net/tcp is what waits for an acknowledgement or for its first transmission
 * (Documentation/networking/proc_net_tcp.rst). A connection stands still when something waits and neither that nor what
 * the kernel was handed has changed since the last look, so that a stall shorter than two looks is not seen.
 */
import { readFileSync } from 'node:fs';
import type { EdgeCounters } from './protocol.js';

const SOCKET_TABLE = '/proc/self/net/tcp';

/** local port × remote port → bytes that wait; closed and listening sockets left out. */
export function parseSocketTable(text: string): Map<string, number> {
  const queues = new Map<string, number>();
  for (const line of text.split('\n').slice(1)) {
    const match =
      /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]{2}) ([0-9A-F]{8}):/.exec(line);
    if (match === null || match[3] === '0A') continue;
    queues.set(
      keyOf(Number.parseInt(match[1], 16), Number.parseInt(match[2], 16)),
      Number.parseInt(match[4], 16),
    );
  }
  return queues;
}

const keyOf = (localPort: number, remotePort: number): string => `${localPort}>${remotePort}`;

interface Meter {
  toRank: number;
  key: string;
  /** Handed to the kernel. */
  flushedBytes: number;
  seen: { flushedBytes: number; waitingBytes: number };
  deliveredBytes: number;
  stalledNs: number;
  /** Since when it stands still without a break; null while it moves. */
  stillSinceNs: number | null;
}

export class EdgeMeter {
  private readonly meters = new Map<number, Meter>();
  private lookedNs: number | undefined;

  constructor(private readonly readTable: () => string = () => readFileSync(SOCKET_TABLE, 'utf8')) {}

  open(toRank: number, sourcePort: number, port: number): void {
    this.meters.set(toRank, {
      toRank,
      key: keyOf(sourcePort, port),
      flushedBytes: 0,
      seen: { flushedBytes: 0, waitingBytes: 0 },
      deliveredBytes: 0,
      stalledNs: 0,
      stillSinceNs: null,
    });
  }

  flushed(toRank: number, bytes: number): void {
    const meter = this.meters.get(toRank);
    if (meter !== undefined) meter.flushedBytes += bytes;
  }

  look(nowNs: number): void {
    const queues = parseSocketTable(this.readTable());
    const sinceNs = this.lookedNs ?? nowNs;
    for (const meter of this.meters.values()) {
      const waitingBytes = queues.get(meter.key) ?? 0;
      const { flushedBytes, seen } = meter;
      const still =
        waitingBytes > 0 && waitingBytes === seen.waitingBytes && flushedBytes === seen.flushedBytes;
      if (still) {
        meter.stalledNs += nowNs - sinceNs;
        meter.stillSinceNs ??= sinceNs;
      } else {
        meter.stillSinceNs = null;
      }
      meter.seen = { flushedBytes, waitingBytes };
      // A piece that is half in the kernel waits there before it counts as flushed.
      meter.deliveredBytes = Math.max(meter.deliveredBytes, flushedBytes - waitingBytes);
    }
    this.lookedNs = nowNs;
  }

  counters(): EdgeCounters[] {
    return [...this.meters.values()].map(({ toRank, deliveredBytes, stalledNs }) => ({
      toRank,
      deliveredBytes,
      stalledNs,
    }));
  }

  /** The connection that stands still longest, if it does so for longer than this. */
  stuckLongerThan(limitNs: number, nowNs: number): { toRank: number; stillNs: number } | undefined {
    for (const { toRank, stillSinceNs } of this.meters.values()) {
      if (stillSinceNs !== null && nowNs - stillSinceNs > limitNs)
        return { toRank, stillNs: nowNs - stillSinceNs };
    }
    return undefined;
  }
}
