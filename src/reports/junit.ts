/**
 * The JUnit format: one test case for the run itself and one for each objective, for the test view of a pipeline.
 *
 * There is no standard; this keeps to what Jenkins, GitLab and GitHub actions read: unique classname + name (GitLab
 * keys on both and drops suite names), the explanation in the failure's body. An objective that was missed is a
 * failure. One that could not be known, and every run that did not pass or fail, is an *error*, not skipped:
 * pipelines paint skipped cases green, and no data is never a pass. Names carry no run id and no seed, so that a
 * pipeline can follow a case from run to run.
 */
import type { ObjectiveResult, Scorecard } from '../scoring/scorecard.js';
import type { ReportFormat, ReportOptions } from './common/report.js';
import { xmlAttribute, xmlText } from './common/escape.js';
import {
  NOTES_TITLE,
  REMARKS_TITLE,
  alignmentSentence,
  culpritSentence,
  firstLines,
  formatObjectiveValue,
  noteLines,
  remarkLines,
  replaySentence,
  stateSentence,
  truthSentence,
  verdictSentence,
} from './common/words.js';

interface TestCase {
  name: string;
  outcome: 'passed' | 'failure' | 'error';
  /** Machine-readable reason: a state, or `objective`. */
  type: string;
  /** One line. */
  message: string;
}

function explanation(scorecard: Scorecard, message: string, options: ReportOptions): string {
  return [
    message,
    ...scorecard.reasons,
    ...firstLines(scorecard.verdict),
    `Diagnosis: ${verdictSentence(scorecard)}`,
    ...remarkLines(scorecard.verdict).map((line) => `${REMARKS_TITLE}: ${line}`),
    ...noteLines(scorecard.verdict).map((line) => `${NOTES_TITLE}: ${line}`),
    ...(scorecard.verdict?.culprits ?? []).map((culprit) => `#${culprit.rank} ${culpritSentence(culprit)}`),
    ...scorecard.truth.map((truth) => `Injected: ${truthSentence(truth)}`),
    ...(scorecard.alignments ?? []).map((one) => `Aligned: ${alignmentSentence(one)}`),
    `Reproduce: ${options.reproduceCommand ?? replaySentence(scorecard)}`,
  ].join('\n');
}

function runCase(scorecard: Scorecard): TestCase {
  const { state } = scorecard.run;
  // A failed run fails through its objectives; the run's own case fails too when no objective explains the state.
  const explained = state === 'failed' && scorecard.objectives.some(({ passed }) => passed === false);
  const outcome = state === 'passed' || explained ? 'passed' : state === 'failed' ? 'failure' : 'error';
  return {
    name: 'the run reaches a verdict',
    outcome,
    type: state,
    message: `${state}: ${stateSentence(state)}`,
  };
}

function objectiveCase(objective: ObjectiveResult): TestCase {
  const measured = formatObjectiveValue(objective);
  if (objective.passed === null) {
    const message = `${objective.expression}: the value could not be known`;
    return { name: objective.expression, outcome: 'error', type: 'inconclusive', message };
  }
  return {
    name: objective.expression,
    outcome: objective.passed ? 'passed' : 'failure',
    type: 'objective',
    message: `${objective.expression}: measured ${measured}`,
  };
}

/** Appends ` (2)`, ` (3)` … to names that occur again, as XML will show them. */
function withUniqueNames(cases: readonly TestCase[]): TestCase[] {
  const used = new Set<string>();
  return cases.map((testCase) => {
    let name = testCase.name;
    for (let copy = 2; used.has(xmlAttribute(name)); copy++) name = `${testCase.name} (${copy})`;
    used.add(xmlAttribute(name));
    return { ...testCase, name };
  });
}

function seconds(scorecard: Scorecard): string {
  const { startedAt, endedAt } = scorecard.run;
  const elapsedMs =
    startedAt === null || endedAt === null ? NaN : Date.parse(endedAt) - Date.parse(startedAt);
  return (Number.isFinite(elapsedMs) ? Math.max(0, elapsedMs) / 1000 : 0).toFixed(3);
}

function render(scorecard: Scorecard, options: ReportOptions = {}): string {
  const { run } = scorecard;
  const cases = withUniqueNames([runCase(scorecard), ...scorecard.objectives.map(objectiveCase)]);
  const count = (outcome: TestCase['outcome']) =>
    cases.filter((testCase) => testCase.outcome === outcome).length;
  const totals = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}"`;
  // Dots separate packages in the readers' trees, so they are kept out of the parts.
  const classname = xmlAttribute(
    ['fabricdrill', run.experiment, run.fabric].map((part) => part.replaceAll('.', '_')).join('.'),
  );
  const time = seconds(scorecard);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="fabricdrill" ${totals} time="${time}">`,
    `  <testsuite name="${xmlAttribute(run.experiment)}" ${totals} skipped="0" time="${time}"${
      run.startedAt === null ? '' : ` timestamp="${xmlAttribute(run.startedAt)}"`
    }>`,
    '    <properties>',
    ...(['id', 'fabric', 'driver', 'seed', 'state', 'version'] as const).map(
      (key) => `      <property name="${key}" value="${xmlAttribute(String(run[key]))}"/>`,
    ),
    ...firstLines(scorecard.verdict).map(
      (line) => `      <property name="diagnosis" value="${xmlAttribute(line)}"/>`,
    ),
    '    </properties>',
  ];
  cases.forEach((testCase, index) => {
    const head = `    <testcase classname="${classname}" name="${xmlAttribute(testCase.name)}" time="${
      index === 0 ? time : '0.000'
    }"`;
    if (testCase.outcome === 'passed') lines.push(`${head}/>`);
    else {
      lines.push(
        `${head}>`,
        `      <${testCase.outcome} type="${xmlAttribute(testCase.type)}" message="${xmlAttribute(testCase.message)}">${xmlText(
          explanation(scorecard, testCase.message, options),
        )}</${testCase.outcome}>`,
        '    </testcase>',
      );
    }
  });
  lines.push('  </testsuite>', '</testsuites>');
  return `${lines.join('\n')}\n`;
}

export const junit: ReportFormat = {
  name: 'junit',
  extension: 'xml',
  mediaType: 'application/xml',
  summary: 'test cases for the test view of a pipeline; what could not be known is an error',
  render,
};
