/** Game days as REST sees them: start, list, look, note, continue, commit, abort. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, IsNull, type EntityManager, type Repository } from 'typeorm';
import type { Verdict } from '../../diagnosis/verdict.js';
import type { GameDay } from '../../documents/game-day.js';
import type { Loaded, LoadedFile } from '../../documents/load.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError } from '../../core/problem.js';
import { contentDigest } from '../../system/digest.js';
import { checkIdempotencyKey, madeEarlier } from '../platform/http/idempotency-key.js';
import type { Cursor } from '../platform/http/page.js';
import { isUuid } from '../../system/uuid.js';
import { ConflictError, NotFoundError } from '../../system/errors.js';
import { DiagnosisEntity } from '../../store/runs/diagnosis.entity.js';
import { DiagnosesService } from '../runs/diagnoses/diagnoses.service.js';
import { RunEntity } from '../../store/runs/run.entity.js';
import type { GameDayState } from './rules/stages.js';
import { GameDayConductor } from './game-day-conductor.js';
import { GameDayPlanner, type PlannedDay } from './game-day-planner.js';
import {
  GameDayEntity,
  GameDayItemEntity,
  GameDayNoteEntity,
  isSealed,
  type NoteKind,
} from './game-day.entity.js';

const UNIQUE_VIOLATION = '23505';

@Injectable()
export class GameDaysService {
  private readonly days: Repository<GameDayEntity>;
  private readonly items: Repository<GameDayItemEntity>;
  private readonly notes: Repository<GameDayNoteEntity>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly planner: GameDayPlanner,
    private readonly diagnoses: DiagnosesService,
    private readonly conductor: GameDayConductor,
  ) {
    this.days = dataSource.getRepository(GameDayEntity);
    this.items = dataSource.getRepository(GameDayItemEntity);
    this.notes = dataSource.getRepository(GameDayNoteEntity);
  }

  /**
   * Plans every experiment, so that nothing is begun that could not be finished; then stores the day and begins it.
   * @returns the day, and whether the idempotency key gave back an earlier one
   * @throws InputError with every experiment that can't be found or planned, at its place in the document
   */
  async start(
    loaded: Loaded<GameDay>,
    beside: LoadedFile,
    idempotencyKey?: string,
  ): Promise<{ day: GameDayEntity; replayed: boolean }> {
    checkIdempotencyKey(idempotencyKey);
    const requestHash = contentDigest(sourcesOf(loaded, beside));
    const earlier = await madeEarlier(this.days, idempotencyKey, requestHash);
    if (earlier !== undefined) return { day: earlier, replayed: true };
    await this.planner.requireConfirmation(loaded, beside, loaded.value.confirm);
    const planned = await this.planner.plan(loaded, beside, { id: randomUUID() });
    if (idempotencyKey !== undefined) Object.assign(planned.day, { idempotencyKey, requestHash });
    try {
      await this.dataSource.transaction((manager) => this.store(manager, planned));
    } catch (error) {
      if (idempotencyKey === undefined || (error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
      const raced = await madeEarlier(this.days, idempotencyKey, requestHash);
      if (raced === undefined) throw error;
      return { day: raced, replayed: true };
    }
    await this.conductor.advance(planned.day.id);
    return { day: await this.get(planned.day.id), replayed: false };
  }

  /** Within a transaction of the caller's; whoever conducts finds it there. */
  async store(manager: EntityManager, { day, items }: PlannedDay): Promise<void> {
    await manager.insert(GameDayEntity, day as never);
    await manager.insert(GameDayItemEntity, items as never);
  }

  async get(id: string): Promise<GameDayEntity> {
    const day = isUuid(id) ? await this.days.findOneBy({ id }) : null;
    if (day === null) throw new NotFoundError(`there is no game day ${id}`, 'GET /v1/game-days lists them');
    return day;
  }

  itemsOf(id: string): Promise<GameDayItemEntity[]> {
    return this.items.find({ where: { gameDayId: id }, order: { ordinal: 'ASC' } });
  }

  /** Newest first, one row more than asked for when there are more. */
  list(
    filter: { name?: string; state?: GameDayState },
    limit: number,
    after?: Cursor,
  ): Promise<GameDayEntity[]> {
    const query = this.days
      .createQueryBuilder('day')
      .orderBy('day.createdAt', 'DESC')
      .addOrderBy('day.id', 'DESC')
      .limit(limit + 1);
    if (filter.name !== undefined) query.andWhere('day.name = :name', { name: filter.name });
    if (filter.state !== undefined) query.andWhere('day.state = :state', { state: filter.state });
    if (after !== undefined) {
      query.andWhere('(day.createdAt, day.id) < (:createdAt, CAST(:id AS uuid))', { ...after });
    }
    return query.getMany();
  }

  /** Notes may still come when the day has ended: that is when people think. */
  async note(id: string, note: { text: string; author: string; kind: NoteKind }): Promise<GameDayNoteEntity> {
    const day = await this.get(id);
    const row = Object.assign(new GameDayNoteEntity(), {
      id: randomUUID(),
      gameDayId: day.id,
      at: new Date(),
      ...note,
    });
    await this.notes.insert(row);
    return row;
  }

  async notesOf(id: string): Promise<GameDayNoteEntity[]> {
    const day = await this.get(id);
    return this.notes.find({ where: { gameDayId: day.id }, order: { at: 'ASC', id: 'ASC' } });
  }

  /**
   * Goes on with a stage that waits for a person. Asking again changes nothing.
   * @param stage may be left out where only one waits
   */
  async continue(id: string, stage: string | undefined, by: string): Promise<GameDayEntity> {
    await this.change(id, async (day, manager) => {
      if (day.endedAt !== null)
        throw new ConflictError(`the game day is ${day.state}`, 'nothing goes on any more');
      if (day.abortRequestedAt !== null)
        throw new ConflictError('the game day is being aborted', 'nothing goes on any more');
      const names = stageNames(day);
      const paused = names.filter((_, at) => day.progress[at].state === 'paused');
      const wanted = stage ?? (paused.length === 1 ? paused[0] : undefined);
      if (wanted === undefined) throw unclear(paused);
      const progress = day.progress[names.indexOf(wanted)];
      if (progress === undefined) {
        const message = `there is no stage "${wanted}"; there are ${listChoices(names)}`;
        throw InputError.at('/stage', message, nearestHint(wanted, names));
      }
      if (progress.continuedAt !== null) return;
      if (progress.state !== 'paused') {
        throw new ConflictError(
          `stage "${wanted}" is ${progress.state}, it waits for nobody`,
          waiting(paused),
        );
      }
      Object.assign(progress, { continuedAt: new Date().toISOString(), continuedBy: by });
      await manager.save(day);
    });
    return this.advanced(id);
  }

  /** The team's diagnosis of a run: the first is the one that counts, and breaks the seal as soon as the run has ended. */
  async commit(id: string, runId: string, author: string, verdict: Verdict): Promise<GameDayItemEntity> {
    const ordinal = await this.change(id, async (day, manager) => {
      const item = await manager.findOneBy(GameDayItemEntity, { gameDayId: day.id, runId });
      if (item === null || item.startedAt === null) {
        throw InputError.at(
          '/run',
          `the game day has begun no run ${runId}`,
          `GET /v1/game-days/${day.id} shows them`,
        );
      }
      if (item.committedAt !== null) {
        throw new ConflictError(
          `${item.committedBy ?? 'somebody'} committed a diagnosis of run ${runId} already`,
          'the first one counts',
        );
      }
      if (item.seal !== null && !isSealed(item)) {
        throw new ConflictError(
          `the seal of run ${runId} was broken`,
          'what was injected can be read by now',
        );
      }
      const run = await manager.findOneByOrFail(RunEntity, { id: runId });
      const row = this.diagnoses.rowOf(run, author, verdict, '/verdict');
      await manager.insert(DiagnosisEntity, row);
      await manager.update(
        GameDayItemEntity,
        { gameDayId: day.id, ordinal: item.ordinal },
        { committedAt: row.receivedAt, committedBy: author, diagnosisId: row.id },
      );
      return item.ordinal;
    });
    await this.conductor.advance(id);
    return this.items.findOneByOrFail({ gameDayId: id, ordinal });
  }

  /** Reverts what is under way and starts nothing more; what was begun stays sealed until it is diagnosed. Asking again changes nothing. */
  async abort(id: string, reason: string): Promise<GameDayEntity> {
    await this.change(id, async (day, manager) => {
      if (day.state === 'completed') {
        throw new ConflictError('the game day has ended', 'a day that has ended can’t be aborted');
      }
      await this.requestAbort(manager, day.id, reason);
    });
    return this.advanced(id);
  }

  /** Within a transaction of the caller's; of a day that has ended it changes nothing. */
  async requestAbort(manager: EntityManager, id: string, reason: string): Promise<void> {
    const untouched = { id, abortRequestedAt: IsNull(), endedAt: IsNull() };
    await manager.update(GameDayEntity, untouched, { abortRequestedAt: new Date(), abortReason: reason });
  }

  /** The text that was sealed, as it was hashed. @throws ConflictError while the seal holds */
  async sealedText(id: string, runId: string): Promise<string> {
    const day = await this.get(id);
    const item = isUuid(runId) ? await this.items.findOneBy({ gameDayId: day.id, runId }) : null;
    if (item?.sealedText == null) {
      throw new NotFoundError(
        `the game day has no seal of a run ${runId}`,
        'only blind days seal their runs',
      );
    }
    if (isSealed(item)) {
      const hint = `POST /v1/game-days/${day.id}/commit breaks it`;
      throw new ConflictError(`the seal of run ${item.runId} holds`, hint);
    }
    return item.sealedText;
  }

  private async advanced(id: string): Promise<GameDayEntity> {
    await this.conductor.advance(id);
    return this.get(id);
  }

  private async change<T>(
    id: string,
    work: (day: GameDayEntity, manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    await this.get(id);
    return this.dataSource.transaction(async (manager) => {
      const day = await manager.findOneOrFail(GameDayEntity, {
        where: { id },
        lock: { mode: 'pessimistic_write' },
      });
      return work(day, manager);
    });
  }
}

/** All that a request asks for. */
const sourcesOf = ({ source }: Loaded<GameDay>, { experiments, fabrics }: LoadedFile): unknown[] => [
  source,
  ...[...experiments, ...fabrics].map((one) => one.source),
];

const stageNames = ({ definition }: GameDayEntity): string[] =>
  (definition as { spec: { stages: { name: string }[] } }).spec.stages.map(({ name }) => name);

const waiting = (paused: readonly string[]): string =>
  paused.length === 0 ? 'no stage waits for a person now' : `waiting: ${listChoices(paused)}`;

const unclear = (paused: readonly string[]): Error =>
  paused.length === 0
    ? new ConflictError('no stage waits for a person now')
    : InputError.at('/stage', `several stages wait: ${listChoices(paused)}`, 'say which');
