/**
 * A game day's report for people: in short, what was tried and whether it was as expected, both diagnoses side by side, what
 * happened when, what is to be done, and what changed.
 */
import { formatScore } from '../../reports/common/words.js';
import type { Block, ReportDocument, Section } from '../../reports/document/document.js';
import { duration, type TimelineLane, type TimelinePicture } from '../../reports/document/timeline-svg.js';
import type { ObjectiveResult } from '../../scoring/scorecard.js';
import type { Answer, Course, DayReport, ItemFindings } from './rules/report.js';
import { saidBy } from './rules/timeline.js';

export function reportDocument(report: DayReport): ReportDocument {
  return {
    title: `${report.name}: ${report.state}`,
    sections: [
      { title: null, blocks: [...inShort(report), picture(report)] },
      { title: 'Experiments', blocks: [experiments(report.experiments), ...unfinished(report)] },
      { title: 'Hypotheses', blocks: [hypotheses(report.experiments)] },
      ...diagnoses(report.experiments),
      { title: 'What happened', blocks: [timeline(report)] },
      { title: 'To do', blocks: [toDo(report)] },
      comparison(report),
    ],
  };
}

const nameOf = ({ stage, experiment }: ItemFindings): string => `${stage}/${experiment}`;

function inShort(report: DayReport): Block[] {
  const { startedAt, endedAt, blind, pace, reason, roles } = report;
  const how = [...(blind ? ['blind'] : []), ...(pace === null ? [] : [`at ${pace}`])];
  const took = duration(Date.parse(endedAt) - Date.parse(startedAt));
  const blocks: Block[] = [
    {
      kind: 'text',
      text: `${stamp(startedAt)} to ${stamp(endedAt)} UTC (${took})${how.map((one) => `, ${one}`).join('')}.${reason === null ? '' : ` ${reason}.`}`,
    },
    { kind: 'text', text: `${counts(report).join('. ')}.` },
  ];
  if (roles.length === 0) return blocks;
  const items = roles.map(({ role, people }) => `${role}: ${people.join(', ')}`);
  return [...blocks, { kind: 'list', items }];
}

function counts({ experiments: all, actions }: DayReport): string[] {
  const tally = (values: readonly string[]): string =>
    [...new Set(values)].map((one) => `${values.filter((value) => value === one).length} ${one}`).join(', ');
  const right = (answers: readonly (Answer | null)[]): string => {
    const scored = answers.filter(isScored);
    return `${scored.filter((answer) => answer?.metrics.top1 === 1).length} of ${scored.length}`;
  };
  const teams = all.map(({ team }) => team);
  const ours = all.map((one) => one.ours);
  return [
    `Runs: ${tally(all.map(({ state }) => state))}`,
    `Hypotheses: ${tally(all.map(({ hypothesis }) => hypothesis.outcome))}`,
    ...(ours.some(isScored) ? [`Named first and right by fabricdrill: ${right(ours)}`] : []),
    ...(teams.some(isScored) ? [`By the team: ${right(teams)}`] : []),
    `To do: ${actions.length}`,
  ];
}

/** An answer about a run that ended before its time could not be compared with anything. */
const isScored = (answer: Answer | null): boolean => typeof answer?.metrics.top1 === 'number';

const experiments = (all: readonly ItemFindings[]): Block => ({
  kind: 'table',
  head: ['experiment', 'fabric', 'injected', 'state', 'recovery', 'isolation', 'explainability'],
  rows: all.map((one) => [
    nameOf(one),
    one.fabric,
    one.injected.length === 0 ? 'nothing' : one.injected.join(', '),
    one.state,
    ...[one.scores.recovery, one.scores.isolation, one.scores.explainability].map(formatScore),
  ]),
});

/** Runs and stages that did not come to their end, with the reason. */
function unfinished({ experiments: all, stages }: DayReport): Block[] {
  const items = [
    ...stages.flatMap(({ name, state, reason }) =>
      state === 'done' ? [] : [`stage ${name}: ${state}${because(reason)}`],
    ),
    ...all.flatMap((one) =>
      one.reason === null ? [] : [`${nameOf(one)} ended as ${one.state}${because(one.reason)}`],
    ),
  ];
  return items.length === 0 ? [] : [{ kind: 'list', items }];
}

const because = (reason: string | null): string => (reason === null ? '' : `, ${reason}`);

const hypotheses = (all: readonly ItemFindings[]): Block => ({
  kind: 'table',
  head: ['experiment', 'expected', 'outcome', 'figures'],
  rows: all.map((one) => [
    nameOf(one),
    one.hypothesis.statement,
    one.hypothesis.outcome,
    one.hypothesis.figures.map(measured).join('; '),
  ]),
});

function measured({ expression, value, passed }: ObjectiveResult): string {
  if (value === null) return `${expression}: could not be known`;
  return `${expression}: ${figure(typeof value === 'boolean' ? String(value) : value)}${passed === false ? ', missed' : ''}`;
}

