/**
 * The worker's way to write a run: every write carries the fence of the claim it was made under.
 *
 * A worker that stalled past its lease finds its fence outdated and gets `LeaseLostError` instead of a write, so two
 * workers can never drive one run. One method is one transaction; when it resolves, the record is durable.
 */
import type { DataSource, EntityManager } from 'typeorm';
import type { Verdict } from '../../diagnosis/verdict.js';
import type { UndoEntry } from '../../drill/undo.js';
import { EXIT } from '../../scoring/exit-codes.js';
import { FINAL_STATES, type FinalState, type RunState, type Scorecard } from '../../scoring/scorecard.js';
import type { TruthEntry } from '../../faults/ground-truth.js';
import type { EvidenceFile } from '../../evidence/evidence-file.js';
import { storeFigures, storePart } from '../evidence/stored-evidence.js';
import type { LiveEvidence } from '../evidence/live-evidence.js';
import type { Sql } from '../sql.js';
import { appendEvent, type RunEventType } from './run-events.js';
import { RunEntity, UndoEntryEntity, type CourseRecord } from './run.entity.js';
import { isFinal, mayGo, worst } from './run.machine.js';

/** Another worker has claimed the run meanwhile, or it has ended. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

export interface Claim {
  runId: string;
  fence: number;
  owner: string;
}

/** How a run ended, with the exit code that a command waiting for it returns. */
export interface Ending {
  state: FinalState;
  reason: string | null;
  exitCode: number;
}

/** The scorecard of a run that ends in this way. */
export type ScorecardOf = (run: RunEntity, ending: Ending) => Scorecard;

