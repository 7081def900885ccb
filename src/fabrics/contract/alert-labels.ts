/**
 * What the alerts of an operator's own monitoring mean on a fabric: labels to a culprit.
 *
 * Rules are tried in order; the first whose patterns all fit decides. Labels in braces are put into the element's id,
 * by the names that things have here: `values` translates those that the alerts use. Labels are text that others
 * write: they are compared and inserted, never interpreted. Not modelled: what several alerts mean together.
 */
import { z } from 'zod';
import { parseElementId, ELEMENT_TYPES } from '../../kernel/elements.js';
import type { ElementRef } from '../../kernel/elements.js';
import { compileGlob } from '../../kernel/glob.js';
import { CULPRIT_KINDS, SIDES } from '../../telemetry/vocabulary.js';
import type { CulpritKind, Side } from '../../telemetry/vocabulary.js';

const pattern = z
  .string()
  .refine(
    (text) => compileGlob(text) !== undefined,
    'is no pattern; brackets hold numbers, as in host-[1-4]',
  );

const element = z
  .string()
  .min(1)
  .refine(
    (text) => parseElementId(text) !== undefined,
    `starts with the type of an element and a colon, as in port:{device}/{interface}; the types are ${ELEMENT_TYPES.join(', ')}`,
  );

const ruleSchema = z.strictObject({
  match: z
    .record(z.string().min(1), pattern)
    .describe('label to value or pattern; an alert must have all of them, as in { alertname: PortDown* }'),
  kind: z.enum(CULPRIT_KINDS).describe('the fault that such an alert claims'),
  element: element.describe('element id with labels in braces, as in port:{device}/{interface}'),
  side: z.enum(SIDES).default('unknown'),
  probability: z
    .number()
    .gt(0)
    .max(1)
    .default(0.5)
    .describe('how sure such an alert is; what is below 0.5 is a suspicion'),
  values: z
    .record(z.string(), z.record(z.string(), z.string()))
    .default({})
    .describe('by label: what its values are called here, as in { interface: { Ethernet0: p1 } }'),
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
  let complete = true;
  const id = rule.element.replace(/\{([^{}]+)\}/g, (_, label: string) => {
    if (!Object.hasOwn(labels, label)) {
      complete = false;
      return '';
    }
    const value = labels[label];
    const names = Object.hasOwn(rule.values, label) ? rule.values[label] : {};
    return Object.hasOwn(names, value) ? names[value] : value;
  });
  const named = parseElementId(id);
  if (!complete || named === undefined) return undefined;
  return { kind: rule.kind, element: named, side: rule.side, probability: rule.probability };
}
