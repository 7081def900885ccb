/**
 * Nearest-name hints for mistyped keys and element names.
 *
 * Optimal string alignment distance (Damerau-Levenshtein without repeated edits of a substring): a swapped pair of
 * letters, the most common slip, counts one. Own code because the pure rooms may import nothing but zod.
 */

/** Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let best = Math.min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, beforePrevious[column - 2] + 1);
      }
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length];
}

/**
 * The choice closest to `word`, or undefined when none is close enough to be meant
 * (more than a third of the longer word, at least two edits, would have to change).
 */
export function nearest(word: string, choices: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const meant = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const choice of choices) {
    const most = Math.max(2, Math.floor(Math.max(word.length, choice.length) / 3));
    // so many letters have to be added or taken away at least
    if (Math.abs(word.length - choice.length) > Math.min(most, bestDistance - 1)) continue;
    const distance = editDistance(meant, choice.toLowerCase());
    if (distance < bestDistance && distance <= most) {
      best = choice;
      bestDistance = distance;
    }
  }
  return best;
}

/** No name is longer; the distance takes time with the product of both lengths. */
const LONGEST_WORD = 300;

/** `did you mean "x"?`, or undefined when nothing is near. */
export function nearestHint(word: string, choices: Iterable<string>): string | undefined {
  const choice = nearest(word, choices);
  return choice === undefined ? undefined : `did you mean "${choice}"?`;
}

/** `a, b, c` or `a, b, c, … (57 in all)`: the valid choices, short enough to read. */
export function listChoices(choices: Iterable<string>, most = 12): string {
  const all = [...choices];
  return all.length <= most ? all.join(', ') : `${all.slice(0, most).join(', ')}, … (${all.length} in all)`;
}
