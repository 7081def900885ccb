/** The `Idempotency-Key` of a request: a text of the client's own, by which a repeated request is known. */
import { InputError } from '../../kernel/problem.js';

/** @throws InputError for a key that no header should have */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || /^[\x21-\x7e]{1,200}$/.test(key)) return;
  throw InputError.at('/Idempotency-Key', 'an idempotency key has 1 to 200 visible ASCII characters');
}