/** Both answers to the same question, scored by the same code. */
function diagnoses(all: readonly ItemFindings[]): Section[] {
  const answered = all.filter(({ team, ours }) => team !== null || ours !== null);
  if (answered.length === 0) return [];
  const score = (answer: Answer | null): string =>
    answer === null
      ? ''
      : `${formatScore(answer.explainability)}${answer.metrics.top1 == null ? '' : answer.metrics.top1 ? ', named first' : ', not named first'}`;
  const block: Block = {
    kind: 'table',
    head: ['experiment', 'injected', 'fabricdrill says', 'score', 'the team says', 'score'],
    rows: answered.map((one) => [
      nameOf(one),
      one.injected.length === 0 ? 'nothing' : one.injected.join(', '),
      one.ours === null ? 'no verdict' : saidBy(one.ours),
      score(one.ours),
      teamText(one),
      score(one.team),
    ]),
  };
  return [{ title: 'Diagnoses side by side', blocks: [block] }];
}

/** What the team said, who said it, and how long after the injection. */
function teamText({ team, course }: ItemFindings): string {
  if (team === null) return 'no verdict';
  const tookMs =
    course?.injectedAt == null ? 0 : Date.parse(team.committedAt) - Date.parse(course.injectedAt);
  const when = tookMs > 0 ? `, ${duration(tookMs)} after the injection` : '';
  return `${saidBy(team)} (${team.author}${when}${team.informed ? ', when the truth could be read' : ''})`;
}

const timeline = ({ timeline: moments }: DayReport): Block => ({
  kind: 'table',
  head: ['UTC', 'where', 'what', 'who'],
  rows: moments.map(({ at, kind, of, who, text }) => [
    stamp(at),
    of ?? '',
    kind === 'note' || kind === 'action' ? `${kind}: ${text}` : text,
    who ?? '',
  ]),
});

function toDo({ actions }: DayReport): Block {
  if (actions.length === 0) return { kind: 'text', text: 'Nothing was missed, and nobody noted anything.' };
  return {
    kind: 'tasks',
    items: actions.map(({ text, of, from, again }) => {
      const by = from === 'note' ? ` (${of})` : '';
      return { text: `${text}${by}${again ? ', as last time' : ''}`, done: false };
    }),
  };
}

function comparison({ comparison: made, name }: DayReport): Section {
  if (made === null) {
    const text = `No game day named ${name} ended before this one.`;
    return { title: 'Since the last game day', blocks: [{ kind: 'text', text }] };
  }
  const { differences, actionsGone } = made;
  const table: Block = {
    kind: 'table',
    head: ['experiment', 'figure', 'before', 'now'],
    rows: differences.map(({ of, figure: what, before, after }) => [of, what, figure(before), figure(after)]),
  };
  const done = actionsGone.map((text) => ({ text, done: true }));
  return {
    title: `Since the game day that ended at ${stamp(made.endedAt)} UTC`,
    blocks: [
      differences.length === 0 ? { kind: 'text', text: 'Nothing differs.' } : table,
      ...(done.length === 0 ? [] : [{ kind: 'tasks' as const, items: done }]),
    ],
  };
}

function picture({ startedAt, stages, experiments: all, notes, timeline: moments }: DayReport): Block {
  const made: TimelinePicture = {
    // people think, and write, after the end too
    whole: { fromMs: Date.parse(startedAt), toMs: Math.max(...moments.map(({ at }) => Date.parse(at))) },
    stages: stages.map(({ name }) => ({
      name,
      lanes: all.flatMap((one) => (one.stage === name && one.course !== null ? [lane(one, one.course)] : [])),
    })),
    notes: notes.map(({ at, text, author }) => ({ atMs: Date.parse(at), text: `${author}: ${text}` })),
  };
  return { kind: 'timeline', picture: made };
}

function lane({ experiment, team }: ItemFindings, course: Course): TimelineLane {
  const [startedMs, endedMs] = [Date.parse(course.startedAt), Date.parse(course.endedAt)];
  const msOf = (at: string | null): number | null => (at === null ? null : Date.parse(at));
  const injectedMs = msOf(course.injectedAt);
  return {
    label: experiment,
    run: { fromMs: startedMs, toMs: endedMs },
    fault: injectedMs === null ? null : { fromMs: injectedMs, toMs: msOf(course.revertedAt) ?? endedMs },
    detectedMs: msOf(course.detectedAt),
    committedMs: msOf(team?.committedAt ?? null),
  };
}

/** Date and time of day. */
const stamp = (at: string): string => at.slice(0, 19).replace('T', ' ');

const figure = (value: number | string | null): string =>
  value === null ? 'not known' : typeof value === 'number' ? String(rounded(value)) : value;

const rounded = (value: number): number =>
  Number(Math.abs(value) >= 100 ? value.toFixed(1) : value.toPrecision(3));
