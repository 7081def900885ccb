/**
 * Objectives of a suite: what must not become worse, and by how much it may, or what the candidate must reach.
 *
 * Relative, `{ metric: recovery.score, margin: 5 }`: the candidate may be worse than the baseline by less than the
 * margin, in the metric's own unit or as a share of the baseline (`margin: 2%`). That nothing at all became worse can
 * not be shown by any number of seeds, so a margin is more than 0. Absolute, `recovery.score >= 80` or
 * `{ expression, share }`: the candidate alone, at that share of the seeds (all of them, if left out). Both can be kept
 * to some experiments by `on`.
 */
import { listChoices, nearestHint } from '../core/nearest.js';
import { InputError, type InputIssue } from '../core/problem.js';
import { GATE_FIGURES, gateFigure, type GateFigure } from './figures.js';
import { exclude } from '../scoring/contradiction.js';
import { metricHint, parseObjectiveOn, type Objective, type Vocabulary } from '../scoring/objectives.js';

/** As a suite file has it, its shape already checked. */
export type SuiteObjectiveSpec =
  string | { metric?: string; margin?: number | string; expression?: string; share?: number; on?: string[] };

interface Common {
  /** Unique within its suite, and what reports call it. */
  name: string;
  /** Place in the suite's list. */
  index: number;
  /** Experiments that it is judged on; all when left out. */
  on?: readonly string[];
}

export interface RelativeObjective extends Common {
  type: 'relative';
  figure: GateFigure;
  /** In the figure's unit; or, when `ofBaseline`, as a share of the baseline's value. */
  margin: number;
  ofBaseline: boolean;
}

export interface AbsoluteObjective extends Common {
  type: 'absolute';
  figure: GateFigure;
  objective: Objective<GateFigure>;
  /** Of the seeds that must meet it, above 0 to 1. */
  share: number;
}

export type SuiteObjective = RelativeObjective | AbsoluteObjective;

/** More claims than these would dilute each of them. */
export const MOST_OBJECTIVES = 5;

/**
 * @param experiments names of the suite's experiments; undefined when they are not known yet
 * @throws InputError with everything that is wrong with any of them
 */
export function parseSuiteObjectives(
  specs: readonly SuiteObjectiveSpec[],
  experiments: readonly string[] | undefined,
  pointer = '/spec/objectives',
): SuiteObjective[] {
  const issues: InputIssue[] = [];
  const objectives: SuiteObjective[] = [];
  const names = new Set<string>();
  for (const [index, spec] of specs.entries()) {
    try {
      const objective = parseOne(spec, index, `${pointer}/${index}`, experiments);
      if (names.has(objective.name)) {
        throw InputError.at(`${pointer}/${index}`, `this suite has the objective "${objective.name}" twice`);
      }
      const against = objectives.find((before) => contradict(before, objective, experiments));
      if (against !== undefined) {
        const message = `no candidate can meet both "${against.name}" and "${objective.name}"`;
        throw InputError.at(`${pointer}/${index}`, message);
      }
      names.add(objective.name);
      objectives.push(objective);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      issues.push(...error.issues);
    }
  }
  if (issues.length === 0) issues.push(...unjudged(objectives, experiments ?? []));
  if (issues.length > 0) throw new InputError(issues);
  return objectives;
}

/** An experiment that is run and decides nothing was meant to. */
const unjudged = (objectives: readonly SuiteObjective[], experiments: readonly string[]): InputIssue[] =>
  experiments.flatMap((name, at) =>
    objectives.some(({ on }) => on?.includes(name) ?? true)
      ? []
      : [
          {
            pointer: `/spec/experiments/${at}`,
            message: `no objective is judged on "${name}"`,
            hint: 'add it to an objective’s "on", or leave it out',
          },
        ],
  );

/** Whether no figures of any experiment meet both at as many seeds as they must. */
function contradict(
  one: SuiteObjective,
  other: SuiteObjective,
  experiments: readonly string[] = [],
): boolean {
  if (one.type !== 'absolute' || other.type !== 'absolute' || one.share + other.share <= 1) return false;
  const scopes = [one.on ?? experiments, other.on ?? experiments];
  return scopes[0].some((name) => scopes[1].includes(name)) && exclude(one.objective, other.objective);
}

function parseOne(
  spec: SuiteObjectiveSpec,
  index: number,
  pointer: string,
  experiments: readonly string[] | undefined,
): SuiteObjective {
  if (typeof spec === 'string') return absolute(spec, 1, { index }, pointer);
  const { metric, margin, expression, share, on } = spec;
  if ((metric === undefined) === (expression === undefined)) {
    const message = `an objective has either a metric with its margin or an expression; ${metric === undefined ? 'neither' : 'both'} is here`;
    throw InputError.at(pointer, message, 'as in { metric: recovery.score, margin: 5 }');
  }
  checkOn(on, experiments, pointer);
  const common = { index, ...(on === undefined ? {} : { on }) };
  if (expression !== undefined) {
    if (margin !== undefined) {
      throw InputError.at(`${pointer}/margin`, 'an expression is met or missed; only a metric has a margin');
    }
    return absolute(expression, share ?? 1, common, `${pointer}/expression`);
  }
  if (share !== undefined) {
    throw InputError.at(
      `${pointer}/share`,
      'a metric is compared over all seeds; only an expression has a share',
    );
  }
  return relative(metric!, margin, common, pointer);
}

