/**
 * Courses of packed pieces: in memory while they are few, beyond that outside of it, the oldest first.
 *
 * Where they go is not this room's business: it is handed a place that takes bytes and gives them back. What is asked for
 * comes in blocks, some of which are kept at hand, since neighbours in a piece are read one after the other.
 */
import type { Piece } from './piece.js';

/** Room outside of memory: bytes are appended, and read at any place. */
export interface Backing {
  /** @returns where they begin */
  append(bytes: Uint8Array): number;
  /** Fills `into` with what begins at `at`, as far as there is something. */
  read(at: number, into: Uint8Array): void;
}

/** Courses that are kept in memory, bytes. */
const MOST_BYTES = 512e6;
const BLOCK_BYTES = 1 << 16;
const NUMBER_BYTES = Float64Array.BYTES_PER_ELEMENT;
const NONE = new Float64Array(0);

export interface CourseStoreOptions {
  /** Opens the room outside; asked for once, when memory is used up. Left out: all stays in memory. */
  open?: () => Backing;
  /** Most bytes of courses in memory. */
  mostBytes?: number;
  /** Most blocks at hand of what is outside. */
  mostBlocks?: number;
}

export class CourseStore {
  private readonly inMemory: Piece<Float64Array>[] = [];
  private oldest = 0;
  private bytes = 0;
  private backing: Backing | undefined;
  private readonly blocks = new Map<number, Float64Array>();
  private readonly mostBytes: number;
  private readonly mostBlocks: number;

  constructor(private readonly options: CourseStoreOptions = {}) {
    this.mostBytes = options.mostBytes ?? MOST_BYTES;
    this.mostBlocks = options.mostBlocks ?? 1024;
  }

  /** Takes note of a new piece, and moves old ones out while there are too many. */
  note(piece: Piece<Float64Array>): void {
    if (this.options.open === undefined) return;
    this.inMemory.push(piece);
    this.bytes += piece.courses.byteLength;
    while (this.bytes > this.mostBytes) this.moveOut(this.inMemory[this.oldest++]);
    if (this.oldest > 1024 && 2 * this.oldest > this.inMemory.length) {
      this.inMemory.splice(0, this.oldest);
      this.oldest = 0;
    }
  }

  /** The `count` numbers of a piece's courses from `start` on; not to be written to, nor kept. */
  numbers(piece: Piece<Float64Array>, start: number, count: number): Float64Array {
    if (piece.outsideAt === undefined) return piece.courses.subarray(start, start + count);
    const at = piece.outsideAt + start * NUMBER_BYTES;
    const from = (at % BLOCK_BYTES) / NUMBER_BYTES;
    const block = this.block(Math.floor(at / BLOCK_BYTES));
    if (from + count <= block.length) return block.subarray(from, from + count);
    const out = new Float64Array(count);
    this.backing!.read(at, bytesOf(out));
    return out;
  }

  private moveOut(piece: Piece<Float64Array>): void {
    this.backing ??= this.options.open!();
    this.bytes -= piece.courses.byteLength;
    // The last block may have been read before it was full.
    this.blocks.clear();
    piece.outsideAt = this.backing.append(bytesOf(piece.courses));
    piece.courses = NONE;
  }

  private block(number: number): Float64Array {
    let block = this.blocks.get(number);
    if (block === undefined) {
      block = new Float64Array(BLOCK_BYTES / NUMBER_BYTES);
      this.backing!.read(number * BLOCK_BYTES, bytesOf(block));
    } else this.blocks.delete(number);
    // The newest is the last; the first is the one that was not asked for for longest.
    this.blocks.set(number, block);
    if (this.blocks.size > this.mostBlocks) this.blocks.delete(this.blocks.keys().next().value!);
    return block;
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
