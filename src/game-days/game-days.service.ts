/** Game days as REST sees them: start, list, look, note, continue, commit, abort. */
import { Injectable } from '@nestjs/common';
import { randomInt, randomUUID } from 'node:crypto';
import { DataSource, type EntityManager, type Repository } from 'typeorm';
import type { Verdict } from '../diagnosis/verdict.js';
import type { Experiment } from '../experiments/definition/experiment.js';
import type { GameDay } from '../experiments/definition/game-day.js';
import { loadExperiment, type Loaded, type LoadedFile } from '../experiments/definition/load.js';
import { refuseFiles } from '../experiments/definition/fabric-document.js';
import { ExperimentsService } from '../experiments/experiments.service.js';
import { listChoices, nearestHint } from '../kernel/nearest.js';
import { InputError, type InputIssue } from '../kernel/problem.js';
import type { Cursor } from '../platform/http/page.js';
import { isUuid } from '../platform/http/uuid.js';
import { ConflictError, NotFoundError } from '../platform/problem/errors.js';
import { DiagnosisEntity } from '../runs/diagnoses/diagnosis.entity.js';
import { DiagnosesService } from '../runs/diagnoses/diagnoses.service.js';
import { RunEntity } from '../runs/run.entity.js';
import { RunsService } from '../runs/runs.service.js';
import { dayItems, type DayItem } from './conduct/stage-plans.js';
import { GameDayConductor } from './game-day-conductor.js';
import {
  GameDayEntity,
  GameDayItemEntity,
  GameDayNoteEntity,
  isSealed,
  type GameDayState,
  type NoteKind,
} from './game-day.entity.js';
import { sealRun } from './seal.js';

/** A drawn seed is one that people can type. */
const MOST_SEED = 2 ** 47;

