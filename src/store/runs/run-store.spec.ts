import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createRunsDatabase, type RunsDatabase } from '../../../test/support/stored-run.js';
import type { UndoEntry } from '../../drill/undo.js';
import { RunEntity, RunResultEntity, UndoEntryEntity } from './run.entity.js';
import { CHUNK_BYTES, EvidenceFile } from '../../evidence/evidence-file.js';
import { storedEvidence } from '../evidence/stored-evidence.js';
import { LeaseLostError, RunStore, type Claim } from './run-store.js';
import { scorecardFrom } from './run-view.js';

jest.setTimeout(60_000);

let database: RunsDatabase;
let store: RunStore;

beforeAll(async () => {
  database = await createRunsDatabase();
  store = new RunStore(database.dataSource);
});
afterAll(() => database.drop());

const LONG_MS = 60_000;
const claim = async (id: string, owner = 'one', leaseMs = LONG_MS): Promise<Claim> =>
  (await store.claim(id, owner, leaseMs))!.claim;
const expireLease = (id: string): Promise<unknown> =>
  database.dataSource.query(`UPDATE runs SET lease_until = now() - interval '1 ms' WHERE id = $1`, [id]);
const row = (id: string): Promise<RunEntity> =>
  database.dataSource.getRepository(RunEntity).findOneByOrFail({ id });
const requestAbort = (id: string): Promise<unknown> =>
  database.dataSource.query(
    `UPDATE runs SET abort_requested_at = now(), abort_reason = 'why' WHERE id = $1`,
    [id],
  );
const entry = (id: string): UndoEntry => ({
  id,
  fault: 'cut',
  impairment: { type: 'link-cut', link: 'link:a--b' },
  saved: { 'link:a--b': { cable: 'connected' } },
});
const finish = (held: Claim, state: 'passed' | 'error' | 'rollback-failed'): Promise<void> =>
  store.finish(held, { state, reason: state === 'passed' ? null : 'so', exitCode: 0 }, (run) =>
    scorecardFrom(run, 'v'),
  );
const walkTo = async (held: Claim, last: string): Promise<void> => {
  for (const state of [
    'preflight',
    'baseline',
    'injecting',
    'holding',
    'reverting',
    'observing',
    'diagnosing',
    'scoring',
  ] as const) {
    await store.go(held, state, null);
    if (state === last) return;
  }
};

describe('a claim', () => {
  it('of one run is given to one of many that ask at once', async () => {
    const id = await database.storeRun();
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, who) => store.claim(id, `w${who}`, LONG_MS)),
    );
    expect(claims.filter((one) => one !== undefined)).toHaveLength(1);
  });

  it('is given again only when the lease is over, with a higher fence each time', async () => {
    const id = await database.storeRun();
    expect((await claim(id)).fence).toBe(1);
    expect(await store.claim(id, 'two', LONG_MS)).toBeUndefined();
    await expireLease(id);
    expect((await claim(id, 'two')).fence).toBe(2);
  });

  it('of a run that has ended, or of none, is not given', async () => {
    const id = await database.storeRun();
    await finish(await claim(id), 'error');
    expect(await store.claim(id, 'two', LONG_MS)).toBeUndefined();
    expect(await store.claim('00000000-0000-4000-8000-000000000000', 'two', LONG_MS)).toBeUndefined();
  });

  it('is kept by heartbeats, which also tell of an abort', async () => {
    const id = await database.storeRun();
    const held = await claim(id, 'one', 1);
    expect(await store.heartbeat(held, LONG_MS)).toEqual({ abortReason: null });
    expect(await store.claim(id, 'two', LONG_MS)).toBeUndefined();
    await requestAbort(id);
    expect(await store.heartbeat(held, LONG_MS)).toEqual({ abortReason: 'why' });
  });
});

describe('an undo entry', () => {
  it('comes back as it was written, figures and all', async () => {
    const id = await database.storeRun();
    const saved = {
      'port:a': { signal: { bitErrorRatio: 0.0011, laneShare: 1, cause: 'connector' } },
      'link:a--b': { speed: { rateGbps: 400 }, cable: 'connected' },
    };
    await store.intend(await claim(id), { ...entry(`${id}/typed`), saved });
    expect((await store.openEntries(id)).map((one) => one.saved)).toEqual([saved]);
  });

  it('that an earlier version wrote in sentences is read as typed settings', async () => {
    const id = await database.storeRun();
    await store.intend(await claim(id), entry(`${id}/old`));
    const sentences = {
      'port:a': { signal: 'bit errors 0.0011 on 1 of the lanes, connector', speed: '400Gbps' },
    };
    await database.dataSource.query('UPDATE undo_entries SET saved = $1 WHERE run_id = $2', [
      JSON.stringify(sentences),
      id,
    ]);
    const [{ saved }] = await store.openEntries(id);
    expect(saved).toEqual({
      'port:a': {
        signal: { bitErrorRatio: 0.0011, laneShare: 1, cause: 'connector' },
        speed: { rateGbps: 400 },
      },
    });
  });
});

