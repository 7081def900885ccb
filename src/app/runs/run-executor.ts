/**
 * Executes one run: claims it, opens its fabric, walks the drill, stores what comes out.
 *
 * While it works, a heartbeat renews the lease and looks for an abort. A run that was claimed before (its worker died)
 * is not begun again and not resumed: what it may have left in place is reverted from the journal and it ends as
 * `error`.
 */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/problem.js';
import type { Plan } from '../../drill/plan/plan.js';
import { revertEntry } from '../../drill/undo.js';
import { endingOf, endingOfError } from '../../drill/ending.js';
import { runDrill, type DrillHooks } from '../../drill/walk.js';
import { judgeCutShort, type Judgement } from '../../drill/judge.js';
import type { DrillReport } from '../../drill/compute/task.js';
import { journalId } from '../../store/runs/finished-run.js';
import { ComputedDrills, type ProgramSettings } from './computed-drill.js';
import type { openFabric } from '../../drivers/catalog.js';
import type { Fabric } from '../../fabric-api/fabric.js';
import { statedObjectives } from '../../documents/experiment.js';
import { EXIT } from '../../scoring/exit-codes.js';
import { experimentFromStored, fabricFromStored, withJobsAsWritten } from '../../documents/stored.js';
import { encodedParts } from '../../evidence/arrow.js';
import { EvidenceFile } from '../../evidence/evidence-file.js';
import { databaseLoss } from '../platform/problem/database-loss.js';
import { lookEveryFewSeconds } from './live-look.js';
import type { RunEntity, UndoEntryEntity } from '../../store/runs/run.entity.js';
import {
  endsWithItsProcess,
  isPaced,
  LeaseLostError,
  RunStore,
  type Claim,
  type Ending,
} from '../../store/runs/run-store.js';
import { scorecardFrom } from '../../store/runs/run-view.js';

export interface ExecutorSettings {
  /** A worker that is silent for this long is taken for dead, and its faults are reverted by another. */
  leaseMs: number;
  heartbeatMs: number;
  /** How often a worker looks for runs that nobody looks after. */
  sweepMs: number;
  /** What closing does to runs under way: revert and abort them, or let them come to their end. */
  onClose: 'abort' | 'finish';
  version: string;
  /** Replaces settings of the processes that compute drills. */
  programs?: Partial<ProgramSettings>;
  /** `false`: drills on simulated fabrics run here, on what `openFabric` makes, and not in processes of their own. */
  computed?: boolean;
  /** Makes the fabric of a run. */
  openFabric: typeof openFabric;
}

export const EXECUTOR_SETTINGS = Symbol('EXECUTOR_SETTINGS');

/** Progress is stored at most this often: it is for eyes. */
const PROGRESS_EVERY_MS = 200;

/** In logs, of a run whose truth is sealed; the reason is in its row. */
const WITHHELD = 'it failed; why is sealed until its game day opens it';

