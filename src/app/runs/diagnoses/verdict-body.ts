/**
 * A verdict that somebody else came to, as it is sent: the shape of the stable interface, with what a monitoring
 * system may leave out filled in.
 *
 * Only `faultFound` and `culprits` are needed, and of a culprit its kind, element and probability. An element that
 * does not exist on the fabric is a slip of the pen and refused, since it could only ever score nothing.
 */
import { z } from 'zod';
import { AREAS, type Verdict } from '../../../diagnosis/verdict.js';
import { ELEMENT_TYPES } from '../../../core/elements.js';
import { InputError, type InputIssue } from '../../../core/problem.js';
import { nearestHint } from '../../../core/nearest.js';
import { CULPRIT_KINDS, SIDES, type Direction } from '../../../model/telemetry/vocabulary.js';

const text = z.string().max(10_000);
const share = z.number().min(0).max(1).nullable().default(null);
const seconds = z.number().nullable().default(null);

const elementSchema = z
  .strictObject({ type: z.enum(ELEMENT_TYPES), id: z.string().min(1).max(300) })
  .refine(({ type, id }) => id.startsWith(`${type}:`), {
    path: ['id'],
    message: 'begins with its type and a colon, as in link:a--b',
  });

const directionSchema = z
  .string()
  .refine(
    (value) => value === 'both' || value.startsWith('port:'),
    '"both", or the id of the port that sends',
  )
  .default('both')
  .transform((value) => value as Direction);

const citedSchema = z.strictObject({
  metric: z.string().min(1).max(100),
  element: z.string().min(1).max(300),
  change: text.default(''),
  window: z.tuple([z.number(), z.number()]),
});

const chance = z.number().min(0).max(1);

const firstLineSchema = z.strictObject({
  area: z.enum(AREAS).describe('none: nothing was lost; unknown: it can not be told'),
  probability: chance,
  ongoing: z.boolean().nullable().default(null).describe('whether it lasts to the end of what was seen'),
  next: text.default('').describe('the next safe step'),
  text: text.describe('area, what changed, who is hit, whether it is still on, the next step'),
});

const remarkSchema = z.strictObject({
  kind: z.enum(CULPRIT_KINDS),
  element: elementSchema,
  side: z.enum(SIDES).optional(),
  from_s: z.number().optional().describe('left out where it was there before the window opened'),
  to_s: z.number().optional().describe('left out where it was there to the end of the window'),
  text,
  evidence: z.array(citedSchema).max(500).default([]),
});

const culpritSchema = z.strictObject({
  rank: z.int().min(1).optional().describe('default: its place in the list'),
  kind: z.enum(CULPRIT_KINDS),
  element: elementSchema,
  side: z.enum(SIDES).default('unknown'),
  direction: directionSchema,
  onset_s: seconds.describe('seconds from the start of the run'),
  lostTimeShare: share,
  probability: chance.describe('that this element is in trouble of this kind'),
  evidence: z.array(citedSchema).max(500).default([]),
});

/** A verdict as others may send it. */
export const verdictSchema = z.strictObject({
  faultFound: z.boolean().nullable().describe('null: it can not be told'),
  firstLine: firstLineSchema.optional().describe('what an operator asks first'),
  answer: text.default(''),
  shareExplained: share,
  affectedJobs: z.array(z.string().max(300)).max(1000).default([]),
  aggressors: z.array(elementSchema).max(1000).default([]),
  chain: z
    .array(z.strictObject({ element: elementSchema, claim: text, onset_s: seconds }))
    .max(1000)
    .default([]),
  ruledOut: z
    .array(z.strictObject({ kind: z.enum(CULPRIT_KINDS), element: elementSchema, why: text }))
    .max(1000)
    .default([]),
  culprits: z.array(culpritSchema).max(200),
  remarks: z.array(remarkSchema).max(200).optional().describe('odd, but cost nothing'),
  notes: z.array(text).max(200).optional().describe('what the evidence itself has wrong'),
});
export type VerdictBody = z.output<typeof verdictSchema>;

/** The verdict with its ranks filled in. */
export const verdictOf = (body: VerdictBody): Verdict => ({
  ...body,
  culprits: body.culprits.map((culprit, index) => ({ ...culprit, rank: culprit.rank ?? index + 1 })),
});

const MOST_HINTS = 8;

/** Types of elements that are words, not parts of a fabric. */
const WORDS = new Set(['pattern']);

/**
 * @param known whether an id names something on the run's fabric
 * @param names ids to suggest
 * @param place pointer of the verdict within what was sent
 * @throws InputError with every culprit that names nothing
 */
export function requireKnownCulprits(
  { culprits }: Pick<Verdict, 'culprits'>,
  known: (id: string) => boolean,
  names: () => readonly string[],
  place: string,
): void {
  let hints = 0;
  const issues = culprits.flatMap(({ element }, index): InputIssue[] => {
    if (WORDS.has(element.type) || known(element.id)) return [];
    // each looks through all names of the fabric
    const hint = hints++ < MOST_HINTS ? nearestHint(element.id, names()) : undefined;
    const message = `the fabric of this run has no ${element.id}`;
    const pointer = `${place}/culprits/${index}/element/id`;
    return [{ pointer, message, ...(hint === undefined ? {} : { hint }) }];
  });
  if (issues.length > 0) throw new InputError(issues);
}
