/**
 * An indexed 4-ary min-heap on typed arrays: the event list of the simulator.
 *
 * Items are small integers (slots) with a double as key; a key can be changed or an item removed in O(log n)
 * because every item knows its place. Ties are broken by the order of insertion (or last change), which makes a
 * run's event order, and so its bytes, depend on the seed alone.
 */
export class IndexedHeap {
  private keys: Float64Array;
  private order: Float64Array;
  private heap: Int32Array;
  /** Place of an item in the heap, -1 when absent. */
  private place: Int32Array;
  private count = 0;
  private stamp = 0;

  /** @param capacity highest item number + 1 expected; grows by doubling */
  constructor(capacity = 64) {
    this.keys = new Float64Array(capacity);
    this.order = new Float64Array(capacity);
    this.heap = new Int32Array(capacity);
    this.place = new Int32Array(capacity).fill(-1);
  }

  get size(): number {
    return this.count;
  }

  has(item: number): boolean {
    return item < this.place.length && this.place[item] >= 0;
  }

  /** The key of an item that is in the heap. */
  keyOf(item: number): number {
    return this.keys[item];
  }

  /** The item with the smallest key, or -1 when empty. */
  peek(): number {
    return this.count === 0 ? -1 : this.heap[0];
  }

  /** The smallest key, or Infinity when empty. */
  peekKey(): number {
    return this.count === 0 ? Infinity : this.keys[this.heap[0]];
  }

  /** Inserts the item or changes its key. */
  set(item: number, key: number): void {
    if (item >= this.place.length) this.grow(item + 1);
    let place = this.place[item];
    // An equal key moves down: its order is the latest.
    const rises = place < 0 || key < this.keys[item];
    this.keys[item] = key;
    this.order[item] = this.stamp++;
    if (place < 0) {
      place = this.count++;
      this.heap[place] = item;
    }
    if (rises) this.siftUp(place);
    else this.siftDown(place);
  }

  /** Removes the item if it is there. */
  remove(item: number): void {
    if (!this.has(item)) return;
    const place = this.place[item];
    this.place[item] = -1;
    const last = this.heap[--this.count];
    if (last === item) return;
    this.heap[place] = last;
    this.place[last] = place;
    this.siftDown(this.siftUp(place));
  }

  /** Removes and returns the item with the smallest key; -1 when empty. */
  pop(): number {
    const item = this.peek();
    if (item >= 0) this.remove(item);
    return item;
  }

  private before(a: number, b: number): boolean {
    return this.keys[a] < this.keys[b] || (this.keys[a] === this.keys[b] && this.order[a] < this.order[b]);
  }

  private siftUp(start: number): number {
    let place = start;
    const item = this.heap[place];
    while (place > 0) {
      const parent = (place - 1) >> 2;
      const other = this.heap[parent];
      if (!this.before(item, other)) break;
      this.heap[place] = other;
      this.place[other] = place;
      place = parent;
    }
    this.heap[place] = item;
    this.place[item] = place;
    return place;
  }

  private siftDown(start: number): void {
    let place = start;
    const item = this.heap[place];
    for (;;) {
      const first = place * 4 + 1;
      if (first >= this.count) break;
      const end = Math.min(first + 4, this.count);
      let smallest = first;
      for (let child = first + 1; child < end; child++) {
        if (this.before(this.heap[child], this.heap[smallest])) smallest = child;
      }
      const other = this.heap[smallest];
      if (!this.before(other, item)) break;
      this.heap[place] = other;
      this.place[other] = place;
      place = smallest;
    }
    this.heap[place] = item;
    this.place[item] = place;
  }

  private grow(least: number): void {
    const capacity = Math.max(least, this.place.length * 2);
    const keys = new Float64Array(capacity);
    keys.set(this.keys);
    this.keys = keys;
    const order = new Float64Array(capacity);
    order.set(this.order);
    this.order = order;
    const heap = new Int32Array(capacity);
    heap.set(this.heap);
    this.heap = heap;
    const place = new Int32Array(capacity).fill(-1);
    place.set(this.place);
    this.place = place;
  }
}