export class RunStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Claims a run whose lease is free or over; undefined when another worker holds it, when it has ended, or while
   * another run is at work on the same real fabric: two drills would each read the other's fault as its own baseline.
   * It stays pending then, and a sweep queues it again. A simulated fabric is made anew for every run.
   */
  async claim(
    runId: string,
    owner: string,
    leaseMs: number,
  ): Promise<{ claim: Claim; run: RunEntity } | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const run = await manager.findOne(RunEntity, {
        where: { id: runId },
        lock: { mode: 'pessimistic_write' },
      });
      if (run === null || isFinal(run.state)) return undefined;
      const [{ now }] = await manager.query<[{ now: Date }]>('SELECT now() AS now');
      if (run.leaseOwner !== null && run.leaseUntil !== null && run.leaseUntil > now) return undefined;
      if (run.driver !== 'simulated' && (await isBusy(manager, run))) return undefined;
      run.fence += 1;
      run.leaseOwner = owner;
      run.leaseUntil = new Date(now.getTime() + leaseMs);
      run.startedAt ??= now;
      await manager.save(run);
      return { claim: { runId, fence: run.fence, owner }, run };
    });
  }

  /** Renews the lease; tells whether someone asked for an abort. */
  async heartbeat(claim: Claim, leaseMs: number): Promise<{ abortReason: string | null }> {
    const [rows] = await this.dataSource.query<
      [{ abort_requested_at: Date | null; abort_reason: string | null }[]]
    >(
      `UPDATE runs SET lease_until = now() + $3 * interval '1 millisecond'
        WHERE id = $1 AND fence = $2 AND lease_owner = $4 RETURNING abort_requested_at, abort_reason`,
      [claim.runId, claim.fence, leaseMs, claim.owner],
    );
    if (rows.length === 0) throw leaseLost(claim);
    return {
      abortReason: rows[0].abort_requested_at === null ? null : (rows[0].abort_reason ?? 'abort requested'),
    };
  }

  /** Moves the run to a state on its way, with its transition and event. */
  async go(claim: Claim, state: RunState, detail: string | null): Promise<void> {
    await this.fenced(claim, async (manager, run) => {
      if (!mayGo(run.state, state)) throw new Error(`a run can't go from ${run.state} to ${state}`);
      run.state = state;
      await manager.save(run);
      await recordTransition(manager, claim.runId, state, detail);
    });
  }

  /**
   * Ends the run: final state, scorecard and the last event in one transaction, and the lease with it.
   *
   * An abort that was accepted before this moment holds: the run then ends as aborted, or as something worse.
   */
  async finish(claim: Claim, wanted: Ending, scorecard: ScorecardOf): Promise<void> {
    await this.fenced(claim, async (manager, run) => {
      const ending = afterAbort(run, wanted);
      await endRun(manager, run, ending);
      await manager.query(
        `INSERT INTO run_results (run_id, scorecard) VALUES ($1, $2)
         ON CONFLICT (run_id) DO UPDATE SET scorecard = EXCLUDED.scorecard`,
        [claim.runId, JSON.stringify(scorecard(run, ending))],
      );
    });
  }

  /** Why the fabric takes no run, or null. */
  async fabricBlock(run: DrilledFabric): Promise<string | null> {
    const blocking = await blockingRun(this.dataSource, run);
    return blocking === undefined
      ? null
      : `run ${blocking.id} left "${run.fabricName}" with a fault that it could not undo`;
  }

  async event(claim: Claim, type: RunEventType, data: Record<string, unknown>): Promise<void> {
    await this.fenced(claim, (manager) => appendEvent(manager, claim.runId, type, data));
  }

  /** @returns why someone asked for an abort meanwhile, or null; the entry is written either way */
  async intend(claim: Claim, entry: UndoEntry): Promise<string | null> {
    return this.fenced(claim, async (manager, run) => {
      await manager.query(
        `INSERT INTO undo_entries (id, run_id, ordinal, fault, impairment, saved, status, intended_at)
         VALUES ($1, $2, (SELECT count(*) FROM undo_entries WHERE run_id = $2), $3, $4, $5, 'intended', now())`,
        [entry.id, claim.runId, entry.fault, JSON.stringify(entry.impairment), JSON.stringify(entry.saved)],
      );
      return run.abortRequestedAt === null ? null : abortReasonOf(run);
    });
  }

  async applied(claim: Claim, entryId: string): Promise<void> {
    await this.fenced(claim, async (manager) => {
      await manager.query(`UPDATE undo_entries SET status = 'applied', applied_at = now() WHERE id = $1`, [
        entryId,
      ]);
      await appendEvent(manager, claim.runId, 'injected', { id: entryId });
    });
  }

  async verified(claim: Claim, entryId: string): Promise<void> {
    await this.fenced(claim, async (manager) => {
      await manager.query(
        `UPDATE undo_entries SET status = 'verified', error = NULL, reverted_at = now(), verified_at = now() WHERE id = $1`,
        [entryId],
      );
      await appendEvent(manager, claim.runId, 'reverted', { id: entryId });
    });
  }

  async failed(claim: Claim, entryId: string, reason: string): Promise<void> {
    await this.fenced(claim, async (manager) => {
      await manager.query(`UPDATE undo_entries SET status = 'failed', error = $2 WHERE id = $1`, [
        entryId,
        reason,
      ]);
      await appendEvent(manager, claim.runId, 'revert-failed', { id: entryId, reason });
    });
  }

  /** Undo entries that may still be in place, newest first. */
  openEntries(runId: string): Promise<UndoEntryEntity[]> {
    return this.dataSource
      .getRepository(UndoEntryEntity)
      .createQueryBuilder('entry')
      .where('entry.runId = :runId AND entry.status <> :done', { runId, done: 'verified' })
      .orderBy('entry.ordinal', 'DESC')
      .getMany();
  }

  /** A transaction a part, so that the heartbeat gets its turn between them; the row that counts comes last. */
  async evidence(claim: Claim, file: EvidenceFile): Promise<void> {
    let parts = 0;
    for await (const bytes of file.chunks()) {
      const part = parts++;
      await this.fenced(claim, (manager) => storePart(manager, claim.runId, part, bytes));
    }
    await this.fenced(claim, (manager) => storeFigures(manager, claim.runId, file, parts));
    await this.fenced(claim, (manager) =>
      manager.query('DELETE FROM run_live_evidence WHERE run_id = $1', [claim.runId]),
    );
  }

  /** In place of the look before. */
  async liveEvidence(claim: Claim, { untilNs, bytes }: LiveEvidence): Promise<void> {
    await this.fenced(claim, (manager) =>
      manager.query(
        `INSERT INTO run_live_evidence (run_id, until_ns, bytes)
         SELECT $1::uuid, $2::double precision, $3::bytea WHERE NOT EXISTS (SELECT 1 FROM run_evidence WHERE run_id = $1)
         ON CONFLICT (run_id) DO UPDATE SET until_ns = excluded.until_ns, bytes = excluded.bytes`,
        [claim.runId, untilNs, bytes],
      ),
    );
  }

  /** Seals the verdict: it can be written once. */
  async verdict(claim: Claim, verdict: Verdict): Promise<void> {
    await this.fenced(claim, async (manager) => {
      await manager.query(`INSERT INTO run_results (run_id, verdict, sealed_at) VALUES ($1, $2, now())`, [
        claim.runId,
        JSON.stringify(verdict),
      ]);
      await appendEvent(manager, claim.runId, 'verdict', {
        faultFound: verdict.faultFound,
        answer: verdict.answer,
      });
    });
  }

  /** @param record what else scoring needs of the drill's course */
  async truth(claim: Claim, truth: readonly TruthEntry[], record: CourseRecord | null = null): Promise<void> {
    await this.fenced(claim, async (manager) => {
      await manager.query(`INSERT INTO run_truth (run_id, truth, record) VALUES ($1, $2, $3)`, [
        claim.runId,
        JSON.stringify(truth),
        record === null ? null : JSON.stringify(record),
      ]);
    });
  }

  private fenced<T>(claim: Claim, work: (manager: EntityManager, run: RunEntity) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(async (manager) => {
      const run = await manager.findOne(RunEntity, {
        where: { id: claim.runId },
        lock: { mode: 'pessimistic_write' },
      });
      // Nothing is written after the end, so that `end` is the last event.
      if (run === null || run.fence !== claim.fence || isFinal(run.state)) throw leaseLost(claim);
      return work(manager, run);
    });
  }
}

