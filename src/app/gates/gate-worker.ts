/**
 * The worker side of gates: makes batches of runs, and decides when those of a round have ended.
 *
 * A decision walks the gate from its start over the outcomes that are kept, and either comes to a result or to runs that
 * are missing, which become the next round. So nothing is lost with a worker: what it made is kept, what it had taken is
 * handed to another one, and a gate of which nothing is queued any more is decided anew. Runs go to threads of their own,
 * since drills on real fabrics need this one on time.
 */
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { EnvironmentError, messageOf } from '../../core/problem.js';
import { CONFIG, type Config } from '../../system/config/config.js';
import { databaseLoss } from '../platform/problem/database-loss.js';
import {
  GATE_QUEUE,
  type GateBatch,
  type GateQueue,
  type GateRoundId,
} from '../platform/queue/gate-queue.js';
import type { QueueWorker } from '../platform/queue/queue-backend.js';
import { EXIT } from '../../scoring/exit-codes.js';
import { gateExitCode } from '../../comparison/result.js';
import { programDigest, runKey } from '../../drill/gate/cache.js';
import type { CheckedGate } from '../../drill/gate/gate-input.js';
import { RunPool, sideInput } from '../../drill/gate/pool.js';
import { GateRounds, type SideTask } from '../../drill/gate/rounds.js';
import type { SideOutcome } from '../../drill/gate/side-run.js';
import { batchesOf } from './batches.js';
import { gateOfSources } from './gate-request.js';
import { GateStore, type GateEnd } from './gate-store.js';
import type { GateEntity, GateState } from './gate.entity.js';

export const GATE_WORKER_SETTINGS = Symbol('fabricdrill gate worker settings');

export interface GateWorkerSettings {
  /** A batch whose worker died is handed to another one after so long. */
  lockMs: number;
  sweepMs: number;
  /** A gate without a sign of life for so long is looked up in the queue. */
  quietS: number;
}

/** More rounds than looks mean that the same runs are missing again and again. */
const MOST_ROUNDS = 20;
/** Gates whose documents are kept read. */
const MOST_READ = 8;

const STATE_OF: Record<'regression' | 'inconclusive' | 'none', GateState> = {
  regression: 'failed',
  inconclusive: 'inconclusive',
  none: 'passed',
};

