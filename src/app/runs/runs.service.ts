/** Runs as REST sees them: ask for one, list, look, abort, lift a block, read results. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager, type Repository } from 'typeorm';
import type { Verdict } from '../../diagnosis/verdict.js';
import { requireConfirmation } from '../fabrics/confirmation.js';
import { ExperimentsService, type FabricChoice } from '../experiments/experiments.service.js';
import { refuseFiles } from '../../documents/fabric-document.js';
import { loadExperiment } from '../../documents/load.js';
import { Planning } from '../experiments/planning.js';
import { EnvironmentError, InputError } from '../../core/problem.js';
import { contentDigest } from '../../system/digest.js';
import { checkIdempotencyKey, KEY_LIFE, requireSameRequest } from '../platform/http/idempotency-key.js';
import type { Cursor } from '../platform/http/page.js';
import { ConflictError } from '../../system/errors.js';
import { RUN_QUEUE, type RunQueue } from '../platform/queue/run-queue.js';
import { EXIT } from '../../scoring/exit-codes.js';
import type { Scorecard } from '../../scoring/scorecard.js';
import { unsupportedError } from '../../drill/plan/plan.js';
import { appendEvent } from '../../store/runs/run-events.js';
import type { LiveEvidence } from '../../store/evidence/live-evidence.js';
import type { StoredEvidence } from '../../store/evidence/stored-evidence.js';
import { RunEntity, RunResultEntity } from '../../store/runs/run.entity.js';
import { isFinal } from '../../store/runs/run.machine.js';
import {
  evidenceOf,
  findRun,
  listRuns,
  liveEvidenceOf,
  scorecardOf,
  verdictOf,
  type RunFilter,
  type RunSummary,
} from '../../store/runs/read-runs.js';
import { blockingRun, endRun, recordTransition } from '../../store/runs/run-store.js';
import { scorecardFrom } from '../../store/runs/run-view.js';
import { VERSION } from '../../system/version.js';
import { sealedState } from '../../store/runs/sealed-run.js';

export interface RunRequest {
  experimentId: string;
  fabric?: FabricChoice;
  seed?: number;
  /** Of a simulated fabric. */
  pace?: number;
  /** Name of the fabric, where it is a real one. */
  confirm?: string;
  idempotencyKey?: string;
}

/** What a run gets that nobody asked for by hand. */
export interface RunOrigin {
  id: string;
  scheduleId?: string;
  gameDayId?: string;
  sealed?: boolean;
}

/** An experiment to run, stored or sent along. */
export interface RunSource {
  /** Null for one that is not stored. */
  experimentId: string | null;
  /** As written. */
  definition: unknown;
  fabric: FabricChoice;
  seed?: number;
  /** Of the fabric, where it is a simulated one. */
  pace?: number;
}

