/**
 * A gate's result as SARIF 2.1.0 (OASIS standard): a finding for each objective on each experiment that did not pass.
 *
 * A finding points at the line of the suite that states the objective, since that is what a reviewer can open; its rule is
 * the objective, and its fingerprint is made of suite, experiment and objective, so that a finding stays the same from one
 * run to the next. `regression` is an error, `inconclusive` a warning. Without a file there is no location.
 */
import type { CellResult, GateResult, ObjectiveVerdict } from '../../comparison/result.js';
import { replayOf, told, troubles, type GateFormat, type GateReportOptions } from './format.js';

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** Letters, digits and a few signs that every reader takes. */
const plain = (name: string): string => name.replace(/[^A-Za-z0-9_.]+/g, '-').replace(/^-+|-+$/g, '');

/** One for each objective, in their order, and no two alike: names may differ in nothing but signs, as >= and <= do. */
function ruleIds(objectives: readonly ObjectiveVerdict[]): string[] {
  const ids: string[] = [];
  for (const { name } of objectives) {
    let id = plain(name);
    for (let copy = 2; ids.includes(id); copy++) id = `${plain(name)}-${copy}`;
    ids.push(id);
  }
  return ids;
}

/** Blanks and what a URI reserves are encoded, slashes stay; relative to where the gate was run, unless absolute. */
const uri = (path: string): string =>
  `${path.startsWith('/') ? 'file://' : ''}${path.split(/[/\\]/).map(encodeURIComponent).join('/')}`;

function finding(
  { objective, cell }: { objective: ObjectiveVerdict; cell: CellResult },
  { gate, objectives }: GateResult,
  ids: readonly string[],
  options: GateReportOptions,
): object {
  const ruleIndex = objectives.indexOf(objective);
  const file = objective.file ?? options.file;
  const replay = replayOf(cell, options);
  const text = `${cell.verdict} in ${cell.experiment}: ${told(cell, objective)}${replay === undefined ? '' : `. Seed ${cell.worstSeed}, reproduce: ${replay}`}`;
  const region = objective.line === undefined ? {} : { region: { startLine: objective.line } };
  const location = { physicalLocation: { artifactLocation: { uri: uri(file ?? '') }, ...region } };
  return {
    ruleId: ids[ruleIndex],
    ruleIndex,
    level: cell.verdict === 'regression' ? 'error' : 'warning',
    message: { text },
    ...(file === undefined ? {} : { locations: [location] }),
    partialFingerprints: { 'fabricdrill/v1': [gate.suite, cell.experiment, objective.name].join('/') },
  };
}

function render(result: GateResult, options: GateReportOptions = {}): string {
  const ids = ruleIds(result.objectives);
  const rules = result.objectives.map(({ name, metric }, at) => ({
    id: ids[at],
    name: plain(metric),
    shortDescription: { text: name },
  }));
  const document = {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'fabricdrill', version: result.gate.version, rules } },
        results: troubles(result).map((one) => finding(one, result, ids, options)),
      },
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

export const gateSarif: GateFormat = {
  name: 'sarif',
  extension: 'sarif',
  mediaType: 'application/sarif+json',
  summary: 'findings that point at the lines of the suite',
  render,
};
