/**
 * Definitions over REST: a YAML text (`application/yaml`) as a user keeps it, or the same document as JSON.
 *
 * Both keep their line numbers in errors: JSON is read as it was sent.
 */
import { InputError } from '../../../core/problem.js';
import { YAML_TYPES } from './media-types.js';
import { refuseDeepNesting } from './nesting.js';
import { rawJsonOf } from './raw-json.js';

/**
 * The text to parse: as sent, where that is known (JSON is YAML).
 * @throws InputError without a body or with one that is nested too deeply
 */
export function definitionText(body: unknown): string {
  if (typeof body === 'string') return body;
  refuseDeepNesting(body);
  if (typeof body === 'object' && body !== null && Object.keys(body).length > 0)
    return rawJsonOf(body) ?? JSON.stringify(body, null, 2);
  throw InputError.at(
    '',
    'the request has no body',
    `send a document as application/json or ${YAML_TYPES[0]}; experiments/ has some that run`,
  );
}
