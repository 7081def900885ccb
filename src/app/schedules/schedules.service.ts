/** Schedules as REST sees them: store, list, look, change, suspend, resume, delete, ticks. */
import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type Repository } from 'typeorm';
import { tellingText } from '../../documents/game-day-rules.js';
import type { GameDay } from '../../documents/game-day.js';
import type { Loaded, LoadedFile } from '../../documents/load.js';
import { rulesOf } from '../../documents/schedule-rules.js';
import type { Schedule } from '../../documents/schedule.js';
import { ExperimentsService } from '../experiments/experiments.service.js';
import { GameDayPlanner } from '../game-days/game-day-planner.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError } from '../../core/problem.js';
import { contentDigest } from '../../system/digest.js';
import type { Cursor } from '../platform/http/page.js';
import { isUuid } from '../../system/uuid.js';
import { ConflictError, NotFoundError } from '../../system/errors.js';
import { RunsService } from '../runs/runs.service.js';
import { readSchedule, SEALED_DIGEST } from './stored-schedule.js';
import { ScheduleStore, suspend } from './schedule-store.js';
import { SCHEDULE_RUNS, workOf, type ConfirmedRuns } from './scheduled-runs.js';
import { ScheduleEntity, ScheduleTickEntity } from './schedule.entity.js';
import type { Living, SkipReason } from '../../model/calendar/decide.js';
import { nextTickMs, wakeMs } from '../../model/calendar/decide.js';

export interface TickFilter {
  outcome?: 'run' | 'skip';
  reason?: SkipReason;
  since?: string;
}

const UNIQUE_VIOLATION = '23505';

