/**
 * The contract, kept by a simulated fabric that is a process of its own: the same checks as for every fabric, and what it
 * does when its driver is replaced, falls silent, or when it is killed itself.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fabricSpecSchema } from '../../src/fabric-api/definition.js';
import type { Fabric, RunsWorkload, AdvancesTime } from '../../src/fabric-api/fabric.js';
import { createSimulatedFabric } from '../../src/drivers/simulated/create-simulated-fabric.js';
import { openPaced } from '../../src/drivers/simulated/paced/open-paced.js';
import type { PacedFabric } from '../../src/drivers/simulated/paced/paced-fabric.js';
import { PacedProcesses } from '../../src/drivers/simulated/paced/processes.js';
import {
  folderOf,
  makeFolder,
  readJournal,
  readRecord,
  RECORD_FORMAT,
  writeJournal,
  writeRecord,
  type JournalLine,
} from '../../src/drivers/simulated/paced/record.js';
import { EnvironmentError, InputError } from '../../src/core/problem.js';
import { compileProgram, type ChildProgram } from '../support/child-program.js';
import { fabricDocument } from '../support/definitions.js';
import { bytesOf } from '../support/simulated-fabric.js';
import { until } from '../support/until.js';
import {
  checkForeignRevert,
  checkObservation,
  checkProfile,
  checkProfileCutShort,
  checkRoundTrip,
  inTime,
  timeOf,
} from './checks.js';
import { PROFILE, SAMPLES, SMALLEST } from './samples.js';

const SMALL = fabricDocument('small').spec as object;
const FASTEST = 1000;
/** Ids are used once in the life of a fabric, and here one fabric goes through all checks. */
const withOwnIds = (fabric: Fabric, prefix: string): Fabric => ({
  ...inTime(fabric),
  apply: (id, impairment, holdNs) => fabric.apply(`${prefix}/${id}`, impairment, holdNs),
  revert: (id, impairment, saved) => fabric.revert(`${prefix}/${id}`, impairment, saved),
});
const cut = { type: 'link-cut', link: 'link:leaf-1/p7--spine-1/p1' } as const;

