/**
 * Room on the disk for samples that memory has no room for.
 *
 * The file has no name: it is unlinked as soon as it is open, so that nothing is left of it however the process ends. It
 * is closed when nobody can read it any more, since evidence outlives the fabric that it was observed on.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noRoom } from '../../system/no-room.js';
import type { Backing } from '../../model/telemetry/columns/course-store.js';

const unreachable = new FinalizationRegistry<number>((file) => closeSync(file));

/** @throws EnvironmentError when the folder can't be written to, or the disk has no room */
export function temporaryBacking(folder: string = tmpdir()): Backing {
  const path = join(folder, `fabricdrill-samples-${randomUUID()}`);
  const file = orNoRoom(folder, () => {
    const opened = openSync(path, 'wx+', 0o600);
    rmSync(path);
    return opened;
  });
  let end = 0;
  const backing: Backing = {
    append: (bytes) => {
      const at = end;
      orNoRoom(folder, () => {
        for (let written = 0; written < bytes.byteLength;) {
          written += writeSync(file, bytes, written, bytes.byteLength - written, at + written);
        }
      });
      end += bytes.byteLength;
      return at;
    },
    read: (at, into) => {
      for (let filled = 0; filled < into.byteLength;) {
        const got = readSync(file, into, filled, into.byteLength - filled, at + filled);
        if (got === 0) return;
        filled += got;
      }
    },
  };
  unreachable.register(backing, file);
  return backing;
}

function orNoRoom<Result>(folder: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw noRoom('samples of the run', folder, error);
  }
}
