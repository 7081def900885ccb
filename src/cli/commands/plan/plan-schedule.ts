/** `plan SCHEDULE` and `schedules next FILE`: the coming ticks of a schedule's file. Nothing is stored or asked for. */
import { rulesOf } from '../../../documents/schedule-rules.js';
import type { Schedule } from '../../../documents/schedule.js';
import { formatDurationNs } from '../../../core/units.js';
import { upcomingTicks, type Upcoming } from '../../../model/calendar/upcoming.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import type { CommandContext } from '../../context.js';
import { table } from '../../terminal/table.js';

/** How many ticks a plan shows. */
export const TICKS_SHOWN = 10;

export function planSchedule(
  { metadata, spec }: Schedule,
  count: number,
  format: 'text' | 'json',
  context: CommandContext,
): ExitCode {
  const ticks = upcomingTicks(rulesOf(spec), null, Date.now(), count);
  if (format === 'json') {
    const { experimentRef, gameDayRef, timeZone, suspend } = spec;
    const plan = { schedule: metadata.name, experimentRef, gameDayRef, timeZone, suspend, upcoming: ticks };
    context.out(`${JSON.stringify(plan, null, 2)}\n`);
    return EXIT.passed;
  }
  const when = spec.cron === undefined ? `once, ${spec.once}` : `"${spec.cron}"`;
  context.out(
    `${metadata.name}: ${spec.experimentRef ?? `game day ${spec.gameDayRef}`}, ${when} in ${spec.timeZone}\n\n`,
  );
  context.out(ticks.length === 0 ? 'no tick any more: the time has passed\n' : tickTable(ticks));
  if (spec.jitter > 0)
    context.note(`note: each starts up to ${formatDurationNs(spec.jitter)} later (jitter)`);
  if (spec.suspend) context.note('note: it is suspended (spec.suspend); none of these would run');
  return EXIT.passed;
}

/** With starts where jitter puts one off. */
export function tickTable(ticks: readonly Upcoming[]): string {
  const jitters = ticks.some(({ nominalAt, startsAt }) => startsAt !== null && startsAt !== nominalAt);
  return table(
    ['local time', 'UTC', ...(jitters ? ['starts (UTC)'] : []), 'run'],
    ticks.map(({ local, nominalAt, startsAt, skipped }) => [
      local,
      nominalAt.replace('.000Z', 'Z'),
      ...(jitters ? [startsAt?.slice(11, 19) ?? ''] : []),
      skipped ?? 'yes',
    ]),
  );
}