describe('a paced simulation', () => {
  let program: ChildProgram;
  let folder: string;
  let processes: PacedProcesses;
  const opened: PacedFabric[] = [];

  beforeAll(() => {
    program = compileProgram(`import './src/drivers/simulated/paced/program.js';`);
    folder = mkdtempSync(join(tmpdir(), 'fd-'));
    processes = new PacedProcesses(() => folder);
  });

  afterEach(async () => {
    for (const fabric of opened.splice(0)) await fabric.close();
  });

  afterAll(async () => {
    for (const { instance, state } of await processes.list()) {
      if (state === 'up') await processes.end(instance);
    }
    program.remove();
    rmSync(folder, { recursive: true });
  });

  const open = async (
    spec: object,
    { instance = randomUUID(), sealed = false, pace = FASTEST, leaseMs = 60_000, abandonedMs = 60_000 } = {},
  ): Promise<PacedFabric> => {
    const definition = { name: 'paced', spec: fabricSpecSchema.parse({ ...spec, driver: 'simulated' }) };
    const standIn = () => createSimulatedFabric(definition, 1);
    const options = {
      instance,
      sealed,
      pace,
      leaseMs,
      abandonedMs,
      standIn,
      program: program.entry,
      base: folder,
    };
    const fabric = await openPaced(definition, 1, options);
    opened.push(fabric);
    return fabric;
  };
  const shown = async (instance: string) => (await processes.list()).find((one) => one.instance === instance);
  const logOf = (instance: string): JournalLine[] =>
    processes
      .log(instance)!
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JournalLine);
  const play = async (fabric: Fabric & AdvancesTime & RunsWorkload, look: boolean): Promise<Buffer> => {
    await fabric.startJobs();
    for (let second = 1; second <= 6; second++) {
      if (second === 3) await fabric.apply('cut', cut, 2e9);
      if (second === 5) await fabric.revert('cut', cut, {});
      await fabric.advance(second * 1e9);
      if (look) await fabric.observe({ fromNs: 0, toNs: second * 1e9 });
    }
    return bytesOf(await fabric.observe({ fromNs: 0, toNs: 6e9 }));
  };

  it('applies, reads back and reverts every impairment, by whatever id, and refuses what is not there', async () => {
    const fabric = await open(SMALLEST);
    for (const [type, { known, unknown }] of Object.entries(SAMPLES)) {
      await checkRoundTrip(withOwnIds(fabric, type), known);
      await checkForeignRevert(withOwnIds(fabric, type), known);
      for (const wrong of unknown) await expect(fabric.apply('wrong', wrong)).rejects.toThrow(InputError);
    }
    const own = withOwnIds(fabric, 'profile');
    await checkProfile(own, PROFILE, timeOf(fabric));
    await checkProfileCutShort(own, PROFILE, timeOf(fabric));
    await checkObservation(fabric);
  });

  it('gives the evidence of a simulation at full speed, to the byte, however often it is looked at meanwhile', async () => {
    const definition = { name: 'paced', spec: fabricSpecSchema.parse(SMALL) };
    const inProcess = await play(createSimulatedFabric(definition, 1), false);
    const paced = await play(await open(SMALL), true);
    expect(paced.equals(inProcess)).toBe(true);
  });

  it('is never ahead of the wall clock', async () => {
    const fabric = await open(SMALL, { pace: 4 });
    const beganMs = performance.now();
    await fabric.startJobs();
    await fabric.advance(1e9);
    await fabric.advance(2e9);
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(2000 / 4 - 1);
    expect(fabric.nowNs).toBe(2e9);
  });

  it('outlives its driver: the next one finds what is in place and reverts it, and the first can change nothing any more', async () => {
    const instance = randomUUID();
    const first = await open(SMALL, { instance, sealed: true });
    const before = await first.readBack(cut);
    await first.startJobs();
    await first.advance(1e9);
    await first.apply('held', cut, 60e9);
    const second = await open(SMALL, { instance });
    expect(await shown(instance)).toMatchObject({
      state: 'up',
      pace: '1000x',
      sealed: true,
      inPlace: ['held'],
      nowNs: 1e9,
    });
    await expect(first.apply('late', cut)).rejects.toThrow('another process has taken');
    await expect(first.advance(2e9)).rejects.toThrow(EnvironmentError);
    expect(await second.readBack(cut)).not.toEqual(before);
    await second.revert('held', cut, before);
    expect(await second.readBack(cut)).toEqual(before);
    await second.close();
    await until(async () => (await shown(instance))?.state === 'ended', 'the end of the process');
    expect(logOf(instance).map(({ did }) => did)).toEqual([
      'started',
      'attached',
      'intends',
      'applied',
      'attached',
      'reverted',
      'ended',
    ]);
  });

  it('reverts by itself when its driver falls silent, and ends when nobody comes', async () => {
    const instance = randomUUID();
    const silent = await open(SMALL, { instance, leaseMs: 1500, abandonedMs: 1500 });
    await silent.startJobs();
    await silent.apply('held', cut, 60e9);
    silent.release();
    await until(async () => (await shown(instance))?.state === 'ended', 'the end of the process');
    expect(logOf(instance)).toEqual([
      expect.objectContaining({ did: 'started' }),
      expect.objectContaining({ did: 'attached' }),
      expect.objectContaining({ did: 'intends', id: 'held', impairment: cut }),
      expect.objectContaining({ did: 'applied', id: 'held' }),
      expect.objectContaining({ did: 'lease-over' }),
      expect.objectContaining({ did: 'reverted', id: 'held', by: 'lease' }),
      expect.objectContaining({ did: 'ended', by: 'nobody held its lease any more' }),
    ]);
  });

  it('comes to no later level when its driver is killed in the midst of a profile', async () => {
    const instance = randomUUID();
    const killed = await open(SMALLEST, { instance, leaseMs: 1500, abandonedMs: 600_000 });
    const before = await killed.readBack(PROFILE);
    await killed.startJobs();
    await killed.apply('ramp', PROFILE, 60e9);
    await killed.advance(1.5e9);
    expect(await killed.readBack(PROFILE)).toEqual({
      [PROFILE.fromPort]: { signal: expect.objectContaining({ bitErrorRatio: 3e-3 }) },
    });
    killed.release();
    await until(async () => (await shown(instance))!.inPlace?.length === 0, 'the end of the lease');
    const next = await open(SMALLEST, { instance });
    await next.advance(6e9);
    expect(await next.readBack(PROFILE)).toEqual(before);
    await next.revert('ramp', PROFILE, before);
    expect(await next.readBack(PROFILE)).toEqual(before);
    expect(logOf(instance).filter(({ id }) => id === 'ramp')).toEqual([
      expect.objectContaining({ did: 'intends', impairment: PROFILE, saved: before }),
      expect.objectContaining({ did: 'applied' }),
      expect.objectContaining({ did: 'reverted', by: 'lease' }),
      expect.objectContaining({ did: 'reverted' }),
    ]);
  });

  it('whose record is of a later format is not touched', async () => {
    const instance = randomUUID();
    await open(SMALLEST, { instance });
    const own = folderOf(folder, instance);
    const record = readRecord(own)!;
    writeRecord(own, { ...record, format: RECORD_FORMAT + 1, version: '9.0.0' });
    await expect(open(SMALLEST, { instance })).rejects.toThrow(/started by a later version \(9\.0\.0\)/);
    writeRecord(own, record);
  });

  it('is read where an earlier version wrote its journal in sentences', () => {
    const own = makeFolder(folder, randomUUID());
    const saved = { 'port:a/p1': { signal: 'bit errors 0.0011 on 1 of the lanes, connector' } };
    const line = { at: '2026-11-01T00:00:00Z', nowNs: 0, did: 'intends', id: 'one', saved } as const;
    writeJournal(own, line);
    const typed = { bitErrorRatio: 0.0011, laneShare: 1, cause: 'connector' };
    expect(readJournal(own)).toEqual([{ ...line, saved: { 'port:a/p1': { signal: typed } } }]);
  });

  it('reverts by itself what stays longer than was said', async () => {
    const instance = randomUUID();
    const fabric = await open(SMALL, { instance });
    const before = await fabric.readBack(cut);
    await fabric.startJobs();
    await fabric.apply('forgotten', cut, 1e9);
    await fabric.advance(10e9);
    expect(await fabric.readBack(cut)).not.toEqual(before);
    await fabric.advance(12e9);
    expect(await fabric.readBack(cut)).toEqual(before);
    expect(logOf(instance).at(-1)).toMatchObject({ did: 'reverted', by: 'overdue', nowNs: 11e9 });
  });

  it('that is killed has taken its faults along, and says that it is gone', async () => {
    const instance = randomUUID();
    const fabric = await open(SMALL, { instance });
    const before = await fabric.readBack(cut);
    await fabric.apply('held', cut);
    process.kill((await shown(instance))!.pid, 'SIGKILL');
    await until(async () => (await shown(instance))?.state === 'lost', 'the loss');
    await expect(fabric.advance(1e9)).rejects.toThrow(/ended in the midst/);
    await fabric.revert('held', cut, before);
    expect(await fabric.readBack(cut)).toEqual(before);
  });

  it('that can not be started says why and leaves no process', async () => {
    const definition = { name: 'paced', spec: fabricSpecSchema.parse(SMALL) };
    const options = {
      instance: randomUUID(),
      pace: 1,
      standIn: () => createSimulatedFabric(definition, 1),
      program: join(folder, 'missing.js'),
      base: folder,
    };
    await expect(openPaced(definition, 1, options)).rejects.toThrow(/could not be started.*missing\.js/s);
  });
});
