/**
 * From the schema of a document to the schema of one of its values, so that whoever shows a parsed value can write it as a
 * file does: which unit a number has is known to its schema and to nobody else (units.ts).
 */
import type { z } from 'zod';

interface Def {
  type: string;
  innerType?: z.core.$ZodType;
  in?: z.core.$ZodType;
  getter?: () => z.core.$ZodType;
  shape?: Readonly<Record<string, z.core.$ZodType | undefined>>;
  element?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  options?: readonly z.core.$ZodType[];
}

/**
 * The schema of a key or an index.
 * @param holder the object or list that has it, which tells the alternatives of a union apart
 * @returns undefined where the schema does not say
 */
export function schemaOfKey(
  schema: z.core.$ZodType | undefined,
  key: string,
  holder: unknown,
): z.core.$ZodType | undefined {
  if (schema === undefined) return undefined;
  const def = schema._zod.def as unknown as Def;
  if (def.shape !== undefined) return def.shape[key];
  if (def.options !== undefined) {
    const fitting = def.options.filter((option) => fits(option, holder));
    return fitting.map((option) => schemaOfKey(option, key, holder)).find((found) => found !== undefined);
  }
  return def.element ?? def.valueType ?? schemaOfKey(def.innerType ?? def.getter?.() ?? def.in, key, holder);
}

/** Whether an alternative names no other value for a key of literals, such as a builder. */
function fits(option: z.core.$ZodType, holder: unknown): boolean {
  const { shape } = option._zod.def as unknown as Def;
  if (shape === undefined || typeof holder !== 'object' || holder === null) return true;
  return Object.entries(shape).every(([key, inner]) => {
    const values = inner?._zod.values;
    const value = (holder as Record<string, unknown>)[key];
    return values === undefined || value === undefined || values.has(value as z.core.util.Primitive);
  });
}
