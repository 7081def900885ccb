/** Gathers what a game day showed, and how the one before it went. */
import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { loadGameDay } from '../../documents/load.js';
import { formatPace, parsePace } from '../../fabric-api/pace.js';
import { InputError } from '../../core/problem.js';
import { ConflictError } from '../../system/errors.js';
import type { DiagnosisEntity } from '../../store/runs/diagnosis.entity.js';
import { DiagnosesService } from '../runs/diagnoses/diagnoses.service.js';
import { RunEntity, RunResultEntity } from '../../store/runs/run.entity.js';
import { EXIT, worstExit, type ExitCode } from '../../scoring/exit-codes.js';
import type { Scorecard } from '../../scoring/scorecard.js';
import type { Verdict } from '../../diagnosis/verdict.js';
import {
  actionItems,
  differencesOf,
  judgeHypothesis,
  type Answer,
  type Course,
  type DayReport,
  type ItemFindings,
} from './rules/report.js';
import { dayItems } from './rules/stage-plans.js';
import { timelineOf } from './rules/timeline.js';
import { noteView } from './game-day-view.js';
import { GameDayEntity, GameDayItemEntity, GameDayNoteEntity } from './game-day.entity.js';

@Injectable()
export class GameDayReports {
  constructor(
    private readonly dataSource: DataSource,
    private readonly diagnoses: DiagnosesService,
  ) {}

  /**
   * @param other the day to compare with; the last of the same name that ended before this one began when left out
   * @throws ConflictError before the day has ended
   */
  async ofDay(day: GameDayEntity, other?: GameDayEntity): Promise<DayReport> {
    if (day.endedAt === null) {
      throw new ConflictError(`the game day is ${day.state}`, 'its report comes when it has ended');
    }
    if (other !== undefined && other.endedAt === null) {
      throw InputError.at('/with', `game day ${other.id} has not ended`, 'compare with one that has');
    }
    if (other?.id === day.id) {
      throw InputError.at(
        '/with',
        'this is the game day itself',
        'compare with another one of GET /v1/game-days',
      );
    }
    const before = other ?? (await this.lastBefore(day));
    const [now, then] = [await this.findings(day), before === null ? null : await this.findings(before)];
    const earlier =
      then === null ? [] : actionItems(then.experiments, then.notes, []).map(({ text }) => text);
    const actions = actionItems(now.experiments, now.notes, earlier);
    const { spec } = loadGameDay(day.definition).value;
    const told: Omit<DayReport, 'timeline'> = {
      id: day.id,
      name: day.name,
      state: day.state,
      reason: day.reason,
      blind: day.blind,
      exitCode: exitCodeOf(day, now.codes),
      startedAt: day.createdAt.toISOString(),
      abortRequestedAt: day.abortRequestedAt?.toISOString() ?? null,
      endedAt: day.endedAt.toISOString(),
      pace: spec.pace === undefined ? null : formatPace(spec.pace),
      roles: spec.roles,
      stages: day.progress.map((progress, at) => ({ name: spec.stages[at].name, ...progress })),
      experiments: now.experiments,
      notes: now.notes,
      actions,
      comparison:
        before === null || then === null
          ? null
          : {
              with: before.id,
              endedAt: before.endedAt!.toISOString(),
              differences: differencesOf(then.experiments, now.experiments),
              actionsGone: earlier.filter((text) => actions.every((action) => action.text !== text)),
            },
    };
    return { ...told, timeline: timelineOf(told) };
  }

  private lastBefore({ name, createdAt }: GameDayEntity): Promise<GameDayEntity | null> {
    return this.dataSource
      .getRepository(GameDayEntity)
      .createQueryBuilder('day')
      .where('day.name = :name AND day.endedAt <= :createdAt', { name, createdAt })
      .orderBy('day.endedAt', 'DESC')
      .limit(1)
      .getOne();
  }

  private async findings(
    day: GameDayEntity,
  ): Promise<{ experiments: ItemFindings[]; notes: DayReport['notes']; codes: ExitCode[] }> {
    const { manager } = this.dataSource;
    const items = await manager.find(GameDayItemEntity, {
      where: { gameDayId: day.id },
      order: { ordinal: 'ASC' },
    });
    const ids = items.map(({ runId }) => runId);
    const runs = new Map((await manager.findBy(RunEntity, { id: In(ids) })).map((run) => [run.id, run]));
    const results = await manager.findBy(RunResultEntity, { runId: In(ids) });
    const cards = new Map(results.map(({ runId, scorecard }) => [runId, scorecard]));
    const { spec } = loadGameDay(day.definition).value;
    const named = dayItems(spec);
    const moments = await this.momentsOf(ids);
    const experiments: ItemFindings[] = [];
    for (const item of items) {
      const run = runs.get(item.runId);
      const card = cards.get(item.runId) ?? null;
      experiments.push({
        stage: spec.stages[item.stage].name,
        experiment: item.label,
        fabric: item.draft.fabricName,
        run: run?.id ?? null,
        state: run?.state ?? 'not run',
        reason: run?.reason ?? null,
        course: run === undefined ? null : courseOf(run, moments.get(run.id), card),
        injected: run === undefined ? [] : injectedIn(run, moments.get(run.id), card),
        scores: scoresOf(card),
        objectives: card?.objectives ?? [],
        hypothesis: judgeHypothesis(named[item.ordinal].spec.hypothesis, card),
        ours:
          card?.verdict == null ? null : answerOf('fabricdrill', card.verdict, card.scores.explainability),
        team: run === undefined ? null : await this.teamAnswer(item),
      });
    }
    const notes = await manager.find(GameDayNoteEntity, {
      where: { gameDayId: day.id },
      order: { at: 'ASC', id: 'ASC' },
    });
    const codes = [...runs.values()].flatMap(({ exitCode }) =>
      exitCode === null ? [] : [exitCode as ExitCode],
    );
    return { experiments, notes: notes.map(noteView), codes };
  }

