/**
 * Definitions over REST: a YAML text (`application/yaml`) as a user keeps it, or the same document as JSON.
 *
 * YAML keeps its line numbers in errors, so the command line sends YAML.
 */
import { InputError } from '../../kernel/problem.js';
import { YAML_TYPES } from './media-types.js';
import { refuseDeepNesting } from './nesting.js';

/**
 * The text to parse: YAML as sent, JSON re-serialised (JSON is YAML).
 * @throws InputError without a body or with one that is nested too deeply
 */
export function definitionText(body: unknown): string {
  if (typeof body === 'string') return body;
  refuseDeepNesting(body);
  if (typeof body === 'object' && body !== null && Object.keys(body).length > 0)
    return JSON.stringify(body, null, 2);
  throw InputError.at(
    '',
    'the request has no body',
    `send a document as application/json or ${YAML_TYPES[0]}; experiments/ has some that run`,
  );
}
