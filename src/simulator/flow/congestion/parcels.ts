/**
 * Parcels: what one flow puts on one link in one step of the fluid, in first-in-first-out lists on typed arrays.
 *
 * A parcel is a stretch of a stream (data or ACKs) with a sequence end, so that it can be cut in two and still be in
 * order. Lists are linked through `next`; parcels are recycled, so nothing is allocated once the arrays have grown.
 */
export class Parcels {
  stream = new Int32Array(INITIAL);
  /** Which of the stream's ways it takes, and the place there of the link it waits for or is on. */
  route = new Int32Array(INITIAL);
  hop = new Int32Array(INITIAL);
  /** Packets in it, fractions included; 1 for a NACK. */
  packets = new Float64Array(INITIAL);
  /** Packets of the stream up to its end; for a NACK the packet that is asked for. */
  sequenceEnd = new Float64Array(INITIAL);
  /** Sum of its packets' mark hazards. */
  hazard = new Float64Array(INITIAL);
  /** Step it arrived in, or will arrive in. */
  step = new Float64Array(INITIAL);
  /** When in that step its end passes, ns. */
  tailNs = new Float64Array(INITIAL);
  nack = new Uint8Array(INITIAL);
  next = new Int32Array(INITIAL);
  /** Parcels that exist. */
  inUse = 0;
  private firstFree = -1;
  private created = 0;

  take(): number {
    this.inUse++;
    const free = this.firstFree;
    if (free >= 0) {
      this.firstFree = this.next[free];
      return free;
    }
    if (this.created === this.next.length) this.grow();
    return this.created++;
  }

  free(parcel: number): void {
    this.inUse--;
    this.next[parcel] = this.firstFree;
    this.firstFree = parcel;
  }

  /** Cuts the first `share` (0..1) of a parcel off and returns it; what is left stays, and stays the NACK if it is one. */
  cut(parcel: number, share: number): number {
    const front = this.take();
    const packets = this.packets[parcel] * share;
    const hazard = this.hazard[parcel] * share;
    this.stream[front] = this.stream[parcel];
    this.route[front] = this.route[parcel];
    this.hop[front] = this.hop[parcel];
    this.nack[front] = 0;
    this.step[front] = this.step[parcel];
    this.tailNs[front] = this.tailNs[parcel];
    this.packets[front] = packets;
    this.hazard[front] = hazard;
    this.packets[parcel] -= packets;
    this.hazard[parcel] -= hazard;
    this.sequenceEnd[front] = this.sequenceEnd[parcel] - this.packets[parcel];
    return front;
  }

  private grow(): void {
    const size = this.next.length * 2;
    const ints = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const grown = new Int32Array(size);
      grown.set(old);
      return grown;
    };
    const doubles = (old: Float64Array): Float64Array<ArrayBuffer> => {
      const grown = new Float64Array(size);
      grown.set(old);
      return grown;
    };
    this.stream = ints(this.stream);
    this.route = ints(this.route);
    this.hop = ints(this.hop);
    this.next = ints(this.next);
    this.packets = doubles(this.packets);
    this.sequenceEnd = doubles(this.sequenceEnd);
    this.hazard = doubles(this.hazard);
    this.step = doubles(this.step);
    this.tailNs = doubles(this.tailNs);
    const nack = new Uint8Array(size);
    nack.set(this.nack);
    this.nack = nack;
  }
}

const INITIAL = 1024;

/** First-in-first-out lists of parcels, one per link. */
export class ParcelLists {
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
    this.parcels.next[parcel] = -1;
    if (this.head[list] < 0) this.head[list] = parcel;
    else this.parcels.next[this.tail[list]] = parcel;
    this.tail[list] = parcel;
  }

  /** Takes the first parcel off; the list must have one. */
  shift(list: number): number {
    const parcel = this.head[list];
    this.head[list] = this.parcels.next[parcel];
    return parcel;
  }
}
