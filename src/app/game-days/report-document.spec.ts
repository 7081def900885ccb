/** What a game day's report tells people, and in which order. */
import { describe, expect, it } from '@jest/globals';
import { documentMarkdown } from '../../reports/document/markdown.js';
import { actionItems, type DayReport, type ItemFindings } from './rules/report.js';
import { timelineOf } from './rules/timeline.js';
import { reportDocument } from './report-document.js';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 2, 10, 0, second)).toISOString();

const FOUND: ItemFindings = {
  stage: 'one',
  experiment: 'cut',
  fabric: 'small',
  run: 'r-1',
  state: 'failed',
  reason: null,
  course: {
    ...{ startedAt: at(1), injectedAt: at(21), detectedAt: at(22), revertedAt: at(41), endedAt: at(61) },
  },
  injected: ['link-down at link:a--b'],
  scores: { recovery: 71.29, isolation: null, explainability: 95 },
  objectives: [{ expression: 'recovery.score >= 90', value: 71.26, passed: false }],
  hypothesis: {
    statement: 'it is soon back',
    outcome: 'refuted',
    figures: [{ expression: 'recovery.time_to_recover_s < 1', value: 2.345678, passed: false }],
  },
  ours: {
    author: 'fabricdrill',
    faultFound: true,
    named: ['link-down at link:a--b'],
    explainability: 95,
    metrics: { top1: 1 },
  },
  team: {
    author: 'night shift',
    faultFound: null,
    named: [],
    explainability: 20,
    metrics: { top1: 0 },
    committedAt: at(70),
    informed: false,
  },
};

const stage = { reason: null, startedAt: at(1), endedAt: at(62), continuedAt: null, continuedBy: null };
const skipped = { startedAt: null, endedAt: at(62), continuedAt: null, continuedBy: null };

function report(more: Partial<DayReport> = {}): DayReport {
  const told = {
    ...{ id: 'd-1', name: 'autumn', state: 'completed', reason: null, blind: true, exitCode: 1 as const },
    ...{ startedAt: at(0), abortRequestedAt: null, endedAt: at(71), pace: '1x' },
    roles: [{ role: 'leads', people: ['ada', 'grace'] }],
    stages: [
      { name: 'one', state: 'done', ...stage },
      { name: 'two', state: 'skipped', ...skipped, reason: 'one: recovery.score >= 90 does not hold' },
    ],
    experiments: [FOUND],
    notes: [{ at: at(30), author: 'edsger', kind: 'note', text: 'an optic?' }],
    comparison: null,
    ...more,
  };
  const actions = actionItems(told.experiments, told.notes, ['one/cut misses recovery.score >= 90']);
  return { ...told, actions, timeline: timelineOf(told) };
}

describe('the report of a game day', () => {
  const text = documentMarkdown.render(reportDocument(report()));
  const says = (line: string): void => expect(text.split('\n')).toContain(line);

  it('says in short when it was, how, and what came of it', () => {
    says('2026-01-02 10:00:00 to 2026-01-02 10:01:11 UTC (1 min 11 s), blind, at 1x.');
    says(
      'Runs: 1 failed. Hypotheses: 1 refuted. Named first and right by fabricdrill: 1 of 1. By the team: 0 of 1. To do: 3.',
    );
    says('- leads: ada, grace');
  });

  it('says what was injected, and what was expected beside what was measured', () => {
    says('| one/cut | small | link-down at link:a--b | failed | 71.2 | – | 95 |');
    says('| one/cut | it is soon back | refuted | recovery.time_to_recover_s &lt; 1: 2.35, missed |');
    says('- stage two: skipped, one: recovery.score &gt;= 90 does not hold');
  });

  it('has both diagnoses in one row', () => {
    says(
      '| one/cut | link-down at link:a--b | link-down at link:a--b | 95, named first | can’t tell (night shift, 49 s after the injection) | 20, not named first |',
    );
    const informed = { ...FOUND, team: { ...FOUND.team!, informed: true } };
    expect(documentMarkdown.render(reportDocument(report({ experiments: [informed] })))).toContain(
      'after the injection, when the truth could be read)',
    );
  });

  it('tells in the order of time what happened and who did it', () => {
    expect(report().timeline.map(({ text: what, who }) => [what, who])).toEqual([
      ['the day began', null],
      ['began', null],
      ['run r-1 began', null],
      ['injected: link-down at link:a--b', null],
      ['first seen in telemetry', null],
      ['an optic?', 'edsger'],
      ['reverted', null],
      ['ended as failed', null],
      ['done', null],
      ['skipped: one: recovery.score >= 90 does not hold', null],
      ['diagnosed: can’t tell', 'night shift'],
      ['the day ended as completed', null],
    ]);
  });

  it('says what is to be done, and what was so last time', () => {
    says('- [ ] one/cut misses recovery.score &gt;= 90, as last time');
    says('- [ ] one/cut refutes "it is soon back"');
    says('- [ ] one/cut: the team did not name what was injected first; find out what it lacked');
    says('No game day named autumn ended before this one.');
  });

  it('of a day that was aborted before anything ran has a picture too', () => {
    const none = {
      ...FOUND,
      run: null,
      state: 'not run',
      course: null,
      injected: [],
      ours: null,
      team: null,
    };
    const stopped = { state: 'aborted', reason: 'rain', abortRequestedAt: at(3), notes: [] };
    const aborted = reportDocument(report({ ...stopped, experiments: [none] }));
    expect(documentMarkdown.render(aborted)).toContain('10:00:03 |  | abort asked for: rain |');
    expect(aborted.sections[0].blocks.some(({ kind }) => kind === 'timeline')).toBe(true);
  });

  it('asks of a run that did not come to its end nothing but to try it again, or why', () => {
    const hypothesis = { ...FOUND.hypothesis, outcome: 'unknown' as const };
    const lost = (state: string): ItemFindings => ({
      ...FOUND,
      state,
      hypothesis,
      objectives: [],
      team: null,
    });
    expect(
      report({ experiments: [lost('aborted'), lost('error')] }).actions.map(({ text: what }) => what),
    ).toEqual(['one/cut was aborted: run it again', 'one/cut ended as error: find out why']);
  });
});
