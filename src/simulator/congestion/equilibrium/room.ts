/** Arrays that grow and stay grown: no solve after the first of its size allocates. */

/** The array itself if it has room, else a copy of at least twice its length. */
export function roomInt32(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  if (array.length >= length) return array as Int32Array<ArrayBuffer>;
  const grown = new Int32Array(Math.max(length, 2 * array.length));
  grown.set(array);
  return grown;
}

/** As {@link roomInt32}, for doubles. */
export function roomFloat64(array: Float64Array, length: number): Float64Array<ArrayBuffer> {
  if (array.length >= length) return array as Float64Array<ArrayBuffer>;
  const grown = new Float64Array(Math.max(length, 2 * array.length));
  grown.set(array);
  return grown;
}

/** As {@link roomInt32}, for bytes. */
export function roomBytes(array: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  if (array.length >= length) return array as Uint8Array<ArrayBuffer>;
  const grown = new Uint8Array(Math.max(length, 2 * array.length));
  grown.set(array);
  return grown;
}