@Injectable()
export class GateWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('GateWorker');
  private readonly pool: RunPool;
  private readonly gates = new Map<string, CheckedGate>();
  private taking: QueueWorker | undefined;
  private sweeping: Promise<void> | undefined;
  private closing = false;

  constructor(
    private readonly store: GateStore,
    private readonly scheduler: SchedulerRegistry,
    @Inject(GATE_QUEUE) private readonly queue: GateQueue,
    @Inject(CONFIG) private readonly config: Pick<Config, 'workerConcurrency'>,
    @Inject(GATE_WORKER_SETTINGS) private readonly settings: GateWorkerSettings,
  ) {
    this.pool = new RunPool(config.workerConcurrency);
  }

  async onApplicationBootstrap(): Promise<void> {
    const handlers = {
      decide: (round: GateRoundId) => this.decide(round),
      make: (round: GateRoundId, batch: GateBatch) => this.make(round, batch),
    };
    const { lockMs } = this.settings;
    this.taking = await this.queue.worker(handlers, {
      concurrency: this.config.workerConcurrency,
      lockDurationMs: lockMs,
      stalledIntervalMs: lockMs / 2,
    });
    this.scheduler.addInterval(
      'gates',
      setInterval(() => void this.sweep(), this.settings.sweepMs),
    );
  }

  /** A batch under way stops between two of its runs; the queue hands the rest to another worker. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing = true;
    if (this.scheduler.doesExist('interval', 'gates')) this.scheduler.deleteInterval('gates');
    await Promise.all([this.taking?.close(), this.sweeping]);
    await this.pool.close();
  }

  sweep(): Promise<void> {
    this.sweeping ??= this.lookAfter().finally(() => (this.sweeping = undefined));
    return this.sweeping;
  }

  private async lookAfter(): Promise<void> {
    try {
      await this.store.trim();
      for (const { id, round } of await this.store.quiet(this.settings.quietS)) {
        const next = { gateId: id, round };
        if (!(await this.queue.expects(next))) await this.decide(next);
      }
    } catch (error) {
      this.logger.warn(`gates: ${messageOf(error)}`);
    }
  }

  private async decide({ gateId, round }: GateRoundId): Promise<void> {
    const row = await this.store.beginRound(gateId, round);
    if (row === undefined) return;
    const next = { gateId, round: row.round };
    try {
      await this.advance(row, next);
    } catch (error) {
      // what the database did not do is tried again by the sweep
      if (error instanceof EnvironmentError || databaseLoss(error) !== undefined) throw error;
      await this.fail(next, error);
    }
  }

  private async advance(row: GateEntity, next: GateRoundId): Promise<void> {
    const gate = this.read(row);
    const rounds = new GateRounds(gate);
    let runs = 0;
    for (let due = rounds.due(); due.length > 0; due = rounds.due()) {
      const { outcomes, missing } = await this.outcomesOf(gate, due);
      if (missing.length > 0) {
        if (row.round > MOST_ROUNDS) throw new Error(neverMade(gate, missing[0]));
        await this.store.plan(row.id, next.round, runs + due.length - missing.length, runs + due.length);
        return this.queue.add(next, batchesOf(missing));
      }
      rounds.record(outcomes);
      runs += due.length;
    }
    const result = rounds.result({ version: row.version, run: { runs, fromCache: runs - row.runsMade } });
    await this.store.plan(row.id, next.round, runs, runs);
    await this.store.end(row.id, next.round, {
      state: STATE_OF[result.verdict],
      exitCode: gateExitCode(result.verdict),
      reason: result.objectives.find(({ verdict }) => verdict === result.verdict)?.reason ?? null,
      result,
    });
  }

  private async outcomesOf(
    gate: CheckedGate,
    due: readonly SideTask[],
  ): Promise<{ outcomes: SideOutcome[]; missing: SideTask[] }> {
    const keys = due.map((task) => runKey(sideInput(gate, task), programDigest()));
    const known = await this.store.known(keys);
    return {
      outcomes: keys.flatMap((key) => known.get(key) ?? []),
      missing: due.filter((_, at) => !known.has(keys[at])),
    };
  }

  private async make({ gateId, round }: GateRoundId, { experiment, side, seeds }: GateBatch): Promise<void> {
    for (const seed of seeds) {
      if (this.closing) throw new Error('this worker is leaving');
      const row = await this.store.open(gateId, round);
      if (row === undefined) return;
      const gate = this.read(row);
      const input = sideInput(gate, { experiment, side, seed });
      const key = runKey(input, programDigest());
      if ((await this.store.known([key])).size > 0) continue;
      let outcome: SideOutcome;
      try {
        outcome = await this.pool.run(input);
      } catch (error) {
        if (this.closing) throw error;
        return this.fail({ gateId, round }, error);
      }
      await this.store.keep(gateId, round, key, outcome);
    }
  }

  /** Our own bug, with the run that shows it. */
  private fail({ gateId, round }: GateRoundId, error: unknown): Promise<void> {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.logger.error(`gate ${gateId}: ${detail}`);
    const end: GateEnd = {
      state: 'error',
      exitCode: EXIT.bug,
      reason: error instanceof Error ? error.message.split('\n')[0] : String(error),
    };
    return this.store.end(gateId, round, end);
  }

  private read(row: GateEntity): CheckedGate {
    const known = this.gates.get(row.id);
    if (known !== undefined) return known;
    const gate = gateOfSources(row.definition);
    const [oldest] = this.gates.keys();
    if (this.gates.size >= MOST_READ) this.gates.delete(oldest);
    this.gates.set(row.id, gate);
    return gate;
  }
}

function neverMade(gate: CheckedGate, { experiment, side, seed }: SideTask): string {
  const { name } = gate.experiments[experiment].metadata;
  return `after ${MOST_ROUNDS} rounds runs are still missing, such as ${name} on the ${side} with seed ${seed}; do all workers run the same version?`;
}
