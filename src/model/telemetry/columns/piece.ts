/**
 * A stretch of rounds of one metric, packed: only the elements whose value moved in it, and each distinct course once.
 *
 * In a training fabric most counters stand still, and those that move do so in step: all ports on the way of a ring
 * carry the same bytes. So a piece lists its *members* (elements that differ from the value held before), and members
 * with the same course of values share one. Packing loses nothing: values come back bit for bit, NaN included.
 * Not modelled: compression of a single course (counters are left to the codec of the file they end up in).
 */

/** Values or codes, one kind a piece. */
type Numbers = Float64Array | Uint8Array;

export interface Piece<T extends Numbers> {
  /** Elements that are not at their held value throughout, ascending. */
  members: Int32Array;
  /** By member: which course it took. Undefined where each has its own, in the order of members. */
  courseOf?: Int32Array;
  /** Courses, `rounds` numbers each; empty when they are outside of memory. */
  courses: T;
  /** Where they are then, bytes from the beginning. */
  outsideAt?: number;
}

/** Rows of rounds as they were taken: `rows[round * size + element]`. */
export interface Stage<T extends Numbers> {
  rows: T;
  size: number;
  rounds: number;
}

/**
 * Packs a stage; undefined when every element stayed at what it held before.
 * @param seekEqual false where courses are known to be all different, so that looking for equal ones is in vain
 */
export function pack<T extends Numbers>(stage: Stage<T>, held: T, seekEqual = true): Piece<T> | undefined {
  const members = movers(stage, held);
  if (members.length === 0) return undefined;
  if (!seekEqual) return { members, courses: copyCourses(stage, members) };
  const { courseOf, firsts } = sameCourses(stage, members);
  const courses = copyCourses(stage, firsts);
  return firsts.length === members.length ? { members, courses } : { members, courseOf, courses };
}

/** Position of an element among the members, -1 when it stayed at its held value. */
export function memberAt({ members }: Piece<Numbers>, element: number): number {
  let low = 0;
  let high = members.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (members[middle] < element) low = middle + 1;
    else high = middle;
  }
  return members[low] === element ? low : -1;
}

/** Where an element's course starts in `courses`; -1 when it stayed at its held value. */
export function courseStart(piece: Piece<Numbers>, element: number, rounds: number): number {
  const at = memberAt(piece, element);
  if (at < 0) return -1;
  return (piece.courseOf === undefined ? at : piece.courseOf[at]) * rounds;
}

function movers<T extends Numbers>({ rows, size, rounds }: Stage<T>, held: T): Int32Array {
  const moved = new Uint8Array(size);
  let count = 0;
  for (let round = 0; round < rounds; round++) {
    const start = round * size;
    for (let element = 0; element < size; element++) {
      // NaN is the same as NaN, and -0 is not 0.
      if (Object.is(rows[start + element], held[element]) || moved[element] === 1) continue;
      moved[element] = 1;
      count++;
    }
  }
  const members = new Int32Array(count);
  for (let element = 0, at = 0; at < count; element++) if (moved[element] === 1) members[at++] = element;
  return members;
}

/** Numbers the distinct courses in order of their first member. */
function sameCourses<T extends Numbers>(
  stage: Stage<T>,
  members: Int32Array,
): { courseOf: Int32Array; firsts: Int32Array } {
  let capacity = 4;
  while (capacity < 2 * members.length) capacity *= 2;
  const slots = new Int32Array(capacity).fill(-1);
  const courseOf = new Int32Array(members.length);
  const firsts = new Int32Array(members.length);
  let count = 0;
  for (let at = 0; at < members.length; at++) {
    let slot = hashCourse(stage, members[at]) & (capacity - 1);
    while (slots[slot] >= 0 && !equalCourses(stage, firsts[slots[slot]], members[at])) {
      slot = (slot + 1) & (capacity - 1);
    }
    if (slots[slot] < 0) {
      slots[slot] = count;
      firsts[count++] = members[at];
    }
    courseOf[at] = slots[slot];
  }
  return { courseOf, firsts: firsts.subarray(0, count) };
}

const bits = new Float64Array(1);
const words = new Uint32Array(bits.buffer);

/** By the first, middle and last value: courses that agree there seldom differ elsewhere. */
function hashCourse({ rows, size, rounds }: Stage<Numbers>, element: number): number {
  let hash = 0;
  for (const round of [0, rounds >> 1, rounds - 1]) {
    bits[0] = rows[round * size + element];
    hash = Math.imul(hash ^ words[0], 0x9e3779b1) ^ (hash >>> 15);
    hash = Math.imul(hash ^ words[1], 0x85ebca6b) ^ (hash >>> 13);
  }
  return (hash ^ (hash >>> 16)) >>> 0;
}

function equalCourses({ rows, size, rounds }: Stage<Numbers>, one: number, other: number): boolean {
  for (let round = 0; round < rounds; round++) {
    if (!Object.is(rows[round * size + one], rows[round * size + other])) return false;
  }
  return true;
}

function copyCourses<T extends Numbers>({ rows, size, rounds }: Stage<T>, elements: Int32Array): T {
  const courses = (
    rows instanceof Float64Array
      ? new Float64Array(elements.length * rounds)
      : new Uint8Array(elements.length * rounds)
  ) as T;
  for (let course = 0; course < elements.length; course++) {
    for (let round = 0; round < rounds; round++) {
      courses[course * rounds + round] = rows[round * size + elements[course]];
    }
  }
  return courses;
}
