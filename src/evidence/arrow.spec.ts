import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { QUALITY, type Evidence, type Series } from '../model/telemetry/series.js';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { decodeEvidence, decodeEvidenceFile, encodedParts, encodeEvidence } from './arrow.js';

const series = (metric: string, element: string, points: [number, number, number][]): Series => ({
  metric,
  element,
  timesNs: Float64Array.from(points, ([time]) => time),
  values: Float64Array.from(points, ([, value, quality]) => (quality === QUALITY.notAvailable ? NaN : value)),
  quality: Uint8Array.from(points, ([, , quality]) => quality),
});

const example: Evidence = {
  fromNs: 0,
  toNs: 60e9,
  series: [
    series(
      'port_tx_bytes',
      'port:leaf-1/p1',
      Array.from({ length: 500 }, (_, index): [number, number, number] => [
        index * 1e8,
        index * 1234567,
        QUALITY.fresh,
      ]),
    ),
    series('port_oper_status', 'port:leaf-1/p2', [
      [0, 1, QUALITY.fresh],
      [1e9, 0, QUALITY.notAvailable],
      [2e9, 1, QUALITY.repeated],
    ]),
  ],
};

interface Polars {
  readIPC(file: Buffer): { shape: unknown; row(index: number): unknown[] };
}

// a plain string, since the compiler would look for a package that need not be there
const POLARS: string = 'nodejs-polars';
/** Polars reads Arrow with its own code, so it finds what a round trip through one library can't. */
const polars: Polars | undefined = await import(POLARS).then(
  (module: { default: Polars }) => module.default,
  () => undefined,
);
if (polars === undefined) {
  console.warn(
    'skipped: reading evidence with Polars, which is not installed ' +
      '(npm install --no-save nodejs-polars@0.26.1 nodejs-polars-linux-x64-gnu@0.26.1)',
  );
}
const itWithPolars = polars === undefined ? it.skip : it;

describe('evidence as Arrow IPC', () => {
  it('comes back as it went in, compressed or not', async () => {
    for (const compressed of [true, false]) {
      const { bytes, rows } = await encodeEvidence(example, compressed);
      expect(rows).toBe(503);
      expect(await decodeEvidence(bytes)).toEqual(example);
    }
  });

  it('comes back the same from batches of any size, the fabric included', async () => {
    for (const rowsPerBatch of [7, 250, 503, 1000]) {
      const parts: Uint8Array[] = [];
      const rows: number[] = [];
      for await (const part of encodedParts(example, true, { name: 'rail' }, rowsPerBatch)) {
        parts.push(...part.bytes);
        rows.push(part.rows);
      }
      expect(Math.max(...rows)).toBeLessThanOrEqual(rowsPerBatch);
      expect(rows.reduce((sum, count) => sum + count)).toBe(503);
      expect(rows).toHaveLength(Math.ceil(503 / rowsPerBatch) + 1);
      const decoded = await decodeEvidenceFile(Buffer.concat(parts));
      expect(decoded).toEqual({ evidence: example, fabric: { name: 'rail' } });
    }
  });

  it('gives the same bytes for the same evidence, and fewer when compressed', async () => {
    const [first, second] = [await encodeEvidence(example), await encodeEvidence(example)];
    expect(Buffer.from(first.bytes).equals(Buffer.from(second.bytes))).toBe(true);
    expect(first.bytes.byteLength).toBeLessThan((await encodeEvidence(example, false)).bytes.byteLength);
  });

  it('keeps fresh, repeated and N/A samples apart for any evidence', async () => {
    const points = fc.uniqueArray(
      fc.tuple(
        fc.integer({ min: 0, max: 1e9 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(0, 1, 2),
      ),
      { selector: ([time]) => time, minLength: 1, maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(points, { maxLength: 5 }), async (all) => {
        const evidence: Evidence = {
          fromNs: 0,
          toNs: 1e9,
          series: all.map((some, index) => {
            const inOrder = [...some].sort(([one], [other]) => one - other);
            return series(`metric_${index}`, `port:leaf-${index}/p1`, inOrder);
          }),
        };
        expect(await decodeEvidence((await encodeEvidence(evidence)).bytes)).toEqual(evidence);
      }),
      { numRuns: 30 },
    );
  });

  it('refuses a file that is no Arrow table', async () => {
    await expect(decodeEvidence(new TextEncoder().encode('not arrow at all'))).rejects.toThrow(
      /no Arrow IPC file|no column/,
    );
  });

  itWithPolars('is read by Polars, which shares no code with the writer', async () => {
    const { bytes } = await encodeEvidence(example);
    const frame = polars!.readIPC(Buffer.from(bytes));
    expect(frame.shape).toEqual({ height: 503, width: 5 });
    expect(frame.row(2)).toEqual(['port_tx_bytes', 'port:leaf-1/p1', expect.anything(), 2 * 1234567, 0]);
    expect(frame.row(501)[3]).toBeNull();
  });

  it('carries the fabric that it is of, for whoever has the file alone', async () => {
    const fabric = { kind: 'Fabric', metadata: { name: 'größe' }, spec: { jobs: [] } };
    const { bytes } = await encodeEvidence(example, true, fabric);
    expect(await decodeEvidenceFile(bytes)).toEqual({ evidence: example, fabric });
    expect((await decodeEvidenceFile((await encodeEvidence(example)).bytes)).fabric).toBeUndefined();
  });

  const foreign = (times: bigint[], metrics: (string | null)[]): Uint8Array =>
    tableToIPC(
      tableFromArrays({
        metric: metrics,
        element: metrics.map(() => 'port:a'),
        time_ns: BigInt64Array.from(times),
        value: Float64Array.from(times, Number),
        quality: new Uint8Array(times.length),
      }),
      'file',
    );

  it.each([
    ['a time that goes back', foreign([2n, 1n], ['port_tx_bytes', 'port_tx_bytes']), /row 2 .*goes back/],
    ['a row without a metric', foreign([1n], [null]), /row 1 .*must be texts/],
    ['no Arrow', new TextEncoder().encode('PK not arrow at all'), /no Arrow IPC file|no column/],
    ['an empty file', new Uint8Array(0), /^the evidence file is empty$/],
  ])('refuses %s', async (_, bytes, message) => {
    await expect(decodeEvidence(bytes)).rejects.toThrow(message);
  });

  it('reads a table that another writer made, from its first sample to its last', async () => {
    const read = await decodeEvidence(foreign([3n, 5n], ['port_tx_bytes', 'port_tx_bytes']));
    expect(read).toMatchObject({
      fromNs: 3,
      toNs: 5,
      series: [{ metric: 'port_tx_bytes', element: 'port:a' }],
    });
  });
});
