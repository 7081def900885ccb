/**
 * Which variable uses which link, and how much: the sparse matrix under the max-min solver, editable in place.
 *
 * Both directions are stored as short runs inside shared typed arrays (a variable's links, a link's variables), so
 * that the two hot loops of the solver walk memory in order. Runs have power-of-two room and go back to a free list
 * by size, so that a simulation in its steady state adds and removes variables without allocating.
 */

/** Hands out runs of power-of-two room in one growing index space. */
class RunPool {
  private readonly free: number[][] = [];
  private top = 0;

  /** Offset of a run with room for `2 ** exponent` entries. */
  take(exponent: number): number {
    const reusable = this.free[exponent];
    if (reusable !== undefined && reusable.length > 0) return reusable.pop()!;
    const offset = this.top;
    this.top += 2 ** exponent;
    return offset;
  }

  give(offset: number, exponent: number): void {
    while (this.free.length <= exponent) this.free.push([]);
    this.free[exponent].push(offset);
  }

  /** Highest offset ever handed out, plus its room. */
  get extent(): number {
    return this.top;
  }
}

/** Smallest exponent whose power of two holds `count` entries. */
const exponentFor = (count: number): number => (count <= 1 ? 0 : 32 - Math.clz32(count - 1));

/** A copy of the array with at least `length` entries, grown by doubling. */
export function grownInt32(array: Int32Array, length: number, fill = 0): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(Math.max(length, array.length * 2));
  if (fill !== 0) grown.fill(fill, array.length);
  grown.set(array);
  return grown;
}

/** As {@link grownInt32}, for doubles. */
export function grownFloat64(array: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(Math.max(length, array.length * 2));
  grown.set(array);
  return grown;
}

/**
 * The matrix. Readers walk `variableLinks[i]`, `variableCoefficients[i]` for `i` in
 * `[variableStart[v], variableStart[v] + variableSize[v])`, and likewise for a link; they must not write, and must
 * fetch the arrays anew after every edit, since growth replaces them.
 */
export class Incidence {
  variableStart = new Int32Array(64);
  variableSize = new Int32Array(64);
  private variableRoom = new Int32Array(64);
  variableLinks = new Int32Array(256);
  variableCoefficients = new Float64Array(256);
  /** Where the entry sits in its link's run. */
  private variableMirror = new Int32Array(256);
  private readonly variableRuns = new RunPool();

  readonly linkStart: Int32Array;
  readonly linkSize: Int32Array;
  private readonly linkRoom: Int32Array;
  linkVariables = new Int32Array(256);
  linkCoefficients = new Float64Array(256);
  /** Where the entry sits in its variable's run. */
  private linkMirror = new Int32Array(256);
  private readonly linkRuns = new RunPool();

  constructor(linkCount: number) {
    this.linkStart = new Int32Array(linkCount);
    this.linkSize = new Int32Array(linkCount);
    this.linkRoom = new Int32Array(linkCount).fill(-1);
  }

  /** Enters a variable that is not in the matrix, with the first `count` of its links and coefficients. */
  attach(variable: number, links: Int32Array, coefficients: Float64Array, count: number): void {
    if (variable >= this.variableStart.length) {
      this.variableStart = grownInt32(this.variableStart, variable + 1);
      this.variableSize = grownInt32(this.variableSize, variable + 1);
      this.variableRoom = grownInt32(this.variableRoom, variable + 1);
    }
    const exponent = exponentFor(count);
    const start = this.variableRuns.take(exponent);
    if (this.variableRuns.extent > this.variableLinks.length) {
      this.variableLinks = grownInt32(this.variableLinks, this.variableRuns.extent);
      this.variableCoefficients = grownFloat64(this.variableCoefficients, this.variableRuns.extent);
      this.variableMirror = grownInt32(this.variableMirror, this.variableRuns.extent);
    }
    this.variableStart[variable] = start;
    this.variableSize[variable] = count;
    this.variableRoom[variable] = exponent;
    for (let index = 0; index < count; index++) {
      const entry = start + index;
      const link = links[index];
      const place = this.roomOnLink(link);
      this.variableLinks[entry] = link;
      this.variableCoefficients[entry] = coefficients[index];
      this.variableMirror[entry] = place;
      this.linkVariables[place] = variable;
      this.linkCoefficients[place] = coefficients[index];
      this.linkMirror[place] = entry;
    }
  }

  /** Takes a variable out; the last entry of each of its links moves into the gap. */
  detach(variable: number): void {
    const start = this.variableStart[variable];
    const end = start + this.variableSize[variable];
    for (let entry = start; entry < end; entry++) {
      const link = this.variableLinks[entry];
      const gap = this.variableMirror[entry];
      const last = this.linkStart[link] + --this.linkSize[link];
      if (last === gap) continue;
      this.linkVariables[gap] = this.linkVariables[last];
      this.linkCoefficients[gap] = this.linkCoefficients[last];
      this.linkMirror[gap] = this.linkMirror[last];
      this.variableMirror[this.linkMirror[gap]] = gap;
    }
    this.variableRuns.give(start, this.variableRoom[variable]);
    this.variableSize[variable] = 0;
  }

  /** The next free place in a link's run, moved to a larger run when it is full. */
  private roomOnLink(link: number): number {
    const size = this.linkSize[link]++;
    const exponent = this.linkRoom[link];
    if (exponent >= 0 && size < 2 ** exponent) return this.linkStart[link] + size;
    const from = this.linkStart[link];
    const to = this.linkRuns.take(exponent < 0 ? 2 : exponent + 1);
    if (this.linkRuns.extent > this.linkVariables.length) {
      this.linkVariables = grownInt32(this.linkVariables, this.linkRuns.extent);
      this.linkCoefficients = grownFloat64(this.linkCoefficients, this.linkRuns.extent);
      this.linkMirror = grownInt32(this.linkMirror, this.linkRuns.extent);
    }
    for (let index = 0; index < size; index++) {
      this.linkVariables[to + index] = this.linkVariables[from + index];
      this.linkCoefficients[to + index] = this.linkCoefficients[from + index];
      this.linkMirror[to + index] = this.linkMirror[from + index];
      this.variableMirror[this.linkMirror[to + index]] = to + index;
    }
    if (exponent >= 0) this.linkRuns.give(from, exponent);
    this.linkStart[link] = to;
    this.linkRoom[link] = exponent < 0 ? 2 : exponent + 1;
    return to + size;
  }
}
