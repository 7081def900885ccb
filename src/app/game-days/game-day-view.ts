/** What others see of a game day. While a seal holds, its experiment, hypothesis and file are left out. */
import { loadGameDay } from '../../documents/load.js';
import { dayItems } from './rules/stage-plans.js';
import {
  isSealed,
  type GameDayEntity,
  type GameDayItemEntity,
  type GameDayNoteEntity,
} from './game-day.entity.js';

export const gameDayView = (day: GameDayEntity): Record<string, unknown> => ({
  id: day.id,
  name: day.name,
  blind: day.blind,
  state: day.state,
  reason: day.reason,
  scheduleId: day.scheduleId,
  final: day.endedAt !== null,
  abortRequestedAt: day.abortRequestedAt?.toISOString() ?? null,
  createdAt: day.createdAt.toISOString(),
  endedAt: day.endedAt?.toISOString() ?? null,
});

export function gameDayDetails(
  day: GameDayEntity,
  items: readonly GameDayItemEntity[],
): Record<string, unknown> {
  const { spec } = loadGameDay(day.definition).value;
  const named = dayItems(spec);
  const sealed = items.some(isSealed);
  return {
    ...gameDayView(day),
    roles: spec.roles,
    stages: day.progress.map((progress, at) => ({
      name: spec.stages[at].name,
      ...progress,
      pause: spec.stages[at].pause ?? null,
      experiments: items
        .filter(({ stage }) => stage === at)
        .map((item) => ({
          run: item.startedAt === null ? null : item.runId,
          name: isSealed(item) ? null : item.label,
          hypothesis: isSealed(item) ? null : named[item.ordinal].spec.hypothesis,
          seal: item.seal,
          sealed: isSealed(item),
          startedAt: item.startedAt?.toISOString() ?? null,
          committedAt: item.committedAt?.toISOString() ?? null,
          committedBy: item.committedBy,
        })),
    })),
    definition: sealed ? null : day.definition,
  };
}

export const noteView = (note: GameDayNoteEntity) => ({
  id: note.id,
  at: note.at.toISOString(),
  author: note.author,
  kind: note.kind,
  text: note.text,
});