@Injectable()
export class SchedulesService {
  private readonly schedules: Repository<ScheduleEntity>;
  private readonly ticks: Repository<ScheduleTickEntity>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly store: ScheduleStore,
    private readonly experiments: ExperimentsService,
    private readonly runs: RunsService,
    private readonly planner: GameDayPlanner,
    @Inject(SCHEDULE_RUNS) private readonly scheduled: ConfirmedRuns,
  ) {
    this.schedules = dataSource.getRepository(ScheduleEntity);
    this.ticks = dataSource.getRepository(ScheduleTickEntity);
  }

  /** Storing the same content under the same name again gives the row that is there. */
  async create(
    loaded: Loaded<Schedule>,
    beside?: LoadedFile,
  ): Promise<{ schedule: ScheduleEntity; created: boolean }> {
    const { name } = loaded.value.metadata;
    const gameDay = gameDayOf(loaded, beside);
    const digest = digestOf(loaded, gameDay);
    const known = await this.schedules.findOneBy({ name });
    if (known !== null) return { schedule: sameContent(known, digest), created: false };
    await this.check(loaded, gameDay);
    const row = Object.assign(await this.newRow(loaded, digest), { gameDay: gameDay?.text ?? null });
    const inserted = await this.schedules
      .createQueryBuilder()
      .insert()
      .values(row as never)
      .orIgnore()
      .returning('id')
      .execute();
    if ((inserted.raw as unknown[]).length > 0) return { schedule: row, created: true };
    return { schedule: sameContent(await this.schedules.findOneByOrFail({ name }), digest), created: false };
  }

  private async newRow(loaded: Loaded<Schedule>, digest: string): Promise<ScheduleEntity> {
    const now = await this.store.clock(this.dataSource.manager);
    const id = randomUUID();
    const rules: Living = { ...rulesOf(loaded.value.spec), id };
    const nextMs = nextTickMs(rules, now);
    refusePast(loaded, nextMs);
    const wake = wakeMs(rules, nextMs, now);
    const bySpec = loaded.value.spec.suspend;
    return Object.assign(new ScheduleEntity(), {
      id,
      name: loaded.value.metadata.name,
      definition: loaded.source,
      digest,
      suspendedAt: bySpec ? new Date(now) : null,
      suspendReason: bySpec ? SUSPENDED_BY_FILE : null,
      suspendCode: bySpec ? ('by-file' as const) : null,
      nextAt: nextMs === undefined ? null : new Date(nextMs),
      wakeAt: wake === undefined ? null : new Date(wake),
      settledAt: new Date(now),
      createdAt: new Date(now),
      updatedAt: new Date(now),
    });
  }

  /** Plans what a tick would run now, so that a schedule which could never start is refused at once. */
  private async check(loaded: Loaded<Schedule>, gameDay: SentGameDay | undefined): Promise<void> {
    const {
      value: { spec, confirm },
      locate,
    } = loaded;
    await this.scheduled
      .requireConfirmation({ ...spec, gameDay: gameDay?.text, confirm })
      .catch((error: unknown) => {
        throw error instanceof InputError ? new InputError(locate(error.issues)) : error;
      });
    if (gameDay !== undefined) {
      refuseTelling(loaded, gameDay);
      await this.planner.plan(gameDay.loaded, gameDay.beside, { id: randomUUID() });
      return;
    }
    try {
      const experiment = await this.experiments.require(spec.experimentRef!, '/spec/experimentRef');
      const plan = await this.experiments
        .plan(experiment.id, spec.fabric, spec.seed)
        .catch((error: unknown) => {
          throw error instanceof InputError ? atSchedule(error, spec.fabric !== undefined) : error;
        });
      if (plan.unsupported.length > 0) {
        const [{ fault, impairment }] = plan.unsupported;
        throw InputError.at(
          spec.fabric === undefined ? '/spec/experimentRef' : '/spec/fabric',
          `the fabric "${plan.fabric}" can not apply what the experiment asks for: ${fault} needs ${impairment}`,
        );
      }
    } catch (error) {
      throw error instanceof InputError ? new InputError(locate(error.issues)) : error;
    }
  }

  async get(id: string): Promise<ScheduleEntity> {
    const schedule = isUuid(id) ? await this.schedules.findOneBy({ id }) : null;
    if (schedule === null) throw notFound(id);
    return schedule;
  }

  /** Newest first, one row more than asked for when there are more. */
  list(
    filter: { name?: string; suspended?: boolean },
    limit: number,
    after?: Cursor,
  ): Promise<ScheduleEntity[]> {
    const query = this.schedules
      .createQueryBuilder('schedule')
      .orderBy('schedule.createdAt', 'DESC')
      .addOrderBy('schedule.id', 'DESC')
      .limit(limit + 1);
    if (filter.name !== undefined) query.andWhere('schedule.name = :name', { name: filter.name });
    if (filter.suspended !== undefined) {
      query.andWhere(`schedule.suspendedAt IS ${filter.suspended ? 'NOT NULL' : 'NULL'}`);
    }
    if (after !== undefined) {
      query.andWhere('(schedule.createdAt, schedule.id) < (:createdAt, CAST(:id AS uuid))', { ...after });
    }
    return query.getMany();
  }

  /**
   * Ticks until now go by the old file, later ones by the new. What people have suspended stays so; a suspension by a file
   * goes with that file.
   */
  async replace(id: string, loaded: Loaded<Schedule>, beside?: LoadedFile): Promise<ScheduleEntity> {
    await this.get(id);
    const gameDay = gameDayOf(loaded, beside);
    await this.check(loaded, gameDay);
    const rules = { ...rulesOf(loaded.value.spec), id };
    const bySpec = loaded.value.spec.suspend;
    try {
      return await this.change(id, (row, now) => {
        refusePast(loaded, nextTickMs(rules, now.getTime()));
        Object.assign(row, {
          name: loaded.value.metadata.name,
          definition: loaded.source,
          gameDay: gameDay?.text ?? null,
          digest: digestOf(loaded, gameDay),
        });
        if (row.suspendCode !== null) Object.assign(row, RUNNING);
        if (bySpec) suspend(row, 'by-file', SUSPENDED_BY_FILE, now);
        return true;
      });
    } catch (error) {
      if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
      throw taken(loaded.value.metadata.name);
    }
  }

  /** Ticks from now on are skipped until it is resumed. */
  suspend(id: string, reason: string): Promise<ScheduleEntity> {
    return this.change(id, (row, now) => {
      suspend(row, null, reason, now);
      return false;
    });
  }

  /** Goes on with the next tick; those that were skipped stay skipped. */
  async resume(id: string): Promise<ScheduleEntity> {
    const found = await this.get(id);
    if (found.suspendCode === 'confirmation-required') {
      await this.scheduled.requireConfirmation(
        await workOf(this.dataSource.manager, found, readSchedule(found)),
      );
    }
    const row = await this.change(id, (schedule) => {
      Object.assign(schedule, RUNNING);
      return false;
    });
    if (row.suspendedAt === null) return row;
    throw new ConflictError(
      row.suspendReason ?? 'it stays suspended',
      'PUT /v1/schedules/{id} replaces the file',
    );
  }

  private async change(
    id: string,
    change: (row: ScheduleEntity, now: Date) => boolean,
  ): Promise<ScheduleEntity> {
    const changed = isUuid(id) ? await this.store.change(id, change) : undefined;
    if (changed === undefined) throw notFound(id);
    await Promise.all(changed.runIds.map((runId) => this.runs.enqueue(runId)));
    return changed.row;
  }

  /** Its runs stay. */
  async remove(id: string): Promise<void> {
    await this.get(id);
    await this.schedules.delete(id);
  }

  /** Newest first, one row more than asked for when there are more. */
  async listTicks(
    id: string,
    filter: TickFilter,
    limit: number,
    before?: Date,
  ): Promise<ScheduleTickEntity[]> {
    await this.get(id);
    const query = this.ticks
      .createQueryBuilder('tick')
      .where('tick.scheduleId = :id', { id })
      .orderBy('tick.nominalAt', 'DESC')
      .limit(limit + 1);
    if (filter.outcome !== undefined) query.andWhere('tick.outcome = :outcome', { outcome: filter.outcome });
    if (filter.reason !== undefined) query.andWhere('tick.reason = :reason', { reason: filter.reason });
    if (filter.since !== undefined) {
      query.andWhere('tick.nominalAt >= :since', { since: new Date(filter.since) });
    }
    if (before !== undefined) query.andWhere('tick.nominalAt < :before', { before });
    return query.getMany();
  }
}

