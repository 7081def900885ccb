/**
 * Is there room for the evidence of a run? Asked when it is planned, since it is lost when the disk is full at its end.
 *
 * The file is written to where temporary files are, and moved from there into the database in parts; an embedded database
 * shares the disk of its home. What is free on either counts, and on one disk both are needed at once; of a server elsewhere
 * nothing is known. FABRICDRILL_EVIDENCE_MAX says how much may be kept of a run.
 */
import { stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { sizesEvidence, type Fabric } from '../../fabric-api/fabric.js';
import { InputError } from '../../core/problem.js';
import type { Config } from '../../system/config/config.js';
import { plannedBytes } from '../../model/telemetry/evidence-size.js';

export interface EvidenceRoom {
  /** Most bytes that a run's evidence file may take. */
  mostBytes: number;
  /** Folders on the disks that it passes through or ends up on; none where they are not known. */
  folders?: readonly string[];
}

/** The room that a service or command of this configuration has. */
export function evidenceRoom({
  evidenceMaxBytes: mostBytes,
  databaseUrl,
  home,
}: Pick<Config, 'home' | 'databaseUrl' | 'evidenceMaxBytes'>): EvidenceRoom {
  return databaseUrl === undefined ? { mostBytes, folders: [tmpdir(), home] } : { mostBytes };
}

/** @throws InputError with the figures when it would not fit */
export async function checkEvidenceRoom(
  fabric: Fabric,
  durationNs: number,
  { mostBytes, folders = [] }: EvidenceRoom,
): Promise<void> {
  if (!sizesEvidence(fabric)) return;
  const size = fabric.evidenceSize(durationNs);
  const bytes = plannedBytes(size);
  const refuse = (limit: string): InputError =>
    InputError.at(
      '/spec/duration',
      `the run would give ${size.samples} samples of ${size.series} series, a file of about ${gigabytes(bytes)}; ${limit}`,
      'watch fewer metrics (telemetry.metrics of the fabric), poll less often, or shorten the run',
    );
  if (bytes > mostBytes) throw refuse(`${gigabytes(mostBytes)} are the most that is kept of a run`);
  for (const { folder, freeBytes, copies } of await disksOf(folders)) {
    if (copies * bytes <= freeBytes) continue;
    const needed = copies > 1 ? `, where it is needed ${copies} times while it is stored` : '';
    throw refuse(`${gigabytes(freeBytes)} are free at ${folder}${needed}`);
  }
}

interface Disk {
  folder: string;
  freeBytes: number;
  /** How many of the folders are on it. */
  copies: number;
}

async function disksOf(folders: readonly string[]): Promise<Disk[]> {
  const disks = new Map<number, Disk>();
  for (const folder of folders) {
    const there = await nearestThatIs(folder);
    if (there === undefined) continue;
    const known = disks.get(there.device);
    if (known !== undefined) known.copies++;
    else disks.set(there.device, { folder, freeBytes: there.freeBytes, copies: 1 });
  }
  return [...disks.values()];
}

/** The disk of a folder that may still have to be made; undefined where the system does not tell. */
async function nearestThatIs(folder: string): Promise<{ device: number; freeBytes: number } | undefined> {
  try {
    const [{ dev }, { bavail, bsize }] = [await stat(folder), await statfs(folder)];
    return { device: dev, freeBytes: bavail * bsize };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) return undefined;
    return nearestThatIs(dirname(folder));
  }
}

const gigabytes = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(3))} GB`;
