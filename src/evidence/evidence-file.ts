/**
 * An evidence file on disk while it is written, stored or read: bounded memory, whatever its size.
 *
 * It has no name: it is unlinked as soon as it is open, so that nothing is left of it when it is closed or the process
 * dies, in whichever way. It lies where temporary files do (TMPDIR).
 */
import { createHash, randomUUID } from 'node:crypto';
import { write } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { noRoom } from '../system/no-room.js';
import type { EncodedPart } from './arrow.js';

/** What is moved at once. */
export const CHUNK_BYTES = 4 << 20;

/** What is known of a file that was written. */
export interface EvidenceFigures {
  bytes: number;
  rows: number;
  sha256: string;
}

export class EvidenceFile {
  private constructor(
    /** Open for reading at any position; not to be closed but by `close`. */
    readonly handle: FileHandle,
    readonly bytes: number,
    readonly rows: number,
    readonly sha256: string,
  ) {}

  /**
   * Asked before a drill, whose evidence would be lost.
   * @throws EnvironmentError when no file can be made in the folder
   */
  static async requirePlace(folder: string = tmpdir()): Promise<void> {
    await (await openNameless(folder)).close();
  }

  /**
   * Writes a file as its parts come.
   * @param folder that it is to lie in
   * @throws EnvironmentError when the folder can't be written to, or the disk has no room
   */
  static async write(
    parts: AsyncIterable<EncodedPart> | Iterable<EncodedPart>,
    folder: string = tmpdir(),
  ): Promise<EvidenceFile> {
    const handle = await EvidenceFile.place(folder);
    try {
      return EvidenceFile.written(handle, await EvidenceFile.fill(handle.fd, parts, folder));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * An open file without a name, for somebody who has only its descriptor to fill it.
   * @throws EnvironmentError when the folder can't be written to
   */
  static place(folder: string = tmpdir()): Promise<FileHandle> {
    return openNameless(folder);
  }

  /**
   * Writes the parts as they come.
   * @throws EnvironmentError when the disk has no room
   */
  static async fill(
    descriptor: number,
    parts: AsyncIterable<EncodedPart> | Iterable<EncodedPart>,
    folder: string = tmpdir(),
  ): Promise<EvidenceFigures> {
    const hash = createHash('sha256');
    let bytes = 0;
    let rows = 0;
    for await (const part of parts) {
      for (const piece of part.bytes) {
        hash.update(piece);
        await writeAll(descriptor, piece).catch((error: unknown) => {
          throw noRoom('evidence', folder, error);
        });
        bytes += piece.byteLength;
      }
      rows += part.rows;
    }
    return { bytes, rows, sha256: hash.digest('hex') };
  }

  /** What was filled by somebody else. */
  static written(handle: FileHandle, { bytes, rows, sha256 }: EvidenceFigures): EvidenceFile {
    return new EvidenceFile(handle, bytes, rows, sha256);
  }

  /** A file that is kept somewhere else, piece by piece. */
  static async from(chunks: AsyncIterable<Uint8Array>, folder?: string): Promise<EvidenceFile> {
    return EvidenceFile.write(partsOf(chunks), folder);
  }

  /** All of it in order, a chunk at a time. */
  async *chunks(chunkBytes = CHUNK_BYTES): AsyncGenerator<Buffer> {
    for (let position = 0; position < this.bytes;) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, this.bytes - position));
      let filled = 0;
      while (filled < buffer.length) {
        const { bytesRead } = await this.handle.read(
          buffer,
          filled,
          buffer.length - filled,
          position + filled,
        );
        if (bytesRead === 0) throw new Error('the evidence file on disk is shorter than what was written');
        filled += bytesRead;
      }
      position += filled;
      yield buffer;
    }
  }

  /** Nothing is left of it. */
  close(): Promise<void> {
    return this.handle.close();
  }
}

async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `fabricdrill-evidence-${randomUUID()}`);
  // appended to, so that whoever has emptied it may have it filled again
  const handle = await open(path, 'ax+', 0o600).catch((error: unknown) => {
    throw noRoom('evidence', folder, error);
  });
  try {
    await rm(path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const writeOnce = promisify(write);

async function writeAll(descriptor: number, piece: Uint8Array): Promise<void> {
  for (let written = 0; written < piece.byteLength;) {
    const { bytesWritten } = await writeOnce(descriptor, piece, written, piece.byteLength - written, null);
    written += bytesWritten;
  }
}

async function* partsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<EncodedPart> {
  for await (const chunk of chunks) yield { bytes: [chunk], rows: 0 };
}
