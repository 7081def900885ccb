/** Experiments as they are stored. */
import { randomUUID } from 'node:crypto';
import { contentDigest } from '../../system/digest.js';
import type { Sql } from '../sql.js';

/**
 * Storing the same content under the same name again gives the row that is there.
 * @param source the document as written
 */
export async function storeExperiment(
  sql: Sql,
  name: string,
  source: unknown,
): Promise<{ id: string; created: boolean }> {
  const digest = contentDigest(source);
  const [made] = await sql.query<{ id: string }[]>(
    `INSERT INTO experiments (id, name, definition, digest, created_at, updated_at)
     VALUES ($1, $2, $3, $4, now(), now()) ON CONFLICT (name, digest) DO NOTHING RETURNING id`,
    [randomUUID(), name, JSON.stringify(source), digest],
  );
  if (made !== undefined) return { id: made.id, created: true };
  const [{ id }] = await sql.query<[{ id: string }]>(
    'SELECT id FROM experiments WHERE name = $1 AND digest = $2',
    [name, digest],
  );
  return { id, created: false };
}
