/**
 * A run that was computed in memory and stored afterwards is, row by row, what a worker would have stored on the way.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { loadExperiment, loadFabric } from '../../src/documents/load.js';
import { refuseFiles } from '../../src/documents/fabric-document.js';
import { compute } from '../../src/drill/compute/compute.js';
import type { DrillReport } from '../../src/drill/compute/task.js';
import { EvidenceFile } from '../../src/evidence/evidence-file.js';
import { exitCodeOf } from '../../src/scoring/exit-codes.js';
import { openStore, type Store } from '../../src/store/open-store.js';
import { evidenceOf, findRun, listRuns, scorecardOf } from '../../src/store/runs/read-runs.js';
import { storeFinishedRun } from '../../src/store/runs/finished-run.js';
import { followEvents } from '../../src/store/runs/run-events.js';
import { scorecardFrom } from '../../src/store/runs/run-view.js';
import { VERSION } from '../../src/system/version.js';
import { experimentDocument, fabricDocument } from '../support/definitions.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(120_000);

const experiment = loadExperiment(experimentDocument('cut', 'small'), refuseFiles);
const fabric = loadFabric(fabricDocument('small'), refuseFiles);

let service: TestService;
let store: Store;
beforeAll(async () => {
  service = await startService(queueBackends('runs stored at once')[0], { api: true, worker: true });
  store = await openStore({ home: service.config.home, databaseUrl: service.databaseUrl });
});
afterAll(async () => {
  await store.close();
  await service.stop();
});

async function computeAndStore(id: string): Promise<void> {
  const startedAt = new Date();
  const course: { at: Date; report: DrillReport }[] = [];
  const handle = await EvidenceFile.place();
  const { judgement } = await compute(
    {
      experiment: experiment.value,
      fabric: fabric.value,
      seed: 11,
      evidence: { descriptor: handle.fd, document: fabric.source },
    },
    (report) => course.push({ at: new Date(), report }),
  );
  const kept = course.find(({ report }) => report.type === 'evidence')!.report;
  const planned = course.find(({ report }) => report.type === 'planned')!.report;
  if (kept.type !== 'evidence' || planned.type !== 'planned')
    throw new Error('nothing was planned or observed');
  const endedAt = new Date();
  const ending = {
    state: judgement.state,
    reason: judgement.reasons.join('; ') || null,
    exitCode: exitCodeOf(judgement.state),
  };
  const run = {
    id,
    experimentName: 'cut',
    fabricName: 'small',
    driver: 'simulated',
    seed: 11,
    startedAt,
    endedAt,
  };
  const evidence = EvidenceFile.written(handle, kept);
  await store.transaction((sql) =>
    storeFinishedRun(sql, {
      id,
      experiment: { name: 'cut', source: experiment.source },
      fabric: { name: 'small', driver: 'simulated', source: fabric.source },
      plan: planned.plan,
      seed: 11,
      version: VERSION,
      startedAt,
      endedAt,
      course,
      evidence,
      ending,
      scorecard: scorecardFrom({ ...run, ...ending }, VERSION, judgement),
    }),
  );
  await evidence.close();
}

/** Everything of a run but times and its own id. */
async function rowsOf(id: string): Promise<Record<string, unknown>> {
  const own = (rows: unknown[]): unknown => JSON.parse(JSON.stringify(rows).replaceAll(id, 'ID'));
  const rows = async (statement: string): Promise<unknown> => own(await service.rows(statement, [id]));
  return {
    run: await rows(
      `SELECT experiment_name, fabric_name, driver, definition, fabric_definition, plan, seed, state, reason, exit_code,
        schedule_id, game_day_id, sealed, lease_owner, lease_until, fence, version, experiment_id IS NOT NULL AS of
       FROM runs WHERE id = $1`,
    ),
    transitions: await rows('SELECT seq, state, detail FROM run_transitions WHERE run_id = $1 ORDER BY seq'),
    events: await rows(
      `SELECT type, data FROM run_events WHERE run_id = $1 AND type <> 'progress' ORDER BY seq`,
    ),
    undo: await rows(
      `SELECT id, ordinal, fault, impairment, saved, status, error FROM undo_entries WHERE run_id = $1 ORDER BY ordinal`,
    ),
    results: await rows(
      `SELECT verdict, sealed_at IS NOT NULL AS sealed, (scorecard::jsonb - 'run') AS scorecard FROM run_results WHERE run_id = $1`,
    ),
    truth: await rows('SELECT truth, record FROM run_truth WHERE run_id = $1'),
    evidence: await rows('SELECT bytes, sha256, rows, parts, format FROM run_evidence WHERE run_id = $1'),
  };
}

describe('a run computed in memory', () => {
  it('is stored as a worker stores it, and read without a server', async () => {
    const here = randomUUID();
    await computeAndStore(here);
    const there = await service.client.run(fabricDocument('small'), experimentDocument('cut', 'small'));
    expect(await service.client.ended(there)).toMatchObject({ final: true });
    const stored = await rowsOf(here);
    expect(stored).toEqual(await rowsOf(there));
    expect(stored.undo).toHaveLength(1);

    const run = await findRun(store, here);
    expect([run.state, run.seed, run.fence]).toEqual(['passed', 11, 1]);
    expect((await scorecardOf(store, run)).run.id).toBe(here);
    expect(await service.client.get(`/v1/runs/${here}/scorecard`)).toMatchObject({ status: 200 });
    expect((await evidenceOf(store, run)).bytes).toBeGreaterThan(1000);
    const types: string[] = [];
    for await (const { type } of followEvents(store, here, 0, AbortSignal.timeout(5000))) types.push(type);
    expect([types[0], types.at(-1)]).toEqual(['state', 'end']);
  });

  it('is listed by state, fabric and experiment, newest first, a page at a time', async () => {
    const runs = await listRuns(store, { fabric: 'small', experiment: 'cut', state: 'passed' }, 1);
    expect(runs).toHaveLength(2);
    const { createdAt, id } = runs[0];
    const rest = await listRuns(store, {}, 50, { createdAt: createdAt.toISOString(), id });
    expect(rest.map((run) => run.id)).toEqual([runs[1].id]);
    expect(await listRuns(store, { fabric: 'large' }, 50)).toEqual([]);
  });

  it('leaves nothing behind when it can not be stored as a whole', async () => {
    const id = randomUUID();
    await expect(
      store.transaction(async (sql) => {
        await sql.query(
          `INSERT INTO experiments (id, name, definition, digest) VALUES ($1, 'x', '{}', 'd')`,
          [id],
        );
        await sql.query('SELECT no_such_column FROM runs');
      }),
    ).rejects.toThrow(/no_such_column/);
    expect(await service.rows('SELECT 1 FROM experiments WHERE id = $1', [id])).toEqual([]);
  });
});
