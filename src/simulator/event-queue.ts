/**
 * The engine's event list: numbered slots with a kind and two small integers, ordered by time, then by insertion.
 *
 * Slots are recycled, so nothing is allocated per event once the arrays have grown. Same insertions, same order:
 * the byte-for-byte repeatability of a run rests on this file.
 */
import { assertAmount } from '../core/assertion.js';
import { IndexedHeap } from '../core/heap.js';

export class EventQueue {
  private readonly heap = new IndexedHeap();
  private kinds = new Uint8Array(64);
  private subjects = new Int32Array(64);
  private details = new Float64Array(64);
  private readonly free: number[] = [];
  private used = 0;
  /** Kind, subject and detail of the event that `pop` returned last. */
  kind = 0;
  subject = 0;
  detail = 0;

  /** Time of the next event, Infinity when there is none. */
  get nextNs(): number {
    return this.heap.peekKey();
  }

  /** @returns a slot for `cancel`, good until the event has fired */
  schedule(timeNs: number, kind: number, subject: number, detail = 0): number {
    assertAmount(timeNs, 'the time of an event', 'event of kind', kind);
    const slot = this.free.pop() ?? this.used++;
    if (slot >= this.kinds.length) this.grow();
    this.kinds[slot] = kind;
    this.subjects[slot] = subject;
    this.details[slot] = detail;
    this.heap.set(slot, timeNs);
    return slot;
  }

  /** Moves an event that has not fired to another time. */
  move(slot: number, timeNs: number): void {
    assertAmount(timeNs, 'the time of an event', 'event of kind', this.kinds[slot]);
    this.heap.set(slot, timeNs);
  }

  /** @param slot of an event that has not fired, or -1 */
  cancel(slot: number): void {
    if (slot < 0 || !this.heap.has(slot)) return;
    this.heap.remove(slot);
    this.free.push(slot);
  }

  /** Takes the next event off the list into `kind`, `subject` and `detail`. */
  pop(): void {
    const slot = this.heap.pop();
    this.kind = this.kinds[slot];
    this.subject = this.subjects[slot];
    this.detail = this.details[slot];
    this.free.push(slot);
  }

  private grow(): void {
    const capacity = this.kinds.length * 2;
    const kinds = new Uint8Array(capacity);
    kinds.set(this.kinds);
    this.kinds = kinds;
    const subjects = new Int32Array(capacity);
    subjects.set(this.subjects);
    this.subjects = subjects;
    const details = new Float64Array(capacity);
    details.set(this.details);
    this.details = details;
  }
}
