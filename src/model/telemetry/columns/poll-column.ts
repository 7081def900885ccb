/**
 * One metric over all elements of a poll group: a row a round while it is taken, packed pieces of rounds afterwards.
 *
 * Memory and reading cost follow what changes. A sample that did not arrive, one that was answered N/A and one that
 * repeats a stale answer are three codes beside the values, themselves kept only where they occur; the value under
 * such a code is the last one that did arrive. No object and no text is made per sample.
 */
import { QUALITY } from '../series.js';
import { CourseStore } from './course-store.js';
import { courseStart, memberAt, pack, type Piece } from './piece.js';
import type { PollClock, RoundRange } from './poll-clock.js';
import { SharedReads } from './shared-reads.js';

/** Beside the codes of QUALITY: nothing arrived. */
export const ABSENT = 3;

/** How an element is read: worked out, or a counter's whole number. NaN means that the answer was N/A. */
export type Read = ((index: number) => number) | WholeCounter;

/** A counter as devices show it, rounded down; `places` tells where an element's figure is, its own index if left out. */
export class WholeCounter {
  constructor(
    readonly figures: Float64Array | Int32Array,
    readonly places?: Int32Array,
  ) {}

  at(index: number): number {
    return Math.floor(this.figures[this.places === undefined ? index : this.places[index]]);
  }
}

/** Rounds of a piece: enough to share courses, few enough to keep the unpacked rows small. */
const PIECE_ROUNDS = 16;

/** After a piece whose courses are all different, as those of noisy figures are, so many are not searched. */
const PIECES_BETWEEN_SEARCHES = 8;

export class PollColumn {
  readonly size: number;
  private readonly rows: Float64Array;
  /** Where the row of the present round starts. */
  private row = 0;
  private staged = 0;
  private codes?: Uint8Array;
  private stageHasCodes = false;
  /** By element: what it held in the first round, and at the end of the last piece; NaN before its first value. */
  private readonly initial: Float64Array;
  private readonly held: Float64Array;
  /** By element: 1 when some packed value differs from the first; when some sample was no fresh value. */
  private readonly varied: Uint8Array;
  private readonly disturbed: Uint8Array;
  /** By element: 1 when some value differs from the first, as far as rows were written; undefined when one was since. */
  private moved: Uint8Array | undefined = undefined;
  private readonly reads = new SharedReads();
  private readonly fresh: Uint8Array;
  /** By element: 1 when the last answer that arrived was a value. */
  private readonly answered: Uint8Array;
  private packed = 0;
  private seekFrom = 0;
  private readonly values: (Piece<Float64Array> | undefined)[] = [];
  private readonly exceptions: (Piece<Uint8Array> | undefined)[] = [];

  /**
   * @param numbers series number of each element
   * @param store of the courses of values, common to all columns
   */
  constructor(
    readonly clock: PollClock,
    readonly numbers: Int32Array,
    private readonly store = new CourseStore(),
  ) {
    this.size = numbers.length;
    this.rows = new Float64Array(PIECE_ROUNDS * this.size);
    this.initial = new Float64Array(this.size).fill(NaN);
    this.held = new Float64Array(this.size).fill(NaN);
    this.varied = new Uint8Array(this.size);
    this.disturbed = new Uint8Array(this.size);
    this.fresh = new Uint8Array(this.size);
    this.answered = new Uint8Array(this.size);
  }

  /** Opens the row of a round; every element of it must then get a value or a code. */
  begin(): void {
    if (this.staged === PIECE_ROUNDS) this.packStage();
    this.moved = undefined;
    this.row = this.staged++ * this.size;
  }

  /** Takes the values of elements `from` up to `to` of this round. */
  fill(from: number, to: number, indices: Int32Array, read: Read): void {
    this.moved = undefined;
    if (read instanceof WholeCounter) this.count(from, to, indices, read);
    else this.ask(from, to, indices, read);
  }

  private ask(from: number, to: number, indices: Int32Array, read: (index: number) => number): void {
    const { rows, row } = this;
    for (let element = from; element < to; element++) {
      const value = read(indices[element]);
      rows[row + element] = value;
      if (Number.isNaN(value)) this.mark(element, QUALITY.notAvailable);
    }
  }

