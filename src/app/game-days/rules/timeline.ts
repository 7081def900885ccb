/** What happened when on a game day, and who did it, in the order of time. Pure. */
import type { DayReport, ItemFindings, Moment } from './report.js';

type Told = Pick<
  DayReport,
  'startedAt' | 'abortRequestedAt' | 'endedAt' | 'state' | 'reason' | 'stages' | 'experiments' | 'notes'
>;

export function timelineOf(day: Told): Moment[] {
  const of = null;
  const reason = day.reason === null ? '' : `: ${day.reason}`;
  const abort = day.abortRequestedAt === null ? [] : [day.abortRequestedAt];
  const moments: Moment[] = [
    { at: day.startedAt, kind: 'day', of, who: null, text: 'the day began' },
    ...abort.map((at): Moment => ({ at, kind: 'day', of, who: null, text: `abort asked for${reason}` })),
    ...day.stages.flatMap(stageMoments),
    ...day.experiments.flatMap(runMoments),
    ...day.notes.map(({ at, author, kind, text }): Moment => ({
      ...{ at, of, text, who: author },
      kind: kind === 'action' ? 'action' : 'note',
    })),
    { at: day.endedAt, kind: 'day', of, who: null, text: `the day ended as ${day.state}` },
  ];
  // what falls into one moment stays in the order in which it is said
  return moments.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

function stageMoments(stage: DayReport['stages'][number]): Moment[] {
  const { name, state, reason, startedAt, endedAt, continuedAt, continuedBy } = stage;
  const moment = (at: string | null, text: string, who: string | null = null): Moment[] =>
    at === null ? [] : [{ at, kind: 'stage', of: name, who, text }];
  return [
    ...moment(continuedAt, 'continued', continuedBy),
    ...moment(startedAt, 'began'),
    ...moment(endedAt, `${state}${reason === null ? '' : `: ${reason}`}`),
  ];
}

function runMoments({ stage, experiment, course, state, injected, team, run }: ItemFindings): Moment[] {
  const of = `${stage}/${experiment}`;
  const moment = (kind: Moment['kind'], at: string | null, text: string, who: string | null = null) =>
    at === null ? [] : [{ at, kind, of, who, text }];
  const committed =
    team === null ? [] : moment('commit', team.committedAt, `diagnosed: ${saidBy(team)}`, team.author);
  if (course === null || run === null) return committed;
  const what = injected.length === 0 ? '' : `: ${injected.join(', ')}`;
  return [
    ...moment('run', course.startedAt, `run ${run} began`),
    ...moment('fault', course.injectedAt, `injected${what}`),
    ...moment('fault', course.detectedAt, 'first seen in telemetry'),
    ...moment('fault', course.revertedAt, 'reverted'),
    ...moment('run', course.endedAt, `ended as ${state}`),
    ...committed,
  ];
}

/** A diagnosis in a few words. */
export function saidBy({
  faultFound,
  named,
}: {
  faultFound: boolean | null;
  named: readonly string[];
}): string {
  if (faultFound === false) return 'no fault';
  if (named.length > 0) return named.join(', ');
  return faultFound === null ? 'can’t tell' : 'a fault, nobody named';
}
