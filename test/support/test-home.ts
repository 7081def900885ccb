/** The folder that the specs of a checkout share: the database server, compiled programs. Kept warm between runs. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from './source-tree.js';

/** Readable by every account; removed by hand. */
export function testHome(): string {
  const user = process.getuid?.() ?? 0;
  const checkout = createHash('sha256').update(CHECKOUT).digest('hex').slice(0, 8);
  const home = join(tmpdir(), `fabricdrill-tests-${user}-${checkout}`);
  mkdirSync(home, { recursive: true });
  chmodSync(home, 0o755);
  return home;
}
