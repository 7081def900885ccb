/**
 * Takes a game day's next steps, in every API process: the row of the day is the truth, and whoever looks locks it.
 *
 * All that follows from one look (runs, progress, seals broken, the end) is written in one transaction, and a run has the
 * id that was drawn when the day was asked for, so a process that dies in between has done nothing or everything. Runs go
 * through the queue of all runs; a run that is stored but was not queued is queued by a worker's sweep. A run on which an
 * undo failed ends the day: nothing more is injected, and its seal is broken, since what is in place must be known.
 *
 * An abort breaks no other seal, or anybody could read the truth by stopping the day: it waits for the diagnoses of what
 * was begun, as it would have without.
 */
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource, In, IsNull, type EntityManager } from 'typeorm';
import { messageOf } from '../../core/problem.js';
import { loadGameDay } from '../../documents/load.js';
import { evaluateObjective, parseObjective } from '../../scoring/objectives.js';
import { Unawaited } from '../../system/unawaited.js';
import { RunEntity, RunResultEntity } from '../../store/runs/run.entity.js';
import { isFinal } from '../../store/runs/run.machine.js';
import { requestAbort, RunsService } from '../runs/runs.service.js';
import type { Scorecard } from '../../scoring/scorecard.js';
import { stagePlans } from './rules/stage-plans.js';
import {
  allOver,
  nextSteps,
  type GameDayState,
  type ItemFact,
  type Judge,
  type StagePlan,
} from './rules/stages.js';
import { GameDayEntity, GameDayItemEntity, isSealed, type StageProgress } from './game-day.entity.js';

const LOOK_MS = 500;

/** All that one look is about; rows of the day are locked. */
interface Look {
  manager: EntityManager;
  day: GameDayEntity;
  items: GameDayItemEntity[];
  runs: Map<string, RunEntity>;
  now: Date;
}

@Injectable()
export class GameDayConductor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('GameDayConductor');
  /** Without the queue each run would take its time, and a worker's sweep queues it later. */
  private readonly queueing = new Unawaited(this.logger);
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly runs: RunsService,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.look(), LOOK_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    await this.queueing.ended();
  }

  /** At all days that have not ended, or waits for the look that is under way. */
  look(): Promise<void> {
    this.looking ??= this.lookAtAll().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async lookAtAll(): Promise<void> {
    try {
      const open = await this.dataSource
        .getRepository(GameDayEntity)
        .find({ select: { id: true }, where: { endedAt: IsNull() }, order: { createdAt: 'ASC' } });
      for (const { id } of open) {
        // one that fails holds up no other
        await this.advance(id).catch((error: unknown) =>
          this.logger.warn(`game day ${id}: ${messageOf(error)}`),
        );
      }
    } catch (error) {
      this.logger.warn(`game days: ${messageOf(error)}`);
    }
  }

  /** Takes the steps that are due; none when another process is at it. */
  async advance(id: string): Promise<void> {
    const started = await this.dataSource.transaction(async (manager) => {
      const day = await manager.findOne(GameDayEntity, {
        where: { id, endedAt: IsNull() },
        lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
      });
      if (day === null) return [];
      const look = await lookAt(manager, day);
      const failed = [...look.runs.values()].find(({ state }) => state === 'rollback-failed');
      if (failed !== undefined && day.abortRequestedAt === null) {
        day.abortRequestedAt = look.now;
        day.abortReason = `run ${failed.id} could not undo everything`;
      }
      const runIds = day.abortRequestedAt === null ? await this.goOn(look) : await stop(look);
      await manager.save(day);
      return runIds;
    });
    for (const runId of started) this.queueing.begin(`run ${runId}`, () => this.runs.enqueue(runId));
  }

  private async goOn(look: Look): Promise<string[]> {
    const { manager, day, items, now } = look;
    const stages = stagePlans(loadGameDay(day.definition).value.spec);
    const judge = await judgeOf(look, stages);
    const facts = day.progress.map(({ state, continuedAt }) => ({ state, continued: continuedAt !== null }));
    const started: string[] = [];
    for (const step of nextSteps(
      stages,
      facts,
      items.map((item) => factOf(look, item)),
      judge,
    )) {
      if (step.do === 'start') {
        const item = items[step.item];
        await this.runs.store(manager, Object.assign(new RunEntity(), item.draft, { createdAt: now }));
        await manager.update(GameDayItemEntity, keyOf(item), { startedAt: now });
        started.push(item.runId);
        continue;
      }
      const stage = day.progress[step.stage];
      Object.assign(stage, { state: step.state, reason: step.reason });
      if (step.state === 'running') stage.startedAt = now.toISOString();
      if (step.state === 'done' || step.state === 'skipped') stage.endedAt = now.toISOString();
    }
    await breakSeals(
      look,
      items.filter((item) => mayOpen(look, item)),
    );
    day.state = stateOf(look);
    if (day.state === 'completed') day.endedAt = now;
    return started;
  }
}

