/** The server's own settings from the YAML file of FABRICDRILL_CONFIG, checked as a whole at start. */
import { readFileSync } from 'node:fs';
import { InputError, messageOf } from '../core/problem.js';
import { describeIssues } from '../core/schema-issues.js';
import { NO_SETTINGS, serverSettingsSchema, type ServerSettings } from '../fabric-api/server-settings.js';
import { parseDocuments } from './document.js';

/**
 * @param file where the settings stand; none where it is left out
 * @throws InputError with file and line of everything that is wrong
 */
export function readServerSettings(file: string | undefined): ServerSettings {
  if (file === undefined) return NO_SETTINGS;
  const documents = parseDocuments(textOf(file), file);
  if (documents.length > 1) {
    throw new InputError([
      { pointer: '', file, message: 'the server’s settings are one document; there are more' },
    ]);
  }
  const [document] = documents;
  const { value } = document;
  const parsed = serverSettingsSchema.safeParse(value);
  if (parsed.success) return { ...parsed.data, file };
  throw new InputError(describeIssues(parsed.error, serverSettingsSchema, value, { file, document }));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const message = `FABRICDRILL_CONFIG: ${file} can't be read: ${messageOf(error)}`;
    throw new InputError([{ pointer: '', message, hint: 'it is the YAML file of the server’s settings' }]);
  }
}
