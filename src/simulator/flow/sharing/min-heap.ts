/** A small binary min-heap of items with keys, in plain arrays; equal keys leave in no particular, but the same order. */
export class MinHeap {
  private readonly items: number[] = [];
  private readonly keys: number[] = [];

  get size(): number {
    return this.items.length;
  }

  /** Infinity when empty. */
  get leastKey(): number {
    return this.keys.length === 0 ? Infinity : this.keys[0];
  }

  push(item: number, key: number): void {
    const { items, keys } = this;
    let place = items.push(item) - 1;
    keys.push(key);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (keys[parent] <= key) break;
      items[place] = items[parent];
      keys[place] = keys[parent];
      place = parent;
    }
    items[place] = item;
    keys[place] = key;
  }

  /** Takes out the item with the least key. */
  pop(): number {
    const { items, keys } = this;
    const least = items[0];
    const item = items.pop()!;
    const key = keys.pop()!;
    const size = items.length;
    if (size === 0) return least;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      if (child + 1 < size && keys[child + 1] < keys[child]) child++;
      if (keys[child] >= key) break;
      items[place] = items[child];
      keys[place] = keys[child];
      place = child;
    }
    items[place] = item;
    keys[place] = key;
    return least;
  }
}
