/**
 * When a gate looks at what it has, and how sure it must be each time.
 *
 * Looking early saves runs, and looking often finds something sooner or later by chance. So the allowed chance of error
 * α is spent over the looks: after a share t of the seeds α·t² may have been spent (the power family of Kim and DeMets
 * 1987, exponent 2), and a look has what came since the last one. By Bonferroni the chances of all looks add up to α at
 * most, without assuming anything about how looks depend on each other. A look at which even the worst outcome could not
 * be significant is left out.
 */
import { InputError } from '../core/problem.js';
import { PAIRED, type SampleDesign } from './samples.js';

export interface Look {
  /** Seeds that have been run by then. */
  seeds: number;
  /** A p-value up to this decides. */
  level: number;
}

/** Shares of the seeds after which is looked. */
const LOOK_SHARES = [0.5, 0.75, 1] as const;
const ROUNDING = 1e-12;

/** Fewest seeds with which anything can be shown at a level, and so fewest runs a side. */
export function fewestSeeds(alpha: number, { smallestP }: Pick<SampleDesign, 'smallestP'> = PAIRED): number {
  let seeds = 1;
  while (smallestP(seeds) > alpha + ROUNDING) seeds++;
  return seeds;
}

/**
 * @param pointer of the number of seeds in the suite
 * @throws InputError when no outcome of these seeds could be significant
 */
export function planLooks(
  seeds: number,
  alpha: number,
  pointer = '/spec/seeds',
  design: Pick<SampleDesign, 'smallestP' | 'looksEarly'> = PAIRED,
): Look[] {
  const least = fewestSeeds(alpha, design);
  if (seeds < least) {
    const message = `with ${seeds} seed${seeds === 1 ? '' : 's'} nothing can be shown at the level ${alpha}, not even the worst regression: a gate needs at least ${least}`;
    const paired = fewestSeeds(alpha);
    const simulated = least < paired ? `${paired} between simulated fabrics; ` : '';
    throw InputError.at(pointer, message, `${simulated}the default is 16`);
  }
  if (!design.looksEarly) return [{ seeds, level: alpha }];
  const looks: Look[] = [];
  let spent = 0;
  for (const share of LOOK_SHARES) {
    const at = Math.ceil(seeds * share);
    const due = alpha * (at / seeds) ** 2;
    if (at <= (looks.at(-1)?.seeds ?? 0) || design.smallestP(at) > due - spent) continue;
    // The last look must be left enough.
    if (at < seeds && design.smallestP(seeds) > alpha - due) continue;
    looks.push({ seeds: at, level: due - spent });
    spent = due;
  }
  return looks;
}
