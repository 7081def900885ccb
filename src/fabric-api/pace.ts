/**
 * How fast a simulated fabric's clock goes beside the wall clock, as files and flags write it: `1x`, `10x`.
 *
 * A pace makes time for people; slower than the real thing it would only make them wait.
 */
import { z } from 'zod';

const SLOWEST = 1;
const FASTEST = 1000;

/** `10x` to 10; undefined when it is no pace. */
export function parsePace(text: string): number | undefined {
  const [, digits] = /^(\d{1,4}(?:\.\d{1,3})?)x$/.exec(text) ?? [];
  const pace = Number(digits);
  return pace >= SLOWEST && pace <= FASTEST ? pace : undefined;
}

export const formatPace = (pace: number): string => `${pace}x`;

const notAPace = (shown: string): string =>
  `${shown} is no pace; write ${SLOWEST}x (as slow as the real thing) to ${FASTEST}x`;

/** Schema: text such as `1x` to simulated seconds a second. */
export const paceSchema = z
  .string({ error: ({ input }) => (typeof input === 'number' ? notAPace(String(input)) : undefined) })
  .transform((text, context) => {
    const pace = parsePace(text);
    if (pace !== undefined) return pace;
    context.addIssue({
      code: 'custom',
      message: notAPace(`"${text}"`),
    });
    return z.NEVER;
  })
  .meta({ description: 'simulated seconds a second of the wall clock, such as 1x or 10x', examples: ['1x'] });