@Injectable()
export class GameDaysService {
  private readonly days: Repository<GameDayEntity>;
  private readonly items: Repository<GameDayItemEntity>;
  private readonly notes: Repository<GameDayNoteEntity>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly experiments: ExperimentsService,
    private readonly runs: RunsService,
    private readonly diagnoses: DiagnosesService,
    private readonly conductor: GameDayConductor,
  ) {
    this.days = dataSource.getRepository(GameDayEntity);
    this.items = dataSource.getRepository(GameDayItemEntity);
    this.notes = dataSource.getRepository(GameDayNoteEntity);
  }

  /**
   * Plans every experiment, so that nothing is begun that could not be finished; then stores the day and begins it.
   * @throws InputError with every experiment that can't be found or planned, at its place in the document
   */
  async start(loaded: Loaded<GameDay>, beside: LoadedFile): Promise<GameDayEntity> {
    const { metadata, spec } = loaded.value;
    const now = new Date();
    const day = Object.assign(new GameDayEntity(), {
      id: randomUUID(),
      name: metadata.name,
      definition: loaded.source,
      blind: spec.blind,
      state: 'running' as const,
      reason: null,
      progress: spec.stages.map(() => ({
        state: 'blocked' as const,
        reason: null,
        startedAt: null,
        endedAt: null,
        continuedAt: null,
        continuedBy: null,
      })),
      abortRequestedAt: null,
      abortReason: null,
      createdAt: now,
      endedAt: null,
    });
    const issues: InputIssue[] = [];
    const items: GameDayItemEntity[] = [];
    for (const [ordinal, item] of dayItems(spec).entries()) {
      try {
        const run = await this.planItem(day, item, spec.pace, beside);
        items.push(itemRow(day, ordinal, item, run, spec.stages[item.stage].name));
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        issues.push(...atItem(error, item));
      }
    }
    if (issues.length > 0) throw new InputError(loaded.locate(issues));
    await this.dataSource.transaction(async (manager) => {
      await manager.insert(GameDayEntity, day as never);
      await manager.insert(GameDayItemEntity, items as never);
    });
    await this.conductor.advance(day.id);
    return this.get(day.id);
  }

  private async planItem(
    day: GameDayEntity,
    { spec }: DayItem,
    pace: number | undefined,
    beside: LoadedFile,
  ): Promise<RunEntity> {
    const own = beside.experiments.find(({ value }) => value.metadata.name === spec.experiment);
    const source =
      own === undefined ? await this.storedExperiment(day, spec.experiment, beside) : sourceOf(own);
    const experiment = loadExperiment(source.definition, refuseFiles).value;
    const wanted = spec.fabric ?? experiment.spec.fabric;
    const fabric = beside.fabrics.find(({ value }) => value.metadata.name === wanted);
    const seed = spec.seed ?? (day.blind ? randomInt(1, MOST_SEED) : undefined);
    return this.runs.plan(
      {
        ...source,
        fabric: (fabric?.source as Record<string, unknown> | undefined) ?? spec.fabric,
        ...(seed === undefined ? {} : { seed }),
        ...(pace === undefined ? {} : { pace }),
      },
      { id: randomUUID(), gameDayId: day.id, sealed: day.blind },
    );
  }

  /** @throws InputError for one that is not there, and on a blind day for one that is */
  private async storedExperiment({ blind }: GameDayEntity, reference: string, beside: LoadedFile) {
    const names = beside.experiments.map(({ value }) => value.metadata.name);
    if (blind) {
      const there = names.length === 0 ? 'it sends none along' : `it sends ${listChoices(names)} along`;
      throw InputError.at(
        '/experiment',
        `a blind day brings its experiments along, since anybody can read stored ones; ${there}`,
        nearestHint(reference, names) ?? 'add the Experiment document to the request, apart by ---',
      );
    }
    const stored = await this.experiments.require(reference, '/experiment');
    return { experimentId: stored.id, definition: stored.definition };
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
      const row = this.diagnoses.rowOf(run, author, verdict);
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

  /** Reverts what is under way and starts nothing more; seals are broken. Asking again changes nothing. */
  async abort(id: string, reason: string): Promise<GameDayEntity> {
    await this.change(id, async (day, manager) => {
      if (day.state === 'completed') {
        throw new ConflictError('the game day has ended', 'a day that has ended can’t be aborted');
      }
      if (day.abortRequestedAt !== null) return;
      await manager.update(GameDayEntity, day.id, { abortRequestedAt: new Date(), abortReason: reason });
    });
    return this.advanced(id);
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
      throw new ConflictError('the seal holds', `POST /v1/game-days/${day.id}/commit breaks it`);
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

const sourceOf = ({ source }: Loaded<Experiment>) => ({ experimentId: null, definition: source });

function itemRow(
  { id, blind }: GameDayEntity,
  ordinal: number,
  { stage, label }: DayItem,
  run: RunEntity,
  stageName: string,
): GameDayItemEntity {
  return Object.assign(new GameDayItemEntity(), {
    gameDayId: id,
    ordinal,
    stage,
    label,
    runId: run.id,
    draft: run,
    ...(blind ? sealRun(run, stageName, label) : { seal: null, sealedText: null }),
    startedAt: null,
    committedAt: null,
    committedBy: null,
    diagnosisId: null,
    openedAt: null,
  });
}

/** What is wrong with an experiment, at the line of the day that names it. */
function atItem(error: InputError, { stage, index, spec }: DayItem): InputIssue[] {
  const place = `/spec/stages/${stage}/experiments/${index}`;
  return error.issues.map(({ pointer, message, hint }) => {
    const own = pointer === '/experiment' || (pointer === '/fabric' && spec.fabric !== undefined);
    return {
      pointer: own ? `${place}${pointer}` : `${place}/experiment`,
      message: own ? message : `its experiment can not run: ${pointer}: ${message}`,
      ...(hint === undefined ? {} : { hint }),
    };
  });
}

const stageNames = ({ definition }: GameDayEntity): string[] =>
  (definition as { spec: { stages: { name: string }[] } }).spec.stages.map(({ name }) => name);

const waiting = (paused: readonly string[]): string =>
  paused.length === 0 ? 'no stage waits for a person now' : `waiting: ${listChoices(paused)}`;

const unclear = (paused: readonly string[]): Error =>
  paused.length === 0
    ? new ConflictError('no stage waits for a person now')
    : InputError.at('/stage', `several stages wait: ${listChoices(paused)}`, 'say which');
