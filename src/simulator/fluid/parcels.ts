/**
 * Parcels: what one flow puts on one link in one step of the fluid, in first-in-first-out lists in one typed array.
 *
 * A parcel is a stretch of a stream (data or ACKs) with a sequence end, so that it can be cut in two and still be in
 * order. It is named by the place of its eight fields in `data`: one cache line, since a run touches far more parcels
 * than a cache holds. Lists are linked through NEXT; parcels are recycled, so nothing is allocated once the array has
 * grown. `data` is another array after growth: read it anew after `take` and `cut`.
 */

/** Place of the link it waits for or is on, on its way (see `Routes`). */
export const PAIR = 0;
/** Packets in it, fractions included; 1 for a NACK. */
export const PACKETS = 1;
/** Packets of the stream up to its end; for a NACK the packet that is asked for. */
export const SEQUENCE_END = 2;
/** Sum of its packets' mark hazards. */
export const HAZARD = 3;
/** Step it arrived in, or will arrive in. */
export const STEP = 4;
/** When in that step its end passes, ns. */
export const TAIL_NS = 5;
/** 1 for a NACK. */
export const NACK = 6;
/** The parcel after it, or -1. */
export const NEXT = 7;
const FIELDS = 8;
const INITIAL = 1024;

export class Parcels {
  data = new Float64Array(FIELDS * INITIAL);
  /** Parcels that exist. */
  inUse = 0;
  private firstFree = -1;
  private end = 0;

  take(): number {
    this.inUse++;
    const free = this.firstFree;
    if (free >= 0) {
      this.firstFree = this.data[free + NEXT];
      return free;
    }
    if (this.end === this.data.length) {
      const grown = new Float64Array(2 * this.data.length);
      grown.set(this.data);
      this.data = grown;
    }
    const parcel = this.end;
    this.end += FIELDS;
    return parcel;
  }

  free(parcel: number): void {
    this.inUse--;
    this.data[parcel + NEXT] = this.firstFree;
    this.firstFree = parcel;
  }

  /** Cuts the first `share` (0..1) of a parcel off and returns it; what is left stays, and stays the NACK if it is one. */
  cut(parcel: number, share: number): number {
    const front = this.take();
    const data = this.data;
    const packets = data[parcel + PACKETS] * share;
    const hazard = data[parcel + HAZARD] * share;
    data[parcel + PACKETS] -= packets;
    data[parcel + HAZARD] -= hazard;
    data[front + PAIR] = data[parcel + PAIR];
    data[front + PACKETS] = packets;
    data[front + SEQUENCE_END] = data[parcel + SEQUENCE_END] - data[parcel + PACKETS];
    data[front + HAZARD] = hazard;
    data[front + STEP] = data[parcel + STEP];
    data[front + TAIL_NS] = data[parcel + TAIL_NS];
    data[front + NACK] = 0;
    return front;
  }
}

/** First-in-first-out lists of parcels, one per link. */
export class ParcelLists {
  /** First parcel of each list, or -1. */
  readonly head: Int32Array;
  private readonly tail: Int32Array;

  constructor(
    private readonly parcels: Parcels,
    count: number,
  ) {
    this.head = new Int32Array(count).fill(-1);
    this.tail = new Int32Array(count).fill(-1);
  }

  append(list: number, parcel: number): void {
    const data = this.parcels.data;
    data[parcel + NEXT] = -1;
    if (this.head[list] < 0) this.head[list] = parcel;
    else data[this.tail[list] + NEXT] = parcel;
    this.tail[list] = parcel;
  }

  /** Takes the first parcel off; the list must have one. */
  shift(list: number): number {
    const parcel = this.head[list];
    this.head[list] = this.parcels.data[parcel + NEXT];
    return parcel;
  }
}