  private count(from: number, to: number, indices: Int32Array, { figures, places }: WholeCounter): void {
    const { rows, row } = this;
    if (places === undefined) {
      for (let at = from; at < to; at++) rows[row + at] = Math.floor(figures[indices[at]]);
    } else {
      for (let at = from; at < to; at++) rows[row + at] = Math.floor(figures[places[indices[at]]]);
    }
  }

  /** Says of one sample of this round that it is no fresh value. */
  mark(element: number, code: number): void {
    const at = this.row + element;
    this.moved = undefined;
    this.rows[at] = this.row > 0 ? this.rows[at - this.size] : this.held[element];
    this.codes ??= new Uint8Array(this.rows.length);
    this.codes[at] = code;
    this.disturbed[element] = 1;
    this.stageHasCodes = true;
  }

  /** Code and value of a sample of this round. */
  codeNow(element: number): number {
    return this.codes?.[this.row + element] ?? QUALITY.fresh;
  }

  valueNow(element: number): number {
    return this.rows[this.row + element];
  }

  replaceNow(element: number, value: number): void {
    this.moved = undefined;
    this.rows[this.row + element] = value;
  }

  /** Elements `from` up to `to` answer what they answered last; the first time they are asked. */
  hold(from: number, to: number, indices: Int32Array, read: Read): void {
    this.moved = undefined;
    for (let element = from; element < to; element++) {
      const last = this.row > 0 ? this.rows[this.row + element - this.size] : this.held[element];
      if (Number.isNaN(last)) this.fill(element, element + 1, indices, read);
      else this.rows[this.row + element] = last;
    }
  }

  /** Nothing arrives from elements `from` up to `to` in this round. */
  skip(from: number, to: number): void {
    for (let element = from; element < to; element++) this.mark(element, ABSENT);
  }

  /**
   * Decides for each sample of this round that was answered whether it arrives as it was.
   * @param codeOf by series number and round: a code of QUALITY, or ABSENT
   */
  disturb(round: number, codeOf: (series: number, round: number) => number): void {
    const { answered, numbers } = this;
    for (let element = 0; element < this.size; element++) {
      const given = this.codes?.[this.row + element] ?? 0;
      if (given === ABSENT) continue;
      const drawn = given === QUALITY.fresh ? codeOf(numbers[element], round) : given;
      // What never answered with a value has nothing to repeat.
      const code = drawn === QUALITY.repeated && answered[element] === 0 ? QUALITY.fresh : drawn;
      if (code !== QUALITY.fresh && code !== given) this.mark(element, code);
      if (code !== ABSENT) answered[element] = Number(code !== QUALITY.notAvailable);
    }
  }

  /** Every sample of the element was a fresh value. */
  isRegular(element: number): boolean {
    return this.disturbed[element] === 0;
  }

  /** All values of the element are the same. */
  isConstant(element: number): boolean {
    this.moved ??= this.findMoved();
    return this.moved[element] === 0;
  }

  /** All at once: who asks about one element asks about all, and rows are read faster along than across. */
  private findMoved(): Uint8Array {
    const { rows, size, staged } = this;
    const moved = this.varied.slice();
    const first = this.packed > 0 ? this.initial : rows;
    for (let at = 0, row = 0; at < staged; at++, row += size) {
      for (let element = 0; element < size; element++) {
        if (!Object.is(rows[row + element], first[element])) moved[element] = 1;
      }
    }
    return moved;
  }

  /**
   * Values of an element by round; under a code, the last that arrived. Elements with the same values get the same
   * array, so it must not be written to.
   */
  readValues(element: number, range: RoundRange): Float64Array {
    if (this.isConstant(element)) return this.reads.constant(this.firstValue(element), range);
    return this.reads.course(this.courseKey(element), range, () => {
      const out = new Float64Array(range.to - range.from);
      this.read(element, range, out, this.values, this.rows, this.firstValue(element));
      return out;
    });
  }

  /** Codes of an element by round. */
  readCodes(element: number, range: RoundRange): Uint8Array {
    const out = new Uint8Array(range.to - range.from);
    if (this.isRegular(element)) return out;
    // Codes are told of each piece anew: an element without an entry was fresh throughout.
    this.read(element, range, out, this.exceptions, this.codes!, QUALITY.fresh, true);
    return out;
  }

