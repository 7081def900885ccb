/**
 * What the alerts of an operator's own monitoring mean on a fabric: labels to a culprit.
 *
 * Rules are tried in order; the first whose patterns all fit decides. Which element an alert is about: element-labels.ts.
 * Labels are text that others write: they are compared and inserted, never interpreted. Not modelled: what several
 * alerts mean together.
 */
import { z } from 'zod';
import { parseElementId } from '../core/elements.js';
import type { ElementRef } from '../core/elements.js';
import { compileGlob } from '../core/glob.js';
import { CULPRIT_KINDS, SIDES } from '../model/telemetry/vocabulary.js';
import type { CulpritKind, Side } from '../model/telemetry/vocabulary.js';
import { elementTemplate, elementWith, labelValues } from './element-labels.js';

const pattern = z
  .string()
  .refine(
    (text) => compileGlob(text) !== undefined,
    'is no pattern; brackets hold numbers, as in host-[1-4]',
  );

const ruleSchema = z.strictObject({
  match: z
    .record(z.string().min(1), pattern)
    .describe('label to value or pattern; an alert must have all of them, as in { alertname: PortDown* }'),
  kind: z.enum(CULPRIT_KINDS).describe('the fault that such an alert claims'),
  element: elementTemplate,
  side: z.enum(SIDES).default('unknown'),
  probability: z
    .number()
    .gt(0)
    .max(1)
    .default(0.5)
    .describe('how sure such an alert is; what is below 0.5 is a suspicion'),
  values: labelValues,
});

export const alertLabelsSchema = z.array(ruleSchema).max(200);
export type AlertRule = z.output<typeof ruleSchema>;

/** What an alert says in our words. */
export interface AlertClaim {
  kind: CulpritKind;
  element: ElementRef;
  side: Side;
  probability: number;
}

/**
 * The claim of an alert by the first rule that fits.
 * @returns undefined when no rule fits, or the one that does names a label which the alert lacks
 */
export function claimOf(
  rules: readonly AlertRule[],
  labels: Readonly<Record<string, string>>,
): AlertClaim | undefined {
  const rule = rules.find(({ match }) =>
    Object.entries(match).every(
      ([label, wanted]) => Object.hasOwn(labels, label) && compileGlob(wanted)?.(labels[label]) === true,
    ),
  );
  if (rule === undefined) return undefined;
  const id = elementWith(rule.element, rule.values, labels);
  const named = id === undefined ? undefined : parseElementId(id);
  if (named === undefined) return undefined;
  return { kind: rule.kind, element: named, side: rule.side, probability: rule.probability };
}
