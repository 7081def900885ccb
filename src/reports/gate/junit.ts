/**
 * A gate's result as JUnit: one test case for each objective on each experiment.
 *
 * As for runs (../junit.ts): classname and name are unique together, the explanation stands in the body, and what could
 * not be shown is an *error*, since pipelines paint skipped cases green. Names carry no seed and no figure, so that a
 * pipeline can follow a case from one change to the next.
 */
import type { CellResult, GateResult, ObjectiveVerdict } from '../../comparison/result.js';
import { xmlAttribute, xmlText } from '../common/escape.js';
import { amount, comparedWith, replayOf, told, type GateFormat, type GateReportOptions } from './format.js';

interface Case {
  classname: string;
  name: string;
  objective: ObjectiveVerdict;
  cell: CellResult;
}

/** Dots separate packages in the readers' trees, so they are kept out of the parts. */
const part = (text: string): string => text.replaceAll('.', '_');

function casesOf({ gate, objectives }: GateResult): Case[] {
  const used = new Set<string>();
  return objectives.flatMap((objective) =>
    objective.experiments.map((cell) => {
      const classname = ['fabricdrill', part(gate.suite), part(cell.experiment)].join('.');
      let name = objective.name;
      for (let copy = 2; used.has(`${classname}\n${xmlAttribute(name)}`); copy++)
        name = `${objective.name} (${copy})`;
      used.add(`${classname}\n${xmlAttribute(name)}`);
      return { classname, name, objective, cell };
    }),
  );
}

function explanation({ objective, cell }: Case, result: GateResult, options: GateReportOptions): string {
  const { gate, differences } = result;
  const replay = replayOf(cell, options);
  return [
    `${cell.verdict}: ${cell.reason}`,
    `baseline ${gate.baseline}: ${amount(cell.meanBaseline, objective)}`,
    `candidate ${gate.candidate}: ${amount(cell.meanCandidate, objective)}`,
    ...(cell.worseBy === null ? [] : [comparedWith(cell, objective)]),
    ...differences.map((line) => `differs: ${line}`),
    ...(replay === undefined ? [] : [`Seed ${cell.worstSeed}; reproduce: ${replay}`]),
    `Version ${gate.version}`,
  ].join('\n');
}

function render(result: GateResult, options: GateReportOptions = {}): string {
  const cases = casesOf(result);
  const count = (verdict: CellResult['verdict']): number =>
    cases.filter(({ cell }) => cell.verdict === verdict).length;
  const totals = `tests="${cases.length}" failures="${count('regression')}" errors="${count('inconclusive')}"`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="fabricdrill" ${totals}>`,
    `  <testsuite name="${xmlAttribute(result.gate.suite)}" ${totals} skipped="0">`,
  ];
  for (const one of cases) {
    const head = `    <testcase classname="${xmlAttribute(one.classname)}" name="${xmlAttribute(one.name)}"`;
    if (one.cell.verdict === 'none') {
      lines.push(`${head}/>`);
      continue;
    }
    const tag = one.cell.verdict === 'regression' ? 'failure' : 'error';
    const message = xmlAttribute(told(one.cell, one.objective));
    const body = xmlText(explanation(one, result, options));
    lines.push(`${head}>`, `      <${tag} type="${one.cell.verdict}" message="${message}">${body}</${tag}>`);
    lines.push('    </testcase>');
  }
  lines.push('  </testsuite>', '</testsuites>');
  return `${lines.join('\n')}\n`;
}

export const gateJunit: GateFormat = {
  name: 'junit',
  extension: 'xml',
  mediaType: 'application/xml',
  summary: 'a test case for each objective on each experiment',
  render,
};
