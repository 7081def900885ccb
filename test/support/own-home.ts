/**
 * A home of a spec's own, for suites that kill the embedded database; the one that specs share must go on.
 */
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { preparePlace, SYSTEM_HOME } from '../../src/store/database/embedded/place.js';
import { stopPostmaster } from '../../src/store/database/embedded/postmaster.js';

export interface OwnHome {
  folder: string;
  /** Stops what may still run there. */
  remove(): Promise<void>;
}

export function ownHome(): OwnHome {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fabricdrill-home-')));
  chmodSync(folder, 0o755);
  return {
    folder,
    remove: async () => {
      const place = preparePlace(folder);
      await stopPostmaster(place.data);
      const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 } as const;
      rmSync(folder, options);
      rmSync(place.folder.startsWith(SYSTEM_HOME) ? dirname(place.folder) : place.folder, options);
    },
  };
}