@Injectable()
export class RunExecutor {
  private readonly logger = new Logger('RunExecutor');
  private readonly owner = `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  private readonly stopping = new AbortController();
  private readonly drills: ComputedDrills;

  constructor(
    private readonly store: RunStore,
    @Inject(EXECUTOR_SETTINGS) private readonly settings: ExecutorSettings,
  ) {
    this.drills = new ComputedDrills(settings.programs);
  }

  /** Once no drill is under way any more. */
  close(): Promise<void> {
    return this.drills.close();
  }

  /** Asks every drill in this process to revert and end as aborted; none is begun any more. */
  shutdown(): void {
    this.stopping.abort('the worker is shutting down');
  }

  /**
   * Does nothing when another worker holds the run or it has ended. Never rejects for what a run can end in; a run
   * whose end could not be written keeps its lease until that is over, and is cleaned up then.
   */
  async execute(runId: string): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const claimed = await this.store.claim(runId, this.owner, this.settings.leaseMs);
    if (claimed === undefined) return;
    const { claim, run } = claimed;
    const abort = new AbortController();
    const stop = (): void => abort.abort(this.stopping.signal.reason);
    this.stopping.signal.addEventListener('abort', stop);
    const heartbeat = this.startHeartbeat(claim, abort);
    try {
      if (claim.fence > 1) await this.cleanUp(claim, run);
      else await this.begin(claim, run, abort);
    } catch (error) {
      this.logger.warn(`run ${runId}: ${run.sealed ? WITHHELD : messageOf(error)}`);
    } finally {
      clearInterval(heartbeat);
      this.stopping.signal.removeEventListener('abort', stop);
    }
  }

  private startHeartbeat(claim: Claim, abort: AbortController): NodeJS.Timeout {
    const beat = oneAtATime(async () => {
      try {
        const { abortReason } = await this.store.heartbeat(claim, this.settings.leaseMs);
        if (abortReason !== null) abort.abort(abortReason);
      } catch (error) {
        if (error instanceof LeaseLostError) abort.abort(error.message);
        else this.logger.warn(`heartbeat of run ${claim.runId}: ${messageOf(error)}`);
      }
    });
    return setInterval(beat, this.settings.heartbeatMs);
  }

  private async begin(claim: Claim, run: RunEntity, abort: AbortController): Promise<void> {
    const block = await this.store.fabricBlock(run);
    if (block !== null) {
      await this.end(claim, { state: 'inconclusive', reason: block, exitCode: EXIT.inconclusive });
      return;
    }
    try {
      await (this.isComputed(run) ? this.compute(claim, run, abort) : this.drill(claim, run, abort));
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      const lost = databaseLoss(error);
      if (lost !== undefined) {
        await this.databaseAgain(claim);
        return this.settle(claim, run, lost.message);
      }
      if (this.isComputed(run)) await this.endedWithItsProcess(claim);
      const ending = endingOfError(error);
      if (ending.exitCode === EXIT.bug) {
        this.logger.error(
          `run ${run.id}: ${run.sealed ? WITHHELD : ending.reason}`,
          error instanceof Error && !run.sealed ? error.stack : undefined,
        );
      }
      await this.end(claim, ending);
    }
  }

  /** Whether nothing of its fabric outlives the process that computes it. */
  private isComputed(run: RunEntity): boolean {
    return this.settings.computed !== false && endsWithItsProcess(run);
  }

  private async compute(claim: Claim, run: RunEntity, abort: AbortController): Promise<void> {
    const experiment = experimentFromStored(run.definition);
    const fabric = fabricFromStored(run.fabricDefinition, experiment);
    const objectives = statedObjectives(experiment.spec);
    const document = withJobsAsWritten(run.fabricDefinition, run.definition);
    const keeper = {
      report: this.keeperOf(claim, abort),
      evidence: (file: EvidenceFile) => this.store.evidence(claim, file),
    };
    const task = { experiment, fabric, seed: run.seed, plan: run.plan, objectives };
    const judgement = await this.drills.run(task, document, keeper, abort.signal);
    if (judgement === undefined) await this.endedWithItsProcess(claim);
    const judged = judgement ?? judgeCutShort({ aborted: String(abort.signal.reason) }, objectives);
    await this.end(claim, endingOf(judged), judged);
  }

  private keeperOf(claim: Claim, abort: AbortController): (report: DrillReport) => Promise<void> {
    const id = (own: string): string => journalId(claim.runId, own);
    const progress = this.progressOf(claim);
    return async (report) => {
      switch (report.type) {
        case 'state':
          return this.store.go(claim, report.state, report.detail);
        case 'progress':
          return progress(report.nowNs, report.durationNs);
        case 'intended': {
          const reason = await this.store.intend(claim, { ...report.entry, id: id(report.entry.id) });
          if (reason !== null) abort.abort(reason);
          return;
        }
        case 'applied':
          return this.store.applied(claim, id(report.id));
        case 'verified':
          return this.store.verified(claim, id(report.id));
        case 'failed':
          return this.store.failed(claim, id(report.id), report.reason);
        case 'verdict':
          return this.store.verdict(claim, report.verdict);
        case 'truth': {
          const { truth: _, ...record } = report.record;
          return this.store.truth(claim, report.truth, record);
        }
        // the rest is not of the course of the drill
        default:
          return;
      }
    };
  }

  /** What its journal still holds open ended with the fabric. */
  private async endedWithItsProcess(claim: Claim): Promise<void> {
    for (const { id } of await this.store.openEntries(claim.runId)) await this.store.verified(claim, id);
  }

  private async drill(claim: Claim, run: RunEntity, abort: AbortController): Promise<void> {
    const experiment = experimentFromStored(run.definition);
    await EvidenceFile.requirePlace();
    const fabric = await this.openStored(run, true);
    try {
      const judgement = await runDrill({
        plan: withRunIds(run.plan, run.id),
        fabric,
        objectives: statedObjectives(experiment.spec),
        // a real fabric has no other history, and is not opened twice
        ...(run.driver === 'simulated' ? { openTwin: () => this.openStored(run) } : {}),
        signal: abort.signal,
        journal: {
          intend: async (entry) => {
            const abortReason = await this.store.intend(claim, entry);
            if (abortReason !== null) abort.abort(abortReason);
          },
          applied: (id) => this.store.applied(claim, id),
          verified: (id) => this.store.verified(claim, id),
          failed: (id, reason) => this.store.failed(claim, id, reason),
        },
        hooks: this.hooks(claim, withJobsAsWritten(run.fabricDefinition, run.definition), fabric),
      });
      await this.end(claim, endingOf(judgement), judgement);
    } finally {
      await fabric.close();
    }
  }

  /** @param document the Fabric document with the jobs that run on it, to go with the evidence */
  private hooks(claim: Claim, document: unknown, fabric: Fabric): DrillHooks {
    const look = isPaced(document)
      ? lookEveryFewSeconds(
          fabric,
          document,
          (evidence) => this.store.liveEvidence(claim, evidence),
          (error) => this.logger.debug(`no look at the evidence so far: ${messageOf(error)}`),
        )
      : (): void => undefined;
    const progress = this.progressOf(claim);
    return {
      state: (state, detail) => this.store.go(claim, state, detail ?? null),
      progress: (nowNs, durationNs) => {
        look(nowNs);
        progress(nowNs, durationNs);
      },
      evidence: async (evidence) => {
        const file = await EvidenceFile.write(encodedParts(evidence, true, document));
        try {
          await this.store.evidence(claim, file);
        } finally {
          await file.close();
        }
      },
      verdict: (verdict) => this.store.verdict(claim, verdict),
      truth: (truth, { truth: _, ...record }) => this.store.truth(claim, truth, record),
    };
  }

  private progressOf(claim: Claim): (nowNs: number, durationNs: number) => void {
    let lastMs = 0;
    let position = { now_s: 0, duration_s: 0 };
    const show = oneAtATime(() =>
      this.store
        .event(claim, 'progress', position)
        .catch((error: unknown) => this.logger.debug(`progress not stored: ${messageOf(error)}`)),
    );
    return (nowNs, durationNs) => {
      const nowMs = Date.now();
      if (nowMs - lastMs < PROGRESS_EVERY_MS && nowNs < durationNs) return;
      lastMs = nowMs;
      position = { now_s: nowNs / 1e9, duration_s: durationNs / 1e9 };
      show();
    };
  }

  /** Waits until the database answers; the run stays ours unless another worker has claimed it meanwhile. */
  private async databaseAgain(claim: Claim): Promise<void> {
    for (;;) {
      try {
        await this.store.heartbeat(claim, this.settings.leaseMs);
        return;
      } catch (error) {
        // who is leaving waits no longer: the next worker settles it
        if (databaseLoss(error) === undefined || this.stopping.signal.aborted) throw error;
        await sleep(this.settings.heartbeatMs);
      }
    }
  }

  /** A run whose worker died. */
  private cleanUp(claim: Claim, run: RunEntity): Promise<void> {
    return this.settle(claim, run, `the worker was lost in state ${run.state}`);
  }

  /** A run that lost something it needs: undo what may be in place, then end it. */
  private async settle(claim: Claim, run: RunEntity, lost: string): Promise<void> {
    const open = await this.store.openEntries(run.id);
    const failures = open.length === 0 ? [] : await this.undo(claim, run, open);
    if (failures.length > 0) {
      const reason = `${lost} and not all could be undone: ${failures.join('; ')}`;
      await this.end(claim, { state: 'rollback-failed', reason, exitCode: EXIT.rollbackFailed });
    } else {
      const count = open.length === 1 ? 'one impairment was' : `${open.length} impairments were`;
      // the journal of a computed drill is behind what its process had in place
      const nothing = this.isComputed(run)
        ? 'nothing of a simulated fabric outlives it'
        : 'nothing was in place';
      const undone = open.length === 0 ? nothing : `${count} reverted`;
      await this.end(claim, { state: 'error', reason: `${lost}; ${undone}`, exitCode: EXIT.inconclusive });
    }
  }

  private async undo(claim: Claim, run: RunEntity, entries: readonly UndoEntryEntity[]): Promise<string[]> {
    if (this.isComputed(run)) {
      await this.endedWithItsProcess(claim);
      return [];
    }
    let fabric: Fabric;
    try {
      fabric = await this.openStored(run, true);
    } catch (error) {
      return [`the fabric can't be opened: ${messageOf(error)}`];
    }
    const failures: string[] = [];
    try {
      for (const entry of entries) {
        const failure = await revertEntry(fabric, entry);
        if (failure === undefined) {
          await this.store.verified(claim, entry.id);
        } else {
          await this.store.failed(claim, entry.id, failure);
          failures.push(`${entry.id}: ${failure}`);
        }
      }
    } finally {
      await fabric.close();
    }
    return failures;
  }

  /** An abort that came in the last moment leaves a run without scores. */
  private async end(claim: Claim, ending: Ending, judgement?: Judgement): Promise<void> {
    await this.store.finish(claim, ending, (run, actual) =>
      scorecardFrom(run, this.settings.version, actual === ending ? judgement : undefined),
    );
  }

  /** @param isFoundAgain whether a fabric that outlives this worker is to be found by the next one */
  private openStored(run: RunEntity, isFoundAgain = false): Promise<Fabric> {
    const fabric = fabricFromStored(run.fabricDefinition, experimentFromStored(run.definition));
    const instance = isFoundAgain ? { name: run.id, sealed: run.sealed } : undefined;
    return this.settings.openFabric(fabric, run.seed, instance);
  }
}

function withRunIds(plan: Plan, runId: string): Plan {
  return {
    ...plan,
    faults: plan.faults.map((fault) => ({
      ...fault,
      impairments: fault.impairments.map((one) => ({ ...one, id: journalId(runId, one.id) })),
    })),
  };
}

/** Leaves a call out while an earlier one is under way: a slow database must not gather them until no connection is left. */
function oneAtATime(work: () => Promise<void>): () => void {
  let busy = false;
  return () => {
    if (busy) return;
    busy = true;
    void work().finally(() => (busy = false));
  };
}