@Injectable()
export class RunsService {
  private readonly logger = new Logger('RunsService');
  private readonly runs: Repository<RunEntity>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly experiments: ExperimentsService,
    private readonly planning: Planning,
    @Inject(RUN_QUEUE) private readonly queue: RunQueue,
  ) {
    this.runs = dataSource.getRepository(RunEntity);
  }

  /**
   * Plans first, so that nothing is stored for a run that could not start; then stores and queues it.
   * @returns the run, and whether the idempotency key gave back an earlier one
   */
  async create(request: RunRequest): Promise<{ run: RunEntity; replayed: boolean }> {
    const requestHash = contentDigest({ ...request, idempotencyKey: null });
    const earlier = await this.replay(request.idempotencyKey, requestHash);
    if (earlier !== undefined) return { run: earlier, replayed: true };
    const run = await this.prepare(request);
    // asked before anything is stored, so that a run which is refused for want of a queue leaves nothing behind
    await this.queue.counts();
    const winner = await this.dataSource.transaction(async (manager) => {
      const taken = await reserveKey(manager, request.idempotencyKey, requestHash, run.id);
      if (taken) return undefined;
      await this.store(manager, run);
      return run;
    });
    if (winner === undefined) {
      const raced = await this.replay(request.idempotencyKey, requestHash);
      if (raced !== undefined) return { run: raced, replayed: true };
      throw new ConflictError('a request with this Idempotency-Key is under way', 'try again in a moment');
    }
    await this.enqueue(run.id);
    return { run, replayed: false };
  }

  async store(manager: EntityManager, run: RunEntity): Promise<void> {
    await manager.insert(RunEntity, run as never);
    await recordTransition(manager, run.id, 'pending', null);
  }

  /** Queues a run that is stored; without the queue, a worker's sweep does it when the queue is back. */
  async enqueue(runId: string): Promise<void> {
    await this.queue.add(runId).catch((error: unknown) => {
      if (!(error instanceof EnvironmentError)) throw error;
      this.logger.warn(`run ${runId} is stored but not queued yet: ${error.message}`);
    });
  }

  /** Plans a run, which is then to be stored. @throws what it can't start for; first of all for a missing confirmation */
  async prepare(request: RunRequest, origin?: RunOrigin): Promise<RunEntity> {
    const { id, definition } = await this.experiments.get(request.experimentId);
    const { fabric, seed, pace, confirm } = request;
    requireConfirmation([await this.experiments.drilledFabric(definition, fabric)], confirm);
    const run = await this.plan({ experimentId: id, definition, fabric, seed, pace }, origin);
    if (pace !== undefined && run.driver !== 'simulated') {
      throw InputError.at('/pace', `"${run.fabricName}" is a real fabric: it has the pace it has`);
    }
    run.idempotencyKey = request.idempotencyKey ?? null;
    return run;
  }

  /** The same for an experiment that need not be stored. */
  async plan(source: RunSource, origin?: RunOrigin): Promise<RunEntity> {
    const experiment = loadExperiment(source.definition, refuseFiles).value;
    const fabric = await this.experiments.resolveFabric(experiment, source.fabric, source.pace);
    const seed = source.seed ?? experiment.spec.seed;
    const plan = await this.planning.plan({
      experiment,
      fabric: fabric.document,
      seed,
      room: this.experiments.evidenceRoom,
    });
    if (plan.unsupported.length > 0) throw unsupportedError(plan);
    const run = Object.assign(new RunEntity(), {
      id: origin?.id ?? randomUUID(),
      scheduleId: origin?.scheduleId ?? null,
      gameDayId: origin?.gameDayId ?? null,
      sealed: origin?.sealed ?? false,
      experimentId: source.experimentId,
      experimentName: plan.experiment,
      fabricName: plan.fabric,
      driver: plan.driver,
      definition: source.definition,
      fabricDefinition: fabric.source,
      plan,
      seed,
      state: 'pending' as const,
      reason: null,
      exitCode: null,
      idempotencyKey: null,
      abortRequestedAt: null,
      abortReason: null,
      leaseOwner: null,
      leaseUntil: null,
      clearedAt: null,
      clearedReason: null,
      fence: 0,
      version: VERSION,
      createdAt: new Date(),
      startedAt: null,
      endedAt: null,
    });
    await this.refuseBlockedFabric(run);
    return run;
  }

  /** A fabric on which an undo failed takes no new run until a person has looked. */
  private async refuseBlockedFabric(run: RunEntity): Promise<void> {
    const blocking = await blockingRun(this.dataSource, run);
    if (blocking !== undefined) {
      throw new ConflictError(
        `run ${blocking.id} could not undo everything on "${run.fabricName}": ${blocking.reason ?? ''}`,
        `check the fabric by hand, then: runs clear ${blocking.id} --reason TEXT`,
      );
    }
  }

  private async replay(key: string | undefined, requestHash: string): Promise<RunEntity | undefined> {
    if (key === undefined) return undefined;
    const [row] = await this.dataSource.query<{ request_hash: string; run_id: string }[]>(
      `SELECT request_hash, run_id FROM idempotency_keys WHERE key = $1 AND created_at > now() - interval '${KEY_LIFE}'`,
      [key],
    );
    if (row === undefined) return undefined;
    requireSameRequest(row.request_hash, requestHash);
    return (await this.runs.findOneBy({ id: row.run_id })) ?? undefined;
  }

  get(id: string): Promise<RunEntity> {
    return findRun(this.dataSource, id);
  }

  /** Newest first, one row more than asked for when there are more. */
  list(filter: RunFilter, limit: number, after?: Cursor): Promise<RunSummary[]> {
    return listRuns(this.dataSource, filter, limit, after);
  }

  /** A pending run ends at once; a running one is reverted by its worker. Asking again changes nothing. */
  async abort(id: string, reason: string): Promise<RunEntity> {
    await this.get(id);
    return this.dataSource.transaction(async (manager) => {
      const run = await requestAbort(manager, id, reason);
      if (isFinal(run.state) && run.state !== 'aborted') {
        const how = run.sealed ? '' : ` as ${run.state}`;
        throw new ConflictError(`the run has ended${how}`, 'a run that has ended can’t be aborted');
      }
      return run;
    });
  }

  /** Lifts the block that a run with a failed undo leaves on its fabric. */
  async clear(id: string, reason: string): Promise<RunEntity> {
    await this.get(id);
    return this.dataSource.transaction(async (manager) => {
      const run = await manager.findOneOrFail(RunEntity, {
        where: { id },
        lock: { mode: 'pessimistic_write' },
      });
      if (run.state !== 'rollback-failed') {
        throw new ConflictError(
          `the run has the state ${run.sealed ? sealedState(run) : run.state}`,
          'only a run that ended as rollback-failed blocks its fabric',
        );
      }
      if (run.clearedAt === null) {
        run.clearedAt = new Date();
        run.clearedReason = reason;
        await manager.save(run);
      }
      return run;
    });
  }

  async scorecard(id: string): Promise<Scorecard> {
    return scorecardOf(this.dataSource, await this.get(id));
  }

  async verdict(id: string): Promise<Verdict> {
    return verdictOf(this.dataSource, await this.get(id));
  }

  /** The last look at a run under way. */
  async liveEvidence(id: string): Promise<LiveEvidence> {
    return liveEvidenceOf(this.dataSource, await this.get(id));
  }

  /** The stored Arrow file. */
  async evidence(id: string): Promise<StoredEvidence> {
    return evidenceOf(this.dataSource, await this.get(id));
  }
}

