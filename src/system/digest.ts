/**
 * Content digests: equal JSON documents have equal digests, whatever the order of their keys.
 */
import { createHash } from 'node:crypto';

/** JSON with object keys sorted at every level. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** SHA-256 of the canonical JSON, in hexadecimal. */
export const contentDigest = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex');
