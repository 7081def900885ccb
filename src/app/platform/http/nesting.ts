/**
 * A bound on how deeply a request body may be nested.
 *
 * The JSON parser takes any depth, but what follows it (schema, re-serialising, YAML) recurses and would run out of
 * stack, which would look like a bug of ours. No document of ours comes near the bound.
 */
import { InputError } from '../../../core/problem.js';

const MOST_LEVELS = 100;

/** @throws InputError when objects and lists are nested more than 100 levels deep */
export function refuseDeepNesting(body: unknown): void {
  let level = [body].filter(isNested);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MOST_LEVELS) {
      throw InputError.at('', `the document is nested more than ${MOST_LEVELS} levels deep`);
    }
    level = level.flatMap((value) => Object.values(value).filter(isNested));
  }
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;
