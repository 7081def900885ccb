/** Samples on the disk: none is lost, none is left, and evidence is what it is without. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { twoJobs } from '../../../test/support/simulated-fabric.js';
import { EnvironmentError } from '../../core/problem.js';
import type { CourseStoreOptions } from '../../model/telemetry/columns/course-store.js';
import type { Series } from '../../model/telemetry/series.js';
import { fabricSpecSchema } from '../../fabric-api/definition.js';
import { createSimulatedFabric } from './create-simulated-fabric.js';
import { temporaryBacking } from './temporary-backing.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fabricdrill-backing-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const plain = ({ metric, element, timesNs, values, quality }: Series) => ({
  ...{ metric, element, timesNs, values, quality },
});

async function evidenceOf(samples: CourseStoreOptions): Promise<ReturnType<typeof plain>[]> {
  const fabric = createSimulatedFabric({ name: 'small', spec: fabricSpecSchema.parse(twoJobs) }, 1, {
    samples,
  });
  await fabric.startJobs();
  await fabric.advance(20e9);
  const { series } = await fabric.observe({ fromNs: 0, toNs: 20e9 });
  await fabric.close();
  return series.map(plain);
}

describe('samples on the disk', () => {
  it('come back from where they were written', () => {
    const backing = temporaryBacking(folder);
    const pieces = [Uint8Array.of(1, 2, 3), new Uint8Array(1e5).fill(7), Uint8Array.of(9)];
    expect(pieces.map((piece) => backing.append(piece))).toEqual([0, 3, 100_003]);
    const into = new Uint8Array(3);
    backing.read(100_001, into);
    expect([...into]).toEqual([7, 7, 9]);
  });

  it('have no name, so that nothing is left of them however the process ends', () => {
    temporaryBacking(folder).append(new Uint8Array(10));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('change no byte of the evidence, which can be read when the fabric is closed', async () => {
    const kept = await evidenceOf({});
    const moved = await evidenceOf({ open: () => temporaryBacking(folder), mostBytes: 0, mostBlocks: 2 });
    expect(moved).toEqual(kept);
  });

  it('that find no room are the environment’s fault, with the way out', () => {
    expect(() => temporaryBacking(join(folder, 'not-there'))).toThrow(EnvironmentError);
  });
});
