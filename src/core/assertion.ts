/**
 * Assertions that stay in production: a broken invariant ends the computation with what, where and the values.
 *
 * They stand where a wrong number would spread unseen, such as a rate that is NaN and stops a clock. Each costs a
 * comparison or two and allocates nothing while it holds, so hot loops may use them. What fails here is our own bug,
 * never the input: the drill ends as `error` (exit code 70).
 */

/** An invariant of the program does not hold. */
export class InternalError extends Error {
  override readonly name = 'InternalError';

  constructor(
    /** What does not hold, a sentence without a full stop. */
    readonly what: string,
    /** The element, function or event where it was seen. */
    readonly where: string,
    readonly values: Readonly<Record<string, number | string>> = {},
  ) {
    const shown = Object.entries(values).map(([name, value]) => `${name} = ${value}`);
    super(`internal error: ${what} (${[where, ...shown].join(', ')})`);
  }
}

/**
 * Holds for what may be a rate, an amount or a length of time.
 * @param index of the element among its kind; -1 where there is none
 */
export function assertAmount(value: number, what: string, where: string, index = -1): void {
  if (value >= 0 && value < Infinity) return;
  throw new InternalError(
    `${what} must be finite and not negative`,
    index < 0 ? where : `${where} ${index}`,
    { value },
  );
}

/** Holds for any number; as {@link assertAmount} but for the sign. */
export function assertFinite(value: number, what: string, where: string, index = -1): void {
  if (value > -Infinity && value < Infinity) return;
  throw new InternalError(`${what} must be finite`, index < 0 ? where : `${where} ${index}`, { value });
}

/** Holds for a clock that does not go back and is no NaN. */
export function assertClock(nowNs: number, nextNs: number, where: string): void {
  if (nextNs >= nowNs && nextNs < Infinity) return;
  throw new InternalError('simulated time must go on', where, { nowNs, nextNs });
}