async function lookAt(manager: EntityManager, day: GameDayEntity): Promise<Look> {
  const items = await manager.find(GameDayItemEntity, {
    where: { gameDayId: day.id },
    order: { ordinal: 'ASC' },
  });
  const rows = await manager.find(RunEntity, { where: { id: In(items.map(({ runId }) => runId)) } });
  const [{ now }] = await manager.query<[{ now: Date }]>('SELECT clock_timestamp() AS now');
  return { manager, day, items, runs: new Map(rows.map((run) => [run.id, run])), now };
}

const keyOf = ({ gameDayId, ordinal }: GameDayItemEntity) => ({ gameDayId, ordinal });

function factOf({ runs }: Look, { runId }: GameDayItemEntity): ItemFact {
  const run = runs.get(runId);
  if (run === undefined) return 'unstarted';
  return isFinal(run.state) ? 'ended' : 'open';
}

/** A condition holds when it holds for each of its experiments; one that did not run leaves it unknown. */
async function judgeOf({ manager, day, items, runs }: Look, stages: readonly StagePlan[]): Promise<Judge> {
  const asked = stages.flatMap(({ when }, at) => (day.progress[at].state === 'blocked' ? when : []));
  const ids = asked.flatMap((condition) => condition.items.map((item) => items[item].runId));
  const results = ids.length === 0 ? [] : await manager.find(RunResultEntity, { where: { runId: In(ids) } });
  const cards = new Map<string, Scorecard | null>(results.map(({ runId, scorecard }) => [runId, scorecard]));
  return ({ items: about, expression }) => {
    const objective = parseObjective(expression);
    const passed = about.map((item) => {
      const card = runs.has(items[item].runId) ? cards.get(items[item].runId) : undefined;
      return card == null ? null : evaluateObjective(objective, card.scores).passed;
    });
    return passed.includes(false) ? false : passed.includes(null) ? null : true;
  };
}

/** Reverts what is under way; the day has ended when all of it has, and on a blind day the team has said what it was. */
async function stop(look: Look): Promise<string[]> {
  const { manager, day, items, runs, now } = look;
  let open = 0;
  for (const run of runs.values()) {
    if (isFinal(run.state)) continue;
    const asked = await requestAbort(manager, run.id, day.abortReason ?? 'its game day was aborted');
    Object.assign(run, asked);
    if (!isFinal(asked.state)) open += 1;
  }
  await breakSeals(
    look,
    items.filter((item) => mayOpen(look, item)),
  );
  day.reason = day.abortReason;
  const undiagnosed = items.some((item) => isSealed(item) && wasBegun(look, item));
  day.state = open > 0 ? 'running' : undiagnosed ? 'waiting' : 'aborted';
  if (open > 0) return [];
  for (const stage of day.progress) endStage(stage, now);
  if (undiagnosed) return [];
  await breakSeals(look, items);
  day.endedAt = now;
  return [];
}

/** On a day that was aborted. */
function endStage(stage: StageProgress, now: Date): void {
  if (stage.state === 'running') Object.assign(stage, { state: 'aborted', endedAt: now.toISOString() });
  else if (stage.state === 'blocked' || stage.state === 'paused') {
    Object.assign(stage, { state: 'skipped', reason: 'the day was aborted', endedAt: now.toISOString() });
  }
}

/** Whether a seal has nothing left to keep: the team has said what it was, or what is in place must be known. */
function mayOpen(look: Look, item: GameDayItemEntity): boolean {
  if (look.runs.get(item.runId)?.state === 'rollback-failed') return true;
  return item.committedAt !== null && factOf(look, item) === 'ended';
}

/** A run that no worker took has shown nothing that could be diagnosed. */
const wasBegun = ({ runs }: Look, { runId }: GameDayItemEntity): boolean =>
  runs.get(runId)?.startedAt != null;

async function breakSeals({ manager, now }: Look, items: readonly GameDayItemEntity[]): Promise<void> {
  for (const item of items.filter(isSealed)) {
    item.openedAt = now;
    await manager.update(GameDayItemEntity, keyOf(item), { openedAt: now });
    await manager.update(RunEntity, { id: item.runId }, { sealed: false });
  }
}

function stateOf({ day, items }: Look): GameDayState {
  const over = allOver(day.progress);
  if (over && !items.some(isSealed)) return 'completed';
  const isBusy = day.progress.some(({ state }) => state === 'running');
  return over || (!isBusy && day.progress.some(({ state }) => state === 'paused')) ? 'waiting' : 'running';
}
