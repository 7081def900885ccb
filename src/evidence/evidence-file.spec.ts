import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EnvironmentError } from '../core/problem.js';
import type { Evidence } from '../model/telemetry/series.js';
import { decodeEvidenceFile, encodedParts, encodeEvidence } from './arrow.js';
import { EvidenceFile } from './evidence-file.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fabricdrill-file-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Series of ports that all carry the same, but for every seventh. */
const evidence: Evidence = {
  fromNs: 0,
  toNs: 99e9,
  series: Array.from({ length: 60 }, (_, port) => ({
    metric: 'port_tx_bytes',
    element: `port:leaf-${port}/p1`,
    timesNs: Float64Array.from({ length: 100 }, (__, at) => at * 1e9),
    values: Float64Array.from({ length: 100 }, (__, at) => at * (port % 7 === 0 ? port : 3)),
    quality: new Uint8Array(100),
  })),
};

const allOf = async (file: EvidenceFile, chunkBytes?: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of file.chunks(chunkBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
};

describe('an evidence file on disk', () => {
  it('has the bytes, the rows and the digest of the one in memory, in chunks of any size', async () => {
    const { bytes, rows } = await encodeEvidence(evidence);
    const file = await EvidenceFile.write(encodedParts(evidence), folder);
    for (const chunkBytes of [7, 4096, undefined]) {
      expect((await allOf(file, chunkBytes)).equals(Buffer.from(bytes))).toBe(true);
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect([file.bytes, file.rows, file.sha256]).toEqual([bytes.byteLength, rows, sha256]);
    await file.close();
  });

  it('is read from the disk as from memory, again and again', async () => {
    const file = await EvidenceFile.write(encodedParts(evidence, true, { name: 'rail' }, 250), folder);
    for (let time = 0; time < 2; time++) {
      expect(await decodeEvidenceFile(file.handle)).toEqual({ evidence, fabric: { name: 'rail' } });
    }
    await file.close();
  });

  it('has no name, so that nothing is left of it however its process ends', async () => {
    const file = await EvidenceFile.write(encodedParts(evidence), folder);
    expect(readdirSync(folder)).toEqual([]);
    await file.close();
  });

  it('that has no place is the environment’s fault, known before a drill, with the way out', async () => {
    const nowhere = join(folder, 'not-there');
    for (const asked of [EvidenceFile.requirePlace(nowhere), EvidenceFile.write([], nowhere)]) {
      const error: unknown = await asked.catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(EnvironmentError);
      expect(error).toMatchObject({
        message: expect.stringMatching(/^evidence can't be written to .*not-there: ENOENT/),
        hint: expect.stringContaining('TMPDIR'),
      });
    }
    await EvidenceFile.requirePlace(folder);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is given up when what it is made of fails, and leaves nothing', async () => {
    async function* failing() {
      yield { bytes: [new Uint8Array(10)], rows: 1 };
      await Promise.reject(new Error('the simulator is gone'));
    }
    await expect(EvidenceFile.write(failing(), folder)).rejects.toThrow('the simulator is gone');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('read up to half of it is refused as no evidence', async () => {
    const file = await EvidenceFile.write(encodedParts(evidence), folder);
    const half = (await allOf(file)).subarray(0, file.bytes >> 1);
    const torn = await EvidenceFile.write([{ bytes: [half], rows: 0 }], folder);
    await expect(decodeEvidenceFile(torn.handle)).rejects.toThrow(/no Arrow IPC file|no column/);
    await Promise.all([file.close(), torn.close()]);
  });

  it('gives series with the same numbers the same arrays', async () => {
    const file = await EvidenceFile.write(encodedParts(evidence), folder);
    const { series } = (await decodeEvidenceFile(file.handle)).evidence;
    expect(new Set(series.map(({ timesNs }) => timesNs)).size).toBe(1);
    expect(new Set(series.map(({ values }) => values)).size).toBe(1 + Math.ceil(60 / 7));
    await file.close();
  });
});
