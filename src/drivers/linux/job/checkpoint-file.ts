/**
 * A rank's checkpoints: its weights after a step, on a disk that all hosts share and no fault of the fabric reaches.
 *
 * Written beside the old one and renamed, so that a worker that dies while it writes leaves the last good one; the two
 * newest stay, since ranks may be one checkpoint apart when a job dies. Not modelled: sharded or asynchronous writes.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const KEPT = 2;
const DIGEST_BYTES = 32;

const folderOf = (folder: string, rank: number): string => join(folder, `rank-${rank}`);
const fileOf = (folder: string, rank: number, step: number): string =>
  join(folderOf(folder, rank), `step-${step}`);

async function stepsOf(folder: string, rank: number): Promise<number[]> {
  const names = await readdir(folderOf(folder, rank)).catch(() => []);
  return names
    .flatMap((name) => /^step-(\d+)$/.exec(name)?.slice(1, 2) ?? [])
    .map(Number)
    .sort((one, other) => one - other);
}

export async function writeCheckpoint(
  folder: string,
  rank: number,
  step: number,
  weights: Int32Array,
): Promise<void> {
  await mkdir(folderOf(folder, rank), { recursive: true });
  const bytes = Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength);
  const file = fileOf(folder, rank, step);
  await writeFile(`${file}.part`, Buffer.concat([createHash('sha256').update(bytes).digest(), bytes]));
  await rename(`${file}.part`, file);
  for (const old of (await stepsOf(folder, rank)).slice(0, -KEPT))
    await rm(fileOf(folder, rank, old), { force: true });
}

/** @throws Error when it is not there, is damaged, or has another size */
export async function readCheckpoint(
  folder: string,
  rank: number,
  step: number,
  into: Int32Array,
): Promise<void> {
  const content = await readFile(fileOf(folder, rank, step));
  const bytes = content.subarray(DIGEST_BYTES);
  const digest = createHash('sha256').update(bytes).digest();
  if (!digest.equals(content.subarray(0, DIGEST_BYTES)) || bytes.length !== into.byteLength) {
    throw new Error(`the checkpoint of rank ${rank} after step ${step} is damaged`);
  }
  new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
}

/** The newest step of which every rank has a checkpoint; 0 without any. */
export async function lastCommonCheckpoint(folder: string, ranks: number): Promise<number> {
  const all = await Promise.all(Array.from({ length: ranks }, (_, rank) => stepsOf(folder, rank)));
  const [first, ...others] = all;
  return first.filter((step) => others.every((steps) => steps.includes(step))).at(-1) ?? 0;
}
