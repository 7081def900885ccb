/** `plan GAMEDAY`: stages, people, what each experiment would touch, and what a blind day hides. Nothing is begun. */
import type { GameDayPlan, PlannedExperiment } from '../../../app/game-days/game-day-plan.js';
import { formatDurationNs } from '../../../core/units.js';
import { quoteArgument } from '../../../reports/common/report.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import type { CommandContext } from '../../context.js';
import type { NamedFile } from '../../files/definitions.js';
import { readGameDay } from '../../files/game-day-file.js';
import { dayLocated } from '../game-days.js';

export async function planGameDay(
  file: string,
  read: NamedFile,
  format: 'text' | 'json',
  context: CommandContext,
): Promise<ExitCode> {
  const source = readGameDay(file, context.path, read);
  return context.withServer(async (client) => {
    const plan = await client
      .json<GameDayPlan>('POST', '/v1/game-days/plan', source.textWith())
      .catch(dayLocated(source));
    context.out(format === 'json' ? `${JSON.stringify(plan, null, 2)}\n` : render(plan));
    context.note(`next: ${context.command(`game-days start ${quoteArgument(file)}`)}`);
    return EXIT.passed;
  });
}

/** Whether a file (or `file#name`) is meant as a game day: it has one, of that name where one is given. */
export function isGameDay({ name, loaded: { gameDays, experiments } }: NamedFile): boolean {
  if (name === undefined) return gameDays.length > 0;
  const others = experiments.some(({ value }) => value.metadata.name === name);
  return gameDays.some(({ value }) => value.metadata.name === name) && !others;
}

function render({ name, blind, pace, roles, stages, hidden }: GameDayPlan): string {
  const lines = [
    `${name}${blind ? ', blind' : ''}, ${pace === null ? 'as fast as it can be computed' : `at ${pace}`}`,
  ];
  for (const { role, people } of roles) lines.push(`  ${role}: ${people.join(', ')}`);
  for (const stage of stages) {
    const after = stage.after.length === 0 ? 'at once' : `after ${stage.after.join(', ')}`;
    lines.push(
      '',
      `${stage.name}: ${after}, ${stage.experiments.length > 1 ? stage.order : 'one experiment'}`,
    );
    for (const text of stage.when) lines.push(`  only if ${text}`);
    if (stage.pause !== null) lines.push(`  waits for people: ${stage.pause}`);
    for (const one of stage.experiments) lines.push(...experimentLines(one));
  }
  if (hidden.length > 0) {
    lines.push('', 'hidden until the team has committed its diagnosis', ...hidden.map((what) => `  ${what}`));
  }
  return `${lines.join('\n')}\n`;
}

const seconds = (value: number): string => formatDurationNs(value * 1e9);

function experimentLines(one: PlannedExperiment): string[] {
  const takes = one.takes_s === null ? '' : `, takes ${seconds(one.takes_s)}`;
  const seed = one.seed === null ? 'seed drawn when it begins' : `seed ${one.seed}`;
  const lines = [
    `  ${one.name} on ${one.fabric} (${one.driver}), ${seed}, ${seconds(one.duration_s)}${takes}`,
    `    expects       ${one.hypothesis}`,
  ];
  if (one.targets === null || one.blastRadius === null)
    return [...lines, '    targets       not known before'];
  const jobs = (names: string[] | null): string =>
    names === null ? 'not known' : names.join(', ') || 'none';
  return [
    ...lines,
    `    targets       ${one.targets.join(', ') || 'none'}`,
    `    exposed jobs  ${jobs(one.blastRadius.exposedJobs)}`,
    `    bystanders    ${jobs(one.blastRadius.bystanderJobs)}`,
  ];
}
