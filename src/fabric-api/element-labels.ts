/**
 * From the labels of somebody else's monitoring to an element's id here.
 *
 * Labels in braces are put into the id, by the names that things have here: `values` translates those that the other side
 * uses. Labels are text that others write: they are inserted, never interpreted.
 */
import { z } from 'zod';
import { ELEMENT_TYPES, parseElementId } from '../core/elements.js';

export const elementTemplate = z
  .string()
  .min(1)
  .refine(
    (text) => parseElementId(text) !== undefined,
    `starts with the type of an element and a colon, as in port:{device}/{interface}; the types are ${ELEMENT_TYPES.join(', ')}`,
  )
  .describe('element id with labels in braces, as in port:{device}/{interface}');

export const labelValues = z
  .record(z.string(), z.record(z.string(), z.string()))
  .default({})
  .describe('by label: what its values are called here, as in { interface: { Ethernet0: p1 } }');

type LabelValues = z.output<typeof labelValues>;

/** @returns undefined when the template names a label that is not there */
export function elementWith(
  template: string,
  values: LabelValues,
  labels: Readonly<Record<string, string>>,
): string | undefined {
  let complete = true;
  const id = template.replace(/\{([^{}]+)\}/g, (_, label: string) => {
    if (!Object.hasOwn(labels, label)) {
      complete = false;
      return '';
    }
    const value = labels[label];
    const names = Object.hasOwn(values, label) ? values[label] : {};
    return Object.hasOwn(names, value) ? names[value] : value;
  });
  return complete ? id : undefined;
}
