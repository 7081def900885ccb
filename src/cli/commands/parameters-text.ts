/**
 * Parameters of a fault as a file has them: `{ variant: rate, rate: 50Gbps }`, so that a plan can be read and copied.
 *
 * Inside, quantities are plain numbers; which unit one has is known to the schema of its kind and to nobody else.
 */
import type { z } from 'zod';
import { quantityWriter } from '../../core/units.js';
import type { AnyFaultKind } from '../../faults/catalog.js';

/** @param parameters as parsed by the kind's schema */
export function parametersText({ parameters: schema }: AnyFaultKind, parameters: unknown): string {
  const values = Object.entries(parameters as Record<string, unknown>);
  if (values.length === 0) return '{}';
  const shape = shapeFor(schema, parameters as Record<string, unknown>);
  const texts = values.map(([key, value]) => {
    const write = shape[key] === undefined ? undefined : quantityWriter(shape[key]);
    const text = write !== undefined && typeof value === 'number' ? write(value) : plain(value);
    return `${key}: ${text}`;
  });
  return `{ ${texts.join(', ')} }`;
}

type Shape = Readonly<Record<string, z.core.$ZodType | undefined>>;

/** Schemas by key, of the variant that the parameters are of. */
function shapeFor(schema: z.core.$ZodType, parameters: Record<string, unknown>): Shape {
  const def = schema._zod.def as { options?: readonly z.core.$ZodType[]; shape?: Shape };
  if (def.shape !== undefined) return def.shape;
  for (const option of def.options ?? []) {
    const shape = shapeFor(option, parameters);
    const values = shape.variant?._zod.values;
    if (values?.has(parameters.variant as string) === true) return shape;
  }
  return {};
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