/** The game day of a schedule, as it came along. */
interface SentGameDay {
  loaded: Loaded<GameDay>;
  beside: LoadedFile;
  /** It and what it brings along, as text that is read again at each tick. */
  text: string;
}

/** @throws InputError when it names a game day that did not come along, or brings documents for no game day */
function gameDayOf(schedule: Loaded<Schedule>, beside: LoadedFile | undefined): SentGameDay | undefined {
  const named = schedule.value.spec.gameDayRef;
  if (named === undefined) return undefined;
  const sent = beside?.gameDays ?? [];
  const loaded = sent.find(({ value }) => value.metadata.name === named);
  if (loaded === undefined || beside === undefined) {
    const names = sent.map(({ value }) => value.metadata.name);
    const there = names.length === 0 ? 'none came along' : `there is ${listChoices(names)}`;
    const message = `no GameDay document is named "${named}"; ${there}`;
    const hint = nearestHint(named, names) ?? 'send it along, apart by ---, with its experiments and fabrics';
    throw new InputError(schedule.locate([{ pointer: '/spec/gameDayRef', message, hint }]));
  }
  const documents = [loaded, ...beside.experiments, ...beside.fabrics];
  return {
    loaded,
    beside,
    text: documents.map(({ source }) => JSON.stringify(source)).join('\n---\n'),
  };
}

/** @throws InputError when the schedule, which anybody can read, names what its blind game day hides */
function refuseTelling(
  { value: { metadata, spec }, locate }: Loaded<Schedule>,
  { loaded }: SentGameDay,
): void {
  const day = loaded.value.spec;
  if (!day.blind) return;
  const issues = [
    ...tellingText(day, '/metadata/name', metadata.name),
    ...tellingText(day, '/spec/description', spec.description ?? ''),
  ];
  if (issues.length > 0) throw new InputError(locate(issues));
}

/** Of a blind day nobody is shown it: who has the same files could find by trying which of them it is of. */
function digestOf({ source }: Loaded<Schedule>, gameDay: SentGameDay | undefined): string {
  if (gameDay === undefined) return contentDigest(source);
  const digest = contentDigest([source, gameDay.text]);
  return gameDay.loaded.value.spec.blind ? `${SEALED_DIGEST}${digest}` : digest;
}

const SUSPENDED_BY_FILE = 'its file says so';
const RUNNING = { suspendedAt: null, suspendReason: null, suspendCode: null };

const notFound = (id: string): NotFoundError =>
  new NotFoundError(`there is no schedule ${id}`, 'GET /v1/schedules lists them');

const taken = (name: string): ConflictError =>
  new ConflictError(
    `a schedule named "${name}" is stored already, with other content`,
    'PUT /v1/schedules/{id} replaces it',
  );

function sameContent(row: ScheduleEntity, digest: string): ScheduleEntity {
  if (row.digest !== digest) throw taken(row.name);
  return row;
}

/** Only a single time can lie in the past. */
function refusePast({ value: { spec }, locate }: Loaded<Schedule>, nextMs: number | undefined): void {
  if (nextMs !== undefined) return;
  const message = `${spec.once ?? spec.cron ?? ''} in ${spec.timeZone} has passed`;
  throw new InputError(
    locate([{ pointer: '/spec/once', message, hint: 'name a time to come, or run it now' }]),
  );
}

/** What a plan finds wrong, at what the schedule names. */
export function atSchedule(error: InputError, ownFabric: boolean): InputError {
  return new InputError(
    error.issues.map(({ pointer, message, hint }) => {
      const isOfFabric = pointer === '/fabric';
      // an experiment may name its fabric by a file, which nobody has here
      const advice = pointer === '/spec/fabric' ? "name a stored fabric in the schedule's spec.fabric" : hint;
      return {
        pointer: isOfFabric && ownFabric ? '/spec/fabric' : '/spec/experimentRef',
        message:
          isOfFabric || pointer === '' ? message : `its experiment can not run: ${pointer}: ${message}`,
        ...(advice === undefined ? {} : { hint: advice }),
      };
    }),
  );
}