/** Within a transaction of the caller's; of a run that has ended it changes nothing. */
export async function requestAbort(manager: EntityManager, id: string, reason: string): Promise<RunEntity> {
  const run = await manager.findOneOrFail(RunEntity, { where: { id }, lock: { mode: 'pessimistic_write' } });
  if (isFinal(run.state) || run.abortRequestedAt !== null) return run;
  run.abortRequestedAt = new Date();
  run.abortReason = reason;
  await appendEvent(manager, id, 'abort-requested', { reason });
  if (run.state === 'pending' && run.leaseOwner === null) {
    await endRun(manager, run, { state: 'aborted', reason, exitCode: EXIT.aborted });
    await manager.insert(RunResultEntity, { runId: id, scorecard: scorecardFrom(run, run.version) });
  } else {
    await manager.save(run);
  }
  return run;
}

/** @returns whether another request holds the key */
async function reserveKey(
  manager: EntityManager,
  key: string | undefined,
  requestHash: string,
  runId: string,
): Promise<boolean> {
  if (key === undefined) return false;
  checkIdempotencyKey(key);
  await manager.query(`DELETE FROM idempotency_keys WHERE created_at <= now() - interval '${KEY_LIFE}'`);
  const inserted = await manager.query<unknown[]>(
    `INSERT INTO idempotency_keys (key, request_hash, run_id, created_at) VALUES ($1, $2, $3, now())
     ON CONFLICT (key) DO NOTHING RETURNING key`,
    [key, requestHash, runId],
  );
  return inserted.length === 0;
}