/** The fabric of a run, as its row has it. */
export type DrilledFabric = Pick<RunEntity, 'fabricName' | 'driver' | 'fabricDefinition'>;

/** Whether nothing of the fabric outlives the process that computes it: it is simulated, and keeps no pace. */
export const endsWithItsProcess = ({
  driver,
  fabricDefinition,
}: Omit<DrilledFabric, 'fabricName'>): boolean => driver === 'simulated' && !isPaced(fabricDefinition);

export const isPaced = (fabric: unknown): boolean =>
  (fabric as { spec?: { pace?: unknown } } | null)?.spec?.pace !== undefined;

/** A run whose undo failed on the fabric and that nobody has cleared yet: the newest, one is enough. */
export async function blockingRun(
  sql: Sql,
  fabric: DrilledFabric,
): Promise<{ id: string; reason: string | null } | undefined> {
  if (endsWithItsProcess(fabric)) return undefined;
  const [blocking] = await sql.query<{ id: string; reason: string | null }[]>(
    `SELECT id, reason FROM runs WHERE fabric_name = $1 AND state = 'rollback-failed' AND cleared_at IS NULL
        AND NOT (driver = 'simulated' AND fabric_definition #> '{spec,pace}' IS NULL)
      ORDER BY created_at DESC LIMIT 1`,
    [fabric.fabricName],
  );
  return blocking;
}

/** Whether a run that was begun on the same fabric has not ended; a fabric's claims wait for one another. */
async function isBusy(manager: EntityManager, run: RunEntity): Promise<boolean> {
  await manager.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`fabric ${run.fabricName}`]);
  const others = await manager.query<unknown[]>(
    `SELECT 1 FROM runs WHERE fabric_name = $1 AND driver <> 'simulated' AND id <> $2 AND fence > 0
        AND NOT (state = ANY($3)) LIMIT 1`,
    [run.fabricName, run.id, FINAL_STATES],
  );
  return others.length > 0;
}

const leaseLost = ({ runId }: Claim): LeaseLostError =>
  new LeaseLostError(`run ${runId} was claimed by another worker, has ended or is gone`);

const abortReasonOf = (run: RunEntity): string => run.abortReason ?? 'abort requested';

function afterAbort(run: RunEntity, ending: Ending): Ending {
  if (run.abortRequestedAt === null || worst([ending.state, 'aborted']) === ending.state) return ending;
  return { state: 'aborted', reason: abortReasonOf(run), exitCode: EXIT.aborted };
}

/** Appends a transition with its event; the run's row must be locked by the caller. */
export async function recordTransition(
  manager: EntityManager,
  runId: string,
  state: RunState,
  detail: string | null,
): Promise<void> {
  await manager.query(
    `INSERT INTO run_transitions (run_id, seq, state, at, detail)
     VALUES ($1, (SELECT coalesce(max(seq), 0) + 1 FROM run_transitions WHERE run_id = $1), $2, clock_timestamp(), $3)`,
    [runId, state, detail],
  );
  await appendEvent(manager, runId, 'state', { state, ...(detail === null ? {} : { detail }) });
}

/** Writes a run's end; the row must be locked by the caller. */
export async function endRun(manager: EntityManager, run: RunEntity, ending: Ending): Promise<void> {
  if (!mayGo(run.state, ending.state)) throw new Error(`a run can't go from ${run.state} to ${ending.state}`);
  const [{ now }] = await manager.query<[{ now: Date }]>('SELECT now() AS now');
  Object.assign(run, {
    state: ending.state,
    reason: ending.reason,
    exitCode: ending.exitCode,
    leaseOwner: null,
    leaseUntil: null,
    endedAt: now,
    // what is left in place must be known, whoever is to find it out
    sealed: run.sealed && ending.state !== 'rollback-failed',
  });
  await manager.save(run);
  await recordTransition(manager, run.id, ending.state, ending.reason);
  await appendEvent(manager, run.id, 'end', { ...ending });
}