describe('a worker that lost its lease', () => {
  it('can write nothing any more', async () => {
    const id = await database.storeRun();
    const lost = await claim(id);
    await walkTo(lost, 'baseline');
    await store.intend(lost, entry(`${id}/kept`));
    await expireLease(id);
    await claim(id, 'two');
    const events = (): Promise<unknown[]> =>
      database.dataSource.query('SELECT * FROM run_events WHERE run_id = $1 ORDER BY seq', [id]);
    const before = [await row(id), await events(), await store.openEntries(id)];
    const verdict = { faultFound: null } as never;
    const file = await EvidenceFile.write([{ bytes: [new Uint8Array(1)], rows: 0 }]);
    const writes: (() => Promise<unknown>)[] = [
      () => store.heartbeat(lost, LONG_MS),
      () => store.go(lost, 'injecting', null),
      () => store.event(lost, 'progress', {}),
      () => store.intend(lost, entry(`${id}/late`)),
      () => store.applied(lost, `${id}/kept`),
      () => store.verified(lost, `${id}/kept`),
      () => store.failed(lost, `${id}/kept`, 'x'),
      () => store.evidence(lost, file),
      () => store.verdict(lost, verdict),
      () => store.truth(lost, []),
      () => finish(lost, 'error'),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow(LeaseLostError);
    expect([await row(id), await events(), await store.openEntries(id)]).toEqual(before);
    expect(await storedEvidence(database.dataSource, id)).toBeUndefined();
    await file.close();
  });
});

describe('evidence', () => {
  it('is kept in parts of bounded size, and comes back as the file it was', async () => {
    const id = await database.storeRun();
    const held = await claim(id);
    const bytes = Buffer.from(
      Uint32Array.from({ length: 2.3e6 }, (_, at) => Math.imul(at, 0x9e3779b1)).buffer,
    );
    const file = await EvidenceFile.write([{ bytes: [bytes], rows: 5e9 }]);
    await store.evidence(held, file);
    const stored = (await storedEvidence(database.dataSource, id))!;
    const parts: Buffer[] = [];
    for await (const part of stored.parts()) parts.push(part);
    expect(parts.map(({ length }) => length)).toEqual([
      CHUNK_BYTES,
      CHUNK_BYTES,
      bytes.length - 2 * CHUNK_BYTES,
    ]);
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
    expect({ bytes: stored.bytes, sha256: stored.sha256 }).toEqual({
      bytes: bytes.length,
      sha256: file.sha256,
    });
    const [{ rows }] = await database.dataSource.query(`SELECT rows FROM run_evidence WHERE run_id = $1`, [
      id,
    ]);
    expect(Number(rows)).toBe(5e9);
    await file.close();
  });
});

describe('a run that has ended', () => {
  it('takes no event, state or second end, so that the end stays last', async () => {
    const id = await database.storeRun();
    const held = await claim(id);
    await finish(held, 'error');
    await expect(store.event(held, 'progress', {})).rejects.toThrow(LeaseLostError);
    await expect(store.go(held, 'preflight', null)).rejects.toThrow(LeaseLostError);
    await expect(finish(held, 'error')).rejects.toThrow(LeaseLostError);
    await expect(store.heartbeat(held, LONG_MS)).rejects.toThrow(LeaseLostError);
    const ended = await row(id);
    expect([ended.state, ended.leaseOwner, ended.leaseUntil]).toEqual(['error', null, null]);
    expect(ended.endedAt).toBeInstanceOf(Date);
  });
});

describe('states', () => {
  it('are gone through in order only, and a step that is refused changes nothing', async () => {
    const id = await database.storeRun();
    const held = await claim(id);
    await expect(store.go(held, 'injecting', null)).rejects.toThrow(/can't go from pending to injecting/);
    await expect(finish(held, 'passed')).rejects.toThrow(/can't go from pending to passed/);
    expect((await row(id)).state).toBe('pending');
    await walkTo(held, 'scoring');
    await finish(held, 'passed');
    expect((await row(id)).state).toBe('passed');
  });
});

describe('an abort that was accepted', () => {
  it('holds even when the drill came to its end meanwhile', async () => {
    const id = await database.storeRun();
    const held = await claim(id);
    await walkTo(held, 'scoring');
    await requestAbort(id);
    await finish(held, 'passed');
    expect(await row(id)).toMatchObject({ state: 'aborted', reason: 'why', exitCode: 4 });
  });

  it('does not hide a fault that may still be in place', async () => {
    const id = await database.storeRun();
    const held = await claim(id);
    await requestAbort(id);
    await finish(held, 'rollback-failed');
    expect(await row(id)).toMatchObject({ state: 'rollback-failed', reason: 'so' });
  });

  it('is told to whoever is about to inject', async () => {
    const id = await database.storeRun();
    const held = await claim(id);
    expect(await store.intend(held, entry(`${id}/0`))).toBeNull();
    await requestAbort(id);
    expect(await store.intend(held, entry(`${id}/1`))).toBe('why');
  });
});

describe('the undo journal', () => {
  it('keeps entries in order and gives those that are open, newest first', async () => {
    const id = await database.storeRun();
    const held = await claim(id);
    for (const ordinal of [0, 1, 2]) await store.intend(held, entry(`${id}/${ordinal}`));
    await store.applied(held, `${id}/0`);
    await store.applied(held, `${id}/1`);
    await store.failed(held, `${id}/0`, 'stuck');
    await store.verified(held, `${id}/1`);
    const open = await store.openEntries(id);
    expect(open.map((one) => [one.id, one.status, one.error])).toEqual([
      [`${id}/2`, 'intended', null],
      [`${id}/0`, 'failed', 'stuck'],
    ]);
    expect(open[0]).toMatchObject(entry(`${id}/2`));
    const done = await database.dataSource.getRepository(UndoEntryEntity).findOneByOrFail({ id: `${id}/1` });
    expect(done.intendedAt.getTime()).toBeLessThanOrEqual(done.appliedAt!.getTime());
    expect(done.appliedAt!.getTime()).toBeLessThanOrEqual(done.verifiedAt!.getTime());
  });
});

describe('a verdict', () => {
  it('is sealed once and outlives the scorecard that is written after it', async () => {
    const id = await database.storeRun();
    const held = await claim(id);
    await walkTo(held, 'diagnosing');
    const verdict = { faultFound: true, answer: 'the link' } as never;
    await store.verdict(held, verdict);
    await expect(store.verdict(held, { faultFound: false } as never)).rejects.toThrow();
    await store.go(held, 'scoring', null);
    await finish(held, 'passed');
    const result = await database.dataSource.getRepository(RunResultEntity).findOneByOrFail({ runId: id });
    expect(result.verdict).toEqual(verdict);
    expect(result.scorecard?.run.state).toBe('passed');
  });
});

describe('a fabric', () => {
  const blocked = async (fabricName: string, driver: string, pace?: number): Promise<string> => {
    const id = await database.storeRun(fabricName);
    await database.dataSource.query(
      `UPDATE runs SET driver = $2, fabric_definition = json_build_object('spec', $3::json) WHERE id = $1`,
      [id, driver, JSON.stringify({ pace })],
    );
    await finish(await claim(id), 'rollback-failed');
    return id;
  };
  const on = (fabricName: string, driver: string, pace?: number): Promise<string | null> =>
    store.fabricBlock({ fabricName, driver, fabricDefinition: { spec: { pace } } });

  it.each([
    ['real', 'linux', undefined],
    ['paced', 'simulated', 10],
  ])(
    'that is %s is blocked by an undo that failed on it until that is cleared',
    async (name, driver, pace) => {
      expect(await on(name, driver, pace)).toBeNull();
      const id = await blocked(name, driver, pace);
      expect(await on(name, driver, pace)).toContain(id);
      expect(await on('other', driver, pace)).toBeNull();
      await database.dataSource.query(`UPDATE runs SET cleared_at = now() WHERE id = $1`, [id]);
      expect(await on(name, driver, pace)).toBeNull();
    },
  );

  it('that is simulated without a pace blocks nothing and is never blocked: nothing of it is left', async () => {
    await blocked('computed', 'simulated');
    expect(await on('computed', 'simulated')).toBeNull();
    expect(await on('computed', 'linux')).toBeNull();
    const left = await blocked('computed', 'linux');
    expect(await on('computed', 'linux')).toContain(left);
    expect(await on('computed', 'simulated')).toBeNull();
  });
});

describe('a real fabric', () => {
  const storeReal = async (fabric: string): Promise<string> => {
    const id = await database.storeRun(fabric);
    await database.dataSource.query(`UPDATE runs SET driver = 'linux' WHERE id = $1`, [id]);
    return id;
  };
  const claimOf = (id: string) => store.claim(id, 'worker', 60_000);

  it('has one drill at a time; the next one waits until the first has ended', async () => {
    const [first, second, elsewhere] = [
      await storeReal('lab'),
      await storeReal('lab'),
      await storeReal('other'),
    ];
    const [one, two] = await Promise.all([claimOf(first), claimOf(second)]);
    const claimed = one ?? two;
    expect([one, two].filter((claim) => claim !== undefined)).toHaveLength(1);
    expect(await claimOf(elsewhere)).toBeDefined();
    const waiting = claimed!.run.id === first ? second : first;
    expect(await claimOf(waiting)).toBeUndefined();
    await store.finish(claimed!.claim, { state: 'aborted', reason: null, exitCode: 4 }, (run) =>
      scorecardFrom(run, '0'),
    );
    expect(await claimOf(waiting)).toBeDefined();
  });

  it('of a dead worker stays taken until that run is cleaned up', async () => {
    const [first, second] = [await storeReal('dead'), await storeReal('dead')];
    await store.claim(first, 'worker', -1);
    expect(await claimOf(second)).toBeUndefined();
    expect(await claimOf(first)).toBeDefined();
  });

  it('is another thing than a simulated one, which every run makes for itself', async () => {
    const [first, second] = [await database.storeRun('sim'), await database.storeRun('sim')];
    expect(await claimOf(first)).toBeDefined();
    expect(await claimOf(second)).toBeDefined();
  });
});
