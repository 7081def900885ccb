/** A game day's report for people: what held first, then both diagnoses, notes and what is to be done. */
import type { Answer, DayReport, ItemFindings } from './report.js';

export function markdownReport(report: DayReport): string {
  return `${[
    `# ${report.name}: ${report.state}`,
    '',
    `${report.startedAt} to ${report.endedAt}${report.blind ? ', blind' : ''}${report.reason === null ? '' : `. ${report.reason}`}`,
    ...report.roles.map(({ role, people }) => `- ${cell(role)}: ${cell(people.join(', '))}`),
    '',
    '## Experiments',
    '',
    ...rows(
      ['experiment', 'state', 'recovery', 'isolation', 'explainability', 'hypothesis'],
      report.experiments.map((one) => [
        nameOf(one),
        one.state,
        ...[one.scores.recovery, one.scores.isolation, one.scores.explainability].map(figure),
        `${one.hypothesis.outcome}: ${one.hypothesis.statement}`,
      ]),
    ),
    ...skipped(report),
    ...diagnoses(report.experiments),
    ...section(
      'Notes',
      report.notes.map(
        ({ at, author, kind, text }) => `${at} ${author}${kind === 'action' ? ' (action)' : ''}: ${text}`,
      ),
    ),
    ...section(
      'To do',
      report.actions.map(({ text, of, from, again }) => {
        const by = from === 'note' ? ` (${of})` : '';
        return `[ ] ${text}${by}${again ? ', as last time' : ''}`;
      }),
    ),
    ...comparison(report),
  ].join('\n')}\n`;
}

const nameOf = ({ stage, experiment }: ItemFindings): string => `${stage}/${experiment}`;

const skipped = ({ stages }: DayReport): string[] => {
  const left = stages.filter(({ state }) => state !== 'done');
  return left.length === 0
    ? []
    : [
        '',
        ...left.map(
          ({ name, state, reason }) =>
            `- stage ${name}: ${state}${reason === null ? '' : `, ${cell(reason)}`}`,
        ),
      ];
};

/** Both answers to the same question, scored by the same code. */
function diagnoses(experiments: readonly ItemFindings[]): string[] {
  const answered = experiments.filter(({ team, ours }) => team !== null || ours !== null);
  if (answered.length === 0) return [];
  const line = (one: ItemFindings, who: string, answer: Answer): string[] => [
    nameOf(one),
    who,
    answer.faultFound === false ? 'no fault' : answer.named.join(', '),
    figure(answer.explainability),
  ];
  return [
    '',
    '## Diagnoses side by side',
    '',
    ...rows(
      ['experiment', 'who', 'answer', 'explainability'],
      answered.flatMap((one) => [
        ...(one.ours === null ? [] : [line(one, one.ours.author, one.ours)]),
        ...(one.team === null ? [] : [line(one, one.team.author, one.team)]),
      ]),
    ),
  ];
}

function comparison({ comparison: made }: DayReport): string[] {
  if (made === null) return [];
  return [
    '',
    `## Since ${made.endedAt}`,
    '',
    ...(made.differences.length === 0
      ? ['Nothing differs.']
      : rows(
          ['experiment', 'figure', 'before', 'now'],
          made.differences.map(({ of, figure: name, before, after }) => [
            of,
            name,
            figure(before),
            figure(after),
          ]),
        )),
    ...(made.actionsGone.length === 0 ? [] : ['', ...made.actionsGone.map((text) => `- [x] ${cell(text)}`)]),
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines.map((line) => `- ${cell(line)}`)];

const rows = (head: readonly string[], body: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.map(cell).join(' | ')} |`);

const figure = (value: number | string | null): string =>
  value === null ? 'not known' : typeof value === 'number' ? String(Math.round(value * 10) / 10) : value;

/** Texts of people must not become markup. */
const cell = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/[\\|<>*_`]/g, (character) => `\\${character}`);