  private firstValue(element: number): number {
    return this.packed > 0 ? this.initial[element] : this.rows[element];
  }

  /** Names the course of an element through all pieces; undefined where some piece tells no two courses apart. */
  private courseKey(element: number): string | undefined {
    STAGED[0] = this.firstValue(element);
    let key = String.fromCharCode(this.staged, ...STAGED_CODES.subarray(0, CODES_PER_NUMBER));
    for (const piece of this.values) {
      const at = piece === undefined ? -1 : memberAt(piece, element);
      if (at >= 0 && piece!.courseOf === undefined) return undefined;
      const course = at < 0 ? 0 : 1 + piece!.courseOf![at];
      key += String.fromCharCode(course & 0x7fff, course >> 15);
    }
    // Rounds that are not packed yet have no numbers for their courses.
    for (let at = 0; at < this.staged; at++) STAGED[at] = this.rows[at * this.size + element];
    return key + String.fromCharCode(...STAGED_CODES.subarray(0, this.staged * CODES_PER_NUMBER));
  }

  private read<T extends Float64Array | Uint8Array>(
    element: number,
    { from, to }: RoundRange,
    out: T,
    pieces: readonly (Piece<T> | undefined)[],
    rows: T,
    before: number,
    anew = false,
  ): void {
    let held = before;
    const packedRounds = pieces.length * PIECE_ROUNDS;
    for (let at = 0, first = 0; at < pieces.length && first < to; at++, first += PIECE_ROUNDS) {
      const piece = pieces[at];
      const start = piece === undefined ? -1 : courseStart(piece, element, PIECE_ROUNDS);
      const [low, high] = [Math.max(from, first), Math.min(to, first + PIECE_ROUNDS)];
      if (start < 0) {
        if (anew) held = before;
        if (low < high) out.fill(held, low - from, high - from);
        continue;
      }
      const course = this.courseOf(piece!, start);
      for (let round = low; round < high; round++) out[round - from] = course[round - first];
      held = course[PIECE_ROUNDS - 1];
    }
    for (let round = Math.max(from, packedRounds); round < to; round++) {
      out[round - from] = rows[(round - packedRounds) * this.size + element];
    }
  }

  private courseOf<T extends Float64Array | Uint8Array>(piece: Piece<T>, start: number): T {
    const { courses } = piece;
    if (courses instanceof Uint8Array) return courses.subarray(start, start + PIECE_ROUNDS) as T;
    return this.store.numbers(piece as Piece<Float64Array>, start, PIECE_ROUNDS) as T;
  }

  private packStage(): void {
    const stage = { size: this.size, rounds: PIECE_ROUNDS };
    if (this.packed === 0) {
      this.initial.set(this.rows.subarray(0, this.size));
      this.held.set(this.initial);
    }
    const seeks = this.packed++ >= this.seekFrom;
    const values = pack({ ...stage, rows: this.rows }, this.held, seeks);
    if (seeks && values !== undefined && values.courseOf === undefined) {
      this.seekFrom = this.packed + PIECES_BETWEEN_SEARCHES;
    }
    for (const element of values?.members ?? []) this.varied[element] = 1;
    this.values.push(values);
    if (values !== undefined) this.store.note(values);
    const { codes } = this;
    this.exceptions.push(
      codes === undefined || !this.stageHasCodes ? undefined : pack({ ...stage, rows: codes }, this.fresh),
    );
    if (this.stageHasCodes) codes?.fill(QUALITY.fresh);
    this.stageHasCodes = false;
    this.held.set(this.rows.subarray((PIECE_ROUNDS - 1) * this.size));
    this.staged = 0;
  }
}

/** Numbers of a key, and the same bits as text: two texts are equal where the numbers are, and faster to make than digits. */
const STAGED = new Float64Array(PIECE_ROUNDS);
const STAGED_CODES = new Uint16Array(STAGED.buffer);
const CODES_PER_NUMBER = STAGED.BYTES_PER_ELEMENT / STAGED_CODES.BYTES_PER_ELEMENT;
