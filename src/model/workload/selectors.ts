/**
 * Picking elements by name or pattern, with errors that say what would have matched.
 *
 * Patterns are those of core/glob: `llm-*`, `host-[1-4]`. A pattern that matches nothing is an error and never an
 * empty choice: a drill on a mistyped job would pass without having looked.
 */
import { checkPatternCount, compileGlob, isGlob } from '../../core/glob.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, type InputIssue } from '../../core/problem.js';

/** Each looks through all names for what was meant. */
const MOST_ISSUES = 8;

/** The names that patterns pick, each once: in the order of the patterns, within a pattern in the order of `names`. */
export function selectNames(
  patterns: readonly string[],
  names: readonly string[],
  what: string,
  pointer: string,
): string[] {
  const picked = new Set<string>();
  const issues: InputIssue[] = [];
  const known = new Set(names);
  checkPatternCount(patterns, pointer);
  patterns.forEach((pattern, index) => {
    if (issues.length >= MOST_ISSUES) return;
    if (!isGlob(pattern) && known.has(pattern)) {
      picked.add(pattern);
      return;
    }
    const matches = compileGlob(pattern);
    const found = matches === undefined ? [] : names.filter(matches);
    for (const name of found) picked.add(name);
    if (found.length > 0) return;
    const place = `${pointer}/${index}`;
    if (matches === undefined) {
      const hint = 'brackets hold whole numbers and ranges, as in host-[1-4,9]';
      issues.push({ pointer: place, message: `"${pattern}" is no pattern`, hint });
    } else {
      const message = `no ${what} is called "${pattern}"; there are ${listChoices(names) || 'none'}`;
      const hint = isGlob(pattern) ? undefined : nearestHint(pattern, names);
      issues.push(hint === undefined ? { pointer: place, message } : { pointer: place, message, hint });
    }
  });
  if (issues.length > 0) throw new InputError(issues);
  return [...picked];
}