function checkOn(
  on: readonly string[] | undefined,
  experiments: readonly string[] | undefined,
  pointer: string,
): void {
  if (on === undefined || experiments === undefined) return;
  const issues = on.flatMap((name, at): InputIssue[] => {
    if (on.indexOf(name) < at)
      return [{ pointer: `${pointer}/on/${at}`, message: `"${name}" is here twice` }];
    if (experiments.includes(name)) return [];
    const hint = nearestHint(name, experiments);
    const message = `the suite has no experiment "${name}"; it has ${listChoices(experiments, 30)}`;
    return [{ pointer: `${pointer}/on/${at}`, message, ...(hint === undefined ? {} : { hint }) }];
  });
  if (issues.length > 0) throw new InputError(issues);
}

const scope = (on: readonly string[] | undefined): string => (on === undefined ? '' : ` on ${on.join(', ')}`);

/** Near a figure that only a comparison has, or else as of a scorecard. */
const figureHint = (path: string): string =>
  (path.startsWith('training')
    ? nearestHint(
        path,
        GATE_FIGURES.map((one) => one.path),
      )
    : undefined) ?? metricHint(path);

const FIGURES: Vocabulary<GateFigure> = { find: gateFigure, hint: figureHint };

function absolute(
  expression: string,
  share: number,
  common: Pick<Common, 'index' | 'on'>,
  pointer: string,
): AbsoluteObjective {
  const objective = parseObjectiveOn(FIGURES, expression, pointer);
  const seeds = share === 1 ? '' : ` at ${percent(share)} of the seeds`;
  const name = `${objective.expression}${seeds}${scope(common.on)}`;
  return { type: 'absolute', ...common, name, figure: objective.metric, objective, share };
}

function relative(
  path: string,
  margin: number | string | undefined,
  common: Pick<Common, 'index' | 'on'>,
  pointer: string,
): RelativeObjective {
  const figure = gateFigure(path);
  if (figure === undefined) throw unknownFigure(path, `${pointer}/metric`);
  if (figure.better === 'neutral') {
    const message = `${path} is a count of which neither more nor less is better, so it can not become worse`;
    throw InputError.at(`${pointer}/metric`, message);
  }
  const { value, ofBaseline } = parseMargin(margin, figure, `${pointer}/margin`);
  const shown = ofBaseline ? percent(value) : `${value}${unitText(figure)}`;
  const name = `${path} within ${shown}${scope(common.on)}`;
  return { type: 'relative', ...common, name, figure, margin: value, ofBaseline };
}

function unknownFigure(path: string, pointer: string): InputError {
  const paths = GATE_FIGURES.map((figure) => figure.path);
  const family = paths.filter((one) => one.startsWith(`${path.split('.')[0]}.`));
  const choices = family.length > 0 ? family : paths.filter((one) => /[.]score$|^training[.]/.test(one));
  const message = `unknown metric "${path}"; ${family.length > 0 ? 'there are' : 'among others there are'} ${listChoices(choices, 30)}`;
  return InputError.at(pointer, message, nearestHint(path, paths));
}

function parseMargin(
  margin: number | string | undefined,
  figure: GateFigure,
  pointer: string,
): { value: number; ofBaseline: boolean } {
  const example = figure.path.startsWith('training.') ? 'margin: 2%' : 'margin: 5';
  if (margin === undefined) {
    const message = `${figure.path} has no margin: by how much may the candidate be worse?`;
    throw InputError.at(pointer, message, `as in ${example}`);
  }
  const text = String(margin).trim();
  // a number of a file may be so small that its text has an exponent
  const match = /^(\d+(?:\.\d+)?(?:e-\d+)?|\.\d+)\s*(%?)$/.exec(text);
  if (match === null) {
    const message = `${JSON.stringify(margin)} is no margin; it is a number in the metric's unit, or a share of the baseline such as 2%`;
    throw InputError.at(pointer, message, `as in ${example}`);
  }
  const ofBaseline = match[2] === '%';
  const value = ofBaseline ? Number(match[1]) / 100 : Number(match[1]);
  const span = figure.range[1] - figure.range[0];
  if (!(value > 0) || (ofBaseline ? value >= 1 && figure.better === 'higher' : value >= span)) {
    const most = ofBaseline ? '100%' : String(span);
    const message =
      value > 0
        ? `a margin of ${text} lets everything pass; it must be below ${most}`
        : 'a margin is more than 0: no number of seeds shows that nothing at all became worse';
    throw InputError.at(pointer, message, `as in ${example}`);
  }
  return { value, ofBaseline };
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(6))} %`;

/** ` s`, ` GPU h`; shares and counts have no word. */
export const unitText = ({ unit }: GateFigure): string => (unit === '' || unit === 'share' ? '' : ` ${unit}`);
