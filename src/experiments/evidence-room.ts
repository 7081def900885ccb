/**
 * Is there room for the evidence of a run? Asked when it is planned, since it is lost when the disk is full at its end.
 *
 * Evidence is kept with the run in the database, whose largest field is 1 GB; FABRICDRILL_EVIDENCE_MAX lowers that. An
 * embedded database shares the disk of its home, so free space there counts, too; of a server elsewhere nothing is known.
 */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sizesEvidence, type Fabric } from '../fabrics/contract/fabric.js';
import { InputError } from '../kernel/problem.js';
import { plannedBytes } from '../telemetry/evidence-size.js';

/** The largest field of PostgreSQL is 1 GiB; the rest is for what goes with it in one message. */
export const MOST_EVIDENCE_BYTES = 1e9;

export interface EvidenceRoom {
  /** Most bytes that a run's evidence file may take. */
  mostBytes: number;
  /** Folder on the disk that it ends up on; left out where that is not known. */
  folder?: string;
}

/** @throws InputError with the figures when it would not fit */
export async function checkEvidenceRoom(
  fabric: Fabric,
  durationNs: number,
  { mostBytes, folder }: EvidenceRoom,
): Promise<void> {
  if (!sizesEvidence(fabric)) return;
  const size = fabric.evidenceSize(durationNs);
  const bytes = plannedBytes(size);
  const freeBytes = folder === undefined ? Infinity : await freeBytesOf(folder);
  if (bytes <= Math.min(mostBytes, freeBytes)) return;
  const limit =
    freeBytes < mostBytes
      ? `${gigabytes(freeBytes)} are free at ${folder}`
      : `${gigabytes(mostBytes)} are the most that is kept of a run`;
  throw InputError.at(
    '/spec/duration',
    `the run would give ${size.samples} samples of ${size.series} series, a file of about ${gigabytes(bytes)}; ${limit}`,
    'watch fewer metrics (telemetry.metrics of the fabric), poll less often, or shorten the run',
  );
}

/** Free space on the disk of a folder that may still have to be made. */
async function freeBytesOf(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) return Infinity;
    return freeBytesOf(dirname(folder));
  }
}

const gigabytes = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(3))} GB`;
