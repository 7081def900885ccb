/**
 * Reads the recorded cases beside this file: what peers measured, or what can be solved by hand.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder with the case files. */
export const CASES_DIR = join(dirname(fileURLToPath(import.meta.url)), 'cases');

/** Text of a case file, named with its extension. */
export const caseText = (file: string): string => readFileSync(join(CASES_DIR, file), 'utf8');

/** Content of a JSON case. */
export const caseJson = (file: string): unknown => JSON.parse(caseText(file));
