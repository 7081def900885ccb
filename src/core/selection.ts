/**
 * Selection: order statistics of numbers in place, without sorting them (Hoare, Algorithm 65: FIND, CACM 1961).
 *
 * Expected time is linear, with no allocation. Not modelled: NaN, which has no place among numbers.
 */

/**
 * Moves the smallest `least` of the first `count` numbers to the front, in any order.
 * @param values none of the first `count` is NaN; they are left in another order
 */
export function selectSmallest(values: Float64Array, count: number, least: number): void {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1];
    let left = low;
    let right = high;
    while (left <= right) {
      while (values[left] < pivot) left++;
      while (values[right] > pivot) right--;
      if (left > right) break;
      const value = values[left];
      values[left++] = values[right];
      values[right--] = value;
    }
    // nothing left of `left` is larger than what is right of `right`
    if (least <= right) high = right;
    else if (least > left) low = left;
    else return;
  }
}

/** The value that would be at a place (from 0) if the first `count` numbers were sorted; they are left in another order. */
export function valueAtPlace(values: Float64Array, count: number, place: number): number {
  selectSmallest(values, count, place + 1);
  let largest = -Infinity;
  for (let index = 0; index <= place; index++) if (values[index] > largest) largest = values[index];
  return largest;
}
