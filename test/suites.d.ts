/** Types of suites.js, which is JavaScript since jest.config.js reads it. */
export interface Later {
  file: string;
  seconds: number;
  reason: string;
}
export const LATER: readonly Later[];
export const EXCUSED: Readonly<Record<'inputs' | 'labs', RegExp>>;
export function ignoredBy(suite: string | undefined): string[];
