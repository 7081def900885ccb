/**
 * What is shown of congestion at present: a picture for each contended group, or for groups whose buffers meet.
 *
 * Pieces have no queue in common, so that one comes and goes without the others being touched; only the buffer of a
 * switch is a sum over them. A piece is counted when it goes and when somebody reads counters. Amounts in buffers are
 * rounded to 2^-10 bytes (congestion-picture.ts), so that sums are exact and nothing is left over at the end.
 */
import type { Counters } from '../sampling/counters.js';
import type { Piece } from './flow-group.js';
import { gain } from './gains.js';

export class Pieces {
  /** In order of their first groups. */
  shown: readonly Piece[] = [];
  /** By direction: 1 where its sender is held some of the time. */
  readonly paused: Uint8Array;
  /** By device: bytes that all pieces have of its buffer in the steady state. */
  private readonly bufferBytes: Float64Array;

  constructor(
    private readonly counters: Counters,
    directions: number,
    devices: number,
  ) {
    this.paused = new Uint8Array(directions);
    this.bufferBytes = new Float64Array(devices);
  }

  /** Shows these from now on, and no others. */
  replace(nowNs: number, next: readonly Piece[]): void {
    const stay = new Set(next);
    for (const piece of this.shown) if (!stay.has(piece)) this.hide(nowNs, piece);
    const before = new Set(this.shown);
    for (const piece of next) if (!before.has(piece)) this.show(nowNs, piece);
    this.shown = next;
  }

  /** Counts the time up to now. */
  account(nowNs: number): void {
    for (const piece of this.shown) this.count(nowNs, piece);
  }

  /** A queue (class × directions + direction) sends nothing though flows cross it. */
  isStuck(queue: number): boolean {
    return this.shown.some(({ picture }) => picture.stuck.has(queue));
  }

  private count(nowNs: number, piece: Piece): void {
    const spanNs = nowNs - piece.sinceNs;
    piece.sinceNs = nowNs;
    if (spanNs === 0) return;
    const { counters } = this;
    const { gains, queues, buffers } = piece.picture;
    gain(gains, spanNs);
    for (const { classIndex, direction, mostBytes, rate, bytes } of queues) {
      // A state that held for less than a queue needs to build up never saw its peak.
      const seen = Math.max(bytes, Math.min(mostBytes, rate * spanNs));
      if (seen > counters.queuedMost[classIndex][direction]) {
        counters.queuedMost[classIndex][direction] = seen;
      }
    }
    for (const [device, bytes, mostBytes] of buffers) {
      const peak = this.bufferBytes[device] - bytes + mostBytes;
      if (peak > counters.bufferUsedMost[device]) counters.bufferUsedMost[device] = peak;
    }
  }

  private hide(nowNs: number, piece: Piece): void {
    this.count(nowNs, piece);
    const { buffers, paused } = piece.picture;
    for (const [device, bytes] of buffers) this.bufferBytes[device] -= bytes;
    for (const direction of paused) this.paused[direction] = 0;
  }

  private show(nowNs: number, piece: Piece): void {
    piece.sinceNs = nowNs;
    const { buffers, paused } = piece.picture;
    for (const [device, bytes] of buffers) this.bufferBytes[device] += bytes;
    for (const direction of paused) this.paused[direction] = 1;
  }
}