  /** When faults were injected and reverted, by the clock on the wall. */
  private async momentsOf(runIds: readonly string[]): Promise<Map<string, FaultMoments>> {
    const rows = await this.dataSource.query<(FaultMoments & { run_id: string })[]>(
      `SELECT run_id, min(at) FILTER (WHERE type = 'injected') AS injected,
              array_agg(data->>'id') FILTER (WHERE type = 'injected') AS ids, max(at) FILTER (WHERE type = 'reverted') AS reverted
         FROM run_events WHERE run_id = ANY($1::uuid[]) GROUP BY run_id`,
      [runIds],
    );
    return new Map(rows.map((row) => [row.run_id, row]));
  }

  private async teamAnswer(item: GameDayItemEntity): Promise<ItemFindings['team']> {
    if (item.diagnosisId === null || item.committedAt === null) return null;
    const row: DiagnosisEntity = await this.diagnoses.one(item.runId, item.diagnosisId);
    if (row.verdict === null) return null;
    return {
      ...answerOf(row.author, row.verdict, row.score),
      committedAt: item.committedAt.toISOString(),
      informed: !row.beforeEnd,
    };
  }
}

const exitCodeOf = (day: GameDayEntity, codes: readonly ExitCode[]): ExitCode =>
  worstExit(day.state === 'aborted' ? [...codes, EXIT.aborted] : codes);

interface FaultMoments {
  injected: Date | null;
  /** Of the impairments that were applied, the run's id before each. */
  ids: string[] | null;
  reverted: Date | null;
}

function courseOf(
  { startedAt, endedAt, driver, fabricDefinition }: RunEntity,
  moments: FaultMoments | undefined,
  card: Scorecard | null,
): Course | null {
  if (startedAt === null || endedAt === null) return null;
  const injected = moments?.injected ?? null;
  const detectS = card?.scores.recovery.metrics.time_to_detect_s;
  // simulated seconds are the wall's where there is a pace; what is as fast as can be has no such moment
  const pace = driver === 'simulated' ? paceOf(fabricDefinition) : 1;
  const detected =
    injected === null || pace === undefined || typeof detectS !== 'number'
      ? null
      : new Date(injected.getTime() + (detectS * 1000) / pace);
  return {
    startedAt: startedAt.toISOString(),
    injectedAt: injected?.toISOString() ?? null,
    detectedAt: detected?.toISOString() ?? null,
    revertedAt: moments?.reverted?.toISOString() ?? null,
    endedAt: endedAt.toISOString(),
  };
}

function paceOf(fabric: unknown): number | undefined {
  const { pace } = (fabric as { spec?: { pace?: unknown } }).spec ?? {};
  return typeof pace === 'string' ? parsePace(pace) : undefined;
}

/** As it was scored, by the most exact name; of a run that died before, what was planned of the faults that were applied. */
function injectedIn(
  { id, plan }: RunEntity,
  moments: FaultMoments | undefined,
  card: Scorecard | null,
): string[] {
  const truth = card?.truth ?? [];
  if (truth.length > 0) return truth.map(({ kind, elements }) => `${kind} at ${elements[0].id}`);
  const applied = new Set(moments?.ids ?? []);
  return plan.faults
    .filter(({ impairments }) => impairments.some((one) => applied.has(`${id}/${one.id}`)))
    .map(({ kind, targets }) => `${kind} at ${targets.map((target) => target.id).join(', ')}`);
}

const scoresOf = (card: Scorecard | null): ItemFindings['scores'] => ({
  recovery: card?.scores.recovery.score ?? null,
  isolation: card?.scores.isolation.score ?? null,
  explainability: card?.scores.explainability.score ?? null,
});

const answerOf = (
  author: string,
  { faultFound, culprits }: Verdict,
  score: Scorecard['scores']['explainability'] | null,
): Answer => ({
  author,
  faultFound,
  named: culprits.map(({ kind, element }) => `${kind} at ${element.id}`),
  explainability: score?.score ?? null,
  metrics: score?.metrics ?? {},
});
