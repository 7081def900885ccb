/**
 * `spec.traits` of a Fabric: draws that the file replaces, each by an element, a trait and a value with its unit.
 */
import { z } from 'zod';
import { parseDurationNs } from '../../core/units.js';
import { selectorSchema } from '../../model/topology/selector.js';
import {
  rangeOf,
  TRAIT_NAMES,
  traitDefinition,
  type TraitDefinition,
  type TraitName,
} from './trait-catalog.js';

const NUMBER = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(\S*)\s*$/i;

/** The number in the trait's unit; undefined when the text is none. */
export function parseTraitValue(text: string, { unit }: TraitDefinition): number | undefined {
  if (unit === 's') {
    const magnitude = parseDurationNs(text.replace(/^\s*-/, ''));
    if (magnitude === undefined) return undefined;
    return (/^\s*-/.test(text) ? -magnitude : magnitude) / 1e9;
  }
  const match = NUMBER.exec(text);
  return match === null || match[2] !== unit ? undefined : Number(match[1]);
}

const wanted = (name: TraitName, definition: TraitDefinition): string =>
  `${name} is from ${rangeOf(definition)}${definition.unit === '' ? ', without a unit' : ''}`;

const traitSchema = z
  .strictObject({
    element: selectorSchema.describe('of which elements; mode: all for every one that fits'),
    gpu: z.int().min(0).optional().describe('of a host: only this GPU, from 0'),
    trait: z.enum(TRAIT_NAMES as [TraitName, ...TraitName[]]).describe('which one'),
    value: z
      .union([z.string().min(1), z.number()])
      .describe('with its unit: 1.03x, 2e-8, 1.5dB, 12s; of an event, when it happens'),
  })
  .superRefine(({ trait: name, value, element, gpu }, context) => {
    const issue = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    const definition = traitDefinition(name);
    const number = parseTraitValue(String(value), definition);
    if (number === undefined) {
      issue('value', `"${value}" is no value of this trait; ${wanted(name, definition)}`);
    } else if (!(number >= definition.least && number <= definition.most)) {
      issue('value', `"${value}" is outside what physics allows; ${wanted(name, definition)}`);
    }
    if (element.type !== definition.of) {
      issue('element', `${name} is a trait of a ${definition.of}, not of a ${element.type}`);
    }
    if (gpu !== undefined && definition.gpu !== true) issue('gpu', `${name} is not a trait of one GPU`);
  });

export const traitsSchema = z
  .array(traitSchema)
  .superRefine((entries, context) => {
    const first = new Map<string, number>();
    entries.forEach(({ element, gpu, trait }, index) => {
      const key = JSON.stringify([element, gpu, trait]);
      const earlier = first.get(key);
      if (earlier === undefined) first.set(key, index);
      else {
        const message = `${trait} of the same elements is stated twice, here and in traits/${earlier}; state it once`;
        context.addIssue({ code: 'custom', path: [index, 'trait'], message });
      }
    });
  })
  .default([]);
export type StatedTraits = z.output<typeof traitsSchema>;
