import { describe, expect, it } from '@jest/globals';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeFabric } from '../testing/fake-fabric.js';
import { InputError } from '../../core/problem.js';
import { oneWire, simulatedFabric, twoJobs } from '../../../test/support/simulated-fabric.js';
import { PLANNED_ROW_BYTES } from '../../model/telemetry/evidence-size.js';
import { checkEvidenceRoom, type EvidenceRoom } from './evidence-room.js';

const MINUTE_NS = 60e9;

const refusal = async (spec: Record<string, unknown>, room: EvidenceRoom): Promise<string> => {
  const error: unknown = await checkEvidenceRoom(simulatedFabric(spec), MINUTE_NS, room).catch(
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(InputError);
  const [issue] = (error as InputError).issues;
  expect(issue.hint).toMatch(/telemetry\.metrics.*poll less often.*shorten/);
  return issue.message;
};

describe('the size of evidence', () => {
  it('is known before a run: every poll of every series, and one sample of each that is not polled', async () => {
    const telemetry = { metrics: ['port_tx_bytes', 'port_oper_status', 'optic_bias_ma', 'edge_tx_bytes'] };
    const fabric = simulatedFabric({ ...oneWire, telemetry });
    const size = fabric.evidenceSize(MINUTE_NS);
    await fabric.advance(MINUTE_NS);
    const { series } = await fabric.observe({ fromNs: 0, toNs: MINUTE_NS });
    const samples = series.reduce((sum, { timesNs }) => sum + timesNs.length, 0);
    expect(size).toEqual({ series: series.length, samples });
  });
});

describe('evidence that has no room', () => {
  it('is refused with what it would take and what may be kept', async () => {
    expect(await refusal(twoJobs, { mostBytes: 1e5 })).toMatch(
      /^the run would give \d{6,} samples of \d{4,} series, a file of about 0\.00\d+ GB; 0\.0001 GB are the most/,
    );
  });

  it('is refused with what is free on the disk of a folder, even one that is still to be made', async () => {
    const folder = join(tmpdir(), 'none', 'of', 'these');
    const fabric = simulatedFabric(oneWire);
    await checkEvidenceRoom(fabric, MINUTE_NS, { mostBytes: 1e9, folders: [folder] });
    const years = 100 * 365 * 86_400e9;
    await expect(
      checkEvidenceRoom(fabric, years, { mostBytes: Infinity, folders: [folder] }),
    ).rejects.toThrow(/GB are free at \S*none\S* \(watch/);
  });

  it('is needed twice on a disk that it is written to and stored on', async () => {
    const folders = [tmpdir(), join(tmpdir(), 'none')];
    const { bavail, bsize } = await statfs(tmpdir());
    const { samples } = simulatedFabric(oneWire).evidenceSize(MINUTE_NS);
    // as long as three quarters of what is free would take
    const durationNs = MINUTE_NS * ((0.75 * bavail * bsize) / (samples * PLANNED_ROW_BYTES));
    const room = { mostBytes: Infinity };
    await checkEvidenceRoom(simulatedFabric(oneWire), durationNs, { ...room, folders: [tmpdir()] });
    await expect(
      checkEvidenceRoom(simulatedFabric(oneWire), durationNs, { ...room, folders }),
    ).rejects.toThrow(/are free at .*, where it is needed 2 times while it is stored/);
  });

  it('is no reason to refuse what fits, or a fabric that can not tell', async () => {
    await checkEvidenceRoom(simulatedFabric(twoJobs), MINUTE_NS, { mostBytes: 1e8 });
    await checkEvidenceRoom(new FakeFabric(), MINUTE_NS, { mostBytes: 0 });
  });
});
