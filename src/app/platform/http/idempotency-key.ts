/**
 * The `Idempotency-Key` of a request: a text of the client's own, by which a repeated request is known for a day.
 */
import type { FindOptionsWhere, Repository } from 'typeorm';
import { InputError } from '../../../core/problem.js';
import { ConflictError } from '../../../system/errors.js';

/** For how long a key is known, as an interval of PostgreSQL. */
export const KEY_LIFE = '24 hours';

/** What is stored with the key of the request that made it. */
export interface Keyed {
  /** Null without a key, and once it is too old. */
  idempotencyKey: string | null;
  requestHash: string | null;
  createdAt: Date;
}

/** @throws InputError for a key that no header should have */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || /^[\x21-\x7e]{1,200}$/.test(key)) return;
  throw InputError.at('/Idempotency-Key', 'an idempotency key has 1 to 200 visible ASCII characters');
}

/** @throws ConflictError when the key came with another request */
export function requireSameRequest(storedHash: string | null, requestHash: string): void {
  if (storedHash === requestHash) return;
  throw new ConflictError('this Idempotency-Key came with another request before', 'use a new key');
}

/**
 * What an earlier request with this key has made; a key that is too old is free again.
 * @throws ConflictError when that request was another one
 */
export async function madeEarlier<Entity extends Keyed>(
  rows: Repository<Entity>,
  key: string | undefined,
  requestHash: string,
): Promise<Entity | undefined> {
  if (key === undefined) return undefined;
  const { tablePath } = rows.metadata;
  await rows.query(
    `UPDATE ${tablePath} SET idempotency_key = NULL WHERE idempotency_key = $1 AND created_at <= now() - interval '${KEY_LIFE}'`,
    [key],
  );
  const found = await rows.findOneBy({ idempotencyKey: key } as FindOptionsWhere<Entity>);
  if (found === null) return undefined;
  requireSameRequest(found.requestHash, requestHash);
  return found;
}
