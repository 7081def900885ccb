/** From a game day's document to the rows of a day that is to begin: every experiment planned, and on a blind day sealed. */
import { Injectable } from '@nestjs/common';
import { randomInt, randomUUID } from 'node:crypto';
import { tellingText } from '../../documents/game-day-rules.js';
import type { GameDay, GameDaySpec } from '../../documents/game-day.js';
import type { Loaded, LoadedFile } from '../../documents/load.js';
import { withJobsAsWritten } from '../../documents/stored.js';
import { requireConfirmation } from '../fabrics/confirmation.js';
import { ExperimentsService, type FabricChoice } from '../experiments/experiments.service.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import type { RunEntity } from '../../store/runs/run.entity.js';
import { RunsService } from '../runs/runs.service.js';
import { dayItems, type DayItem } from './rules/stage-plans.js';
import { GameDayEntity, GameDayItemEntity } from './game-day.entity.js';
import type { DrilledFabric } from '../../drill/confirmation.js';
import { sealRun } from './seal.js';

/** A drawn seed is one that people can type. */
const MOST_SEED = 2 ** 47;

/** Who a day is begun for, and what it is called by. */
export interface DayOrigin {
  id: string;
  scheduleId?: string;
}

/** A day that could begin. */
export interface PlannedDay {
  day: GameDayEntity;
  items: GameDayItemEntity[];
}

@Injectable()
export class GameDayPlanner {
  constructor(
    private readonly experiments: ExperimentsService,
    private readonly runs: RunsService,
  ) {}

  /**
   * The rows of a day that is to begin. Nothing is stored.
   * @throws InputError with every experiment that can't be found or planned, at its place in the document
   */
  async plan(loaded: Loaded<GameDay>, beside: LoadedFile, origin: DayOrigin): Promise<PlannedDay> {
    const { spec } = loaded.value;
    const day = newDay(loaded, origin);
    const issues: InputIssue[] = [];
    const items: GameDayItemEntity[] = [];
    for (const [ordinal, item] of dayItems(spec).entries()) {
      try {
        const run = await this.planItem(day, item, spec, beside);
        items.push(itemRow(day, ordinal, item, run, spec.stages[item.stage].name));
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        issues.push(...atItem(error, item));
      }
    }
    if (issues.length > 0) throw new InputError(loaded.locate(issues));
    return { day, items };
  }

  /**
   * Looks for the fabric of each experiment, and plans nothing.
   * @throws ConflictError for a real one that is not confirmed; what can't be found is told by the plan
   */
  async requireConfirmation(
    { value }: Loaded<GameDay>,
    beside: LoadedFile,
    confirm: string | undefined,
  ): Promise<void> {
    const fabrics: DrilledFabric[] = [];
    for (const { spec } of dayItems(value.spec)) {
      try {
        const { definition } = await this.sourceOf(value.spec.blind, spec.experiment, beside);
        const choice = fabricChoice(spec.fabric, definition, beside);
        fabrics.push(await this.experiments.drilledFabric(definition, choice));
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
      }
    }
    requireConfirmation(fabrics, confirm);
  }

  private async planItem(
    day: GameDayEntity,
    { spec }: DayItem,
    whole: GameDaySpec,
    beside: LoadedFile,
  ): Promise<RunEntity> {
    const source = await this.sourceOf(day.blind, spec.experiment, beside);
    const seed = spec.seed ?? (day.blind ? randomInt(1, MOST_SEED) : undefined);
    const { pace } = whole;
    const run = await this.runs.plan(
      {
        ...source,
        fabric: fabricChoice(spec.fabric, source.definition, beside),
        ...(seed === undefined ? {} : { seed }),
        ...(pace === undefined ? {} : { pace }),
      },
      { id: randomUUID(), gameDayId: day.id, sealed: day.blind },
    );
    if (day.blind) {
      const place = spec.fabric === undefined ? '/experiment' : '/fabric';
      const issues = tellingText(whole, place, fabricTexts(run));
      if (issues.length > 0) throw new InputError(issues);
    }
    return run;
  }

  /** @throws InputError for one that is not there, and on a blind day for one that is only stored */
  private async sourceOf(blind: boolean, reference: string, beside: LoadedFile) {
    const own = beside.experiments.find(({ value }) => value.metadata.name === reference);
    if (own !== undefined) return { experimentId: null, definition: own.source };
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
}

/** What anybody can read of a run's fabric: its name and labels, and with the evidence the names of its jobs. */
function fabricTexts({ fabricDefinition, definition, fabricName }: RunEntity): string {
  const document = withJobsAsWritten(fabricDefinition, definition) as {
    metadata?: { labels?: Record<string, string> };
    spec?: { jobs?: { name: string }[] };
  };
  const labels = Object.entries(document.metadata?.labels ?? {}).flat();
  const jobs = document.spec?.jobs?.map(({ name }) => name) ?? [];
  return [fabricName, ...labels, ...jobs].join(' ; ');
}

function newDay({ value, source }: Loaded<GameDay>, { id, scheduleId }: DayOrigin): GameDayEntity {
  const { metadata, spec } = value;
  return Object.assign(new GameDayEntity(), {
    id,
    name: metadata.name,
    definition: source,
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
    scheduleId: scheduleId ?? null,
    idempotencyKey: null,
    requestHash: null,
    createdAt: new Date(),
    endedAt: null,
  });
}

/** A document that came along, or the name of a stored one; the experiment's own where nothing is named. */
function fabricChoice(named: string | undefined, experiment: unknown, { fabrics }: LoadedFile): FabricChoice {
  const wanted = named ?? (experiment as { spec: { fabric: string } }).spec.fabric;
  const along = fabrics.find(({ value }) => value.metadata.name === wanted);
  return along === undefined ? named : (along.source as Record<string, unknown>);
}

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
