/**
 * How much of what a worker sent has arrived, and for how long nothing did, by what receivers say.
 *
 * A receiver tells on the same connection how many bytes it has, some tens of times a second. A connection stands still
 * while something is under way and no more arrives from look to look. What is over within a quarter of a second is not
 * told: TCP's own timers are hardly shorter, and a busy machine makes processes wait about as long. The kernel's own table of sockets would say the same of TCP, but reading it takes milliseconds of CPU:
 * it walks the hash table of the whole machine.
 */
import type { EdgeCounters } from './protocol.js';

const LEAST_STALL_NS = 250e6;

interface Meter {
  toRank: number;
  sentBytes: number;
  arrivedBytes: number;
  /** At the last look. */
  seen: { sentBytes: number; arrivedBytes: number };
  stalledNs: number;
  /** Since when it stands still without a break; null while it moves. */
  stillSinceNs: number | null;
}

export class EdgeMeter {
  private readonly meters = new Map<number, Meter>();
  private lookedNs: number | undefined;

  open(toRank: number): void {
    const nothing = { sentBytes: 0, arrivedBytes: 0 };
    this.meters.set(toRank, { toRank, ...nothing, seen: nothing, stalledNs: 0, stillSinceNs: null });
  }

  sent(toRank: number, bytes: number): void {
    const meter = this.meters.get(toRank);
    if (meter !== undefined) meter.sentBytes += bytes;
  }

  /** @param bytes in all, since the connection was opened */
  arrived(toRank: number, bytes: number): void {
    const meter = this.meters.get(toRank);
    if (meter !== undefined) meter.arrivedBytes = Math.max(meter.arrivedBytes, bytes);
  }

  look(nowNs: number): void {
    const sinceNs = this.lookedNs ?? nowNs;
    for (const meter of this.meters.values()) {
      const { sentBytes, arrivedBytes, seen } = meter;
      const wasUnderWay = seen.sentBytes > seen.arrivedBytes;
      if (wasUnderWay && arrivedBytes === seen.arrivedBytes) {
        meter.stillSinceNs ??= sinceNs;
        const stillNs = nowNs - meter.stillSinceNs;
        const before = sinceNs - meter.stillSinceNs;
        if (stillNs >= LEAST_STALL_NS)
          meter.stalledNs += before >= LEAST_STALL_NS ? nowNs - sinceNs : stillNs;
      } else {
        meter.stillSinceNs = null;
      }
      meter.seen = { sentBytes, arrivedBytes };
    }
    this.lookedNs = nowNs;
  }

  counters(): EdgeCounters[] {
    return [...this.meters.values()].map(({ toRank, arrivedBytes, stalledNs }) => ({
      toRank,
      deliveredBytes: arrivedBytes,
      stalledNs,
    }));
  }

  /** The connection that stands still longest, if it does so for longer than this. */
  stuckLongerThan(limitNs: number, nowNs: number): { toRank: number; stillNs: number } | undefined {
    for (const { toRank, stillSinceNs } of this.meters.values()) {
      if (stillSinceNs !== null && nowNs - stillSinceNs > limitNs) {
        return { toRank, stillNs: nowNs - stillSinceNs };
      }
    }
    return undefined;
  }
}
