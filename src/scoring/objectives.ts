/**
 * Objectives: one expression a line, such as `recovery.score >= 80`, parsed and checked before anything is injected.
 *
 * Grammar: `metric comparator literal`, where metric is `<score>.score` or `<score>.<metric>`, comparator one of
 * `>= <= > < == !=`, literal a decimal number, `true` or `false`. Booleans compare as 1 and 0. The unit of a metric
 * is the end of its name, so a literal has none. A figure that could not be known makes the objective null, never
 * passed. Not modelled: arithmetic, several comparisons in one expression, comparison between two metrics.
 */
import { InputError } from '../core/problem.js';
import type { InputIssue } from '../core/problem.js';
import { nearest, nearestHint } from '../core/nearest.js';
import { SCORE_METRIC_DEFINITIONS, scoreMetricDefinition } from './metric-catalog.js';
import type { ScoreMetricDefinition } from './metric-catalog.js';
import { SCORE_NAMES } from './scorecard.js';
import type { MetricValue, ObjectiveResult, Scores } from './scorecard.js';

export const COMPARATORS = ['>=', '<=', '==', '!=', '>', '<'] as const;
export type Comparator = (typeof COMPARATORS)[number];

/** What a figure must say of itself to be compared with a number. */
export type ComparableMetric = Pick<ScoreMetricDefinition, 'path' | 'kind' | 'range'>;

export interface Objective<Metric extends ComparableMetric = ScoreMetricDefinition> {
  /** As written, without surrounding blanks. */
  expression: string;
  metric: Metric;
  comparator: Comparator;
  /** The number to compare with; 1 and 0 for `true` and `false`. */
  threshold: number;
}

/** Every metric that an objective may name. */
export const OBJECTIVE_METRICS: readonly string[] = SCORE_METRIC_DEFINITIONS.map(({ path }) => path);

const compare: Record<Comparator, (value: number, threshold: number) => boolean> = {
  '>=': (value, threshold) => value >= threshold,
  '<=': (value, threshold) => value <= threshold,
  '==': (value, threshold) => value === threshold,
  '!=': (value, threshold) => value !== threshold,
  '>': (value, threshold) => value > threshold,
  '<': (value, threshold) => value < threshold,
};

const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;

class ObjectiveSyntaxError extends Error {
  constructor(
    /** 1-based character at which the trouble starts. */
    readonly position: number,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** Metrics that an expression may name. */
export interface Vocabulary<Metric extends ComparableMetric> {
  find: (path: string) => Metric | undefined;
  /** What may have been meant instead. */
  hint: (path: string) => string;
}

/** Near a metric of a scorecard, or all of the score that was meant. */
export function metricHint(name: string): string {
  const [prefix, ...rest] = name.split('.');
  const tail = rest.join('.');
  const bare = SCORE_METRIC_DEFINITIONS.find((definition) => definition.name === name && name !== 'score');
  if (bare !== undefined) return `did you mean "${bare.path}"?`;
  const scoreName = nearest(prefix, SCORE_NAMES);
  const family = SCORE_METRIC_DEFINITIONS.filter(({ score }) => score === scoreName);
  const anyNear = nearestHint(name, OBJECTIVE_METRICS);
  if (family.length === 0)
    return anyNear ?? `a metric starts with ${SCORE_NAMES.map((n) => `${n}.`).join(', ')}`;
  // Only the tail is compared: the common prefix would make everything look near.
  const near = nearest(
    tail,
    family.map((definition) => definition.name),
  );
  const choices = `${scoreName} has ${family.map((definition) => definition.name).join(', ')}`;
  return near === undefined ? choices : `did you mean "${scoreName}.${near}"? ${choices}`;
}

function literal(text: string, position: number, metric: ComparableMetric): number {
  if (text === 'true') return 1;
  if (text === 'false') return 0;
  if (NUMBER.test(text) && Number.isFinite(Number(text))) return Number(text);
  const withUnit = /^([+-]?[\d.]+)\s*[A-Za-zµ%]+$/.exec(text);
  throw new ObjectiveSyntaxError(
    position,
    `"${text}" is no number, true or false`,
    withUnit === null
      ? `write ${metric.path} and one number, as in \`recovery.score >= 80\``
      : `the unit is part of the metric's name; write ${withUnit[1]}`,
  );
}

/** Refuses what no outcome could change: a threshold beyond the metric's range is a slip, not an objective. */
function checkThreshold(metric: ComparableMetric, threshold: number, position: number): void {
  if (metric.kind === 'boolean' && threshold !== 0 && threshold !== 1) {
    throw new ObjectiveSyntaxError(
      position,
      `${metric.path} is true or false`,
      `write ${metric.path} == true`,
    );
  }
  const [low, high] = metric.range;
  if (threshold < low || threshold > high) {
    throw new ObjectiveSyntaxError(
      position,
      `${metric.path} lies between ${low} and ${high === Infinity ? 'no upper bound' : high}; ${threshold} decides nothing`,
      high === 1 && threshold > 1 && threshold <= 100 ? `a share: write ${threshold / 100}` : undefined,
    );
  }
}

function parse<Metric extends ComparableMetric>(
  text: string,
  { find, hint }: Vocabulary<Metric>,
): Objective<Metric> {
  const expression = text.trim();
  const lead = text.length - text.trimStart().length;
  const match = /^([^\s<>=!]*)(\s*)([<>=!]*)(\s*)(.*)$/s.exec(expression);
  const [, name, gapBefore, operator, gapAfter, rest] = match as RegExpExecArray;
  const operatorAt = lead + name.length + gapBefore.length + 1;
  if (name === '') {
    throw new ObjectiveSyntaxError(
      lead + 1,
      'an objective starts with a metric',
      'as in `recovery.score >= 80`',
    );
  }
  const metric = find(name);
  if (metric === undefined) throw new ObjectiveSyntaxError(lead + 1, `unknown metric "${name}"`, hint(name));
  if (!(COMPARATORS as readonly string[]).includes(operator)) {
    const shown = operator === '' ? `"${rest.split(/\s/, 1)[0]}"` : `"${operator}"`;
    throw new ObjectiveSyntaxError(
      operatorAt,
      rest === '' && operator === ''
        ? `a comparator is missing after ${name}`
        : `${shown} is no comparator; use one of ${COMPARATORS.join(' ')}`,
      operator === '=' ? 'write ==' : undefined,
    );
  }
  const literalAt = operatorAt + operator.length + gapAfter.length;
  if (rest === '') throw new ObjectiveSyntaxError(literalAt, `a number is missing after ${operator}`);
  const threshold = literal(rest, literalAt, metric);
  checkThreshold(metric, threshold, literalAt);
  return { expression, metric, comparator: operator as Comparator, threshold };
}

const SCORES: Vocabulary<ScoreMetricDefinition> = { find: scoreMetricDefinition, hint: metricHint };

function parseOrIssue<Metric extends ComparableMetric>(
  expression: unknown,
  pointer: string,
  vocabulary: Vocabulary<Metric>,
): Objective<Metric> | InputIssue {
  try {
    if (typeof expression !== 'string') {
      throw new ObjectiveSyntaxError(1, 'an objective is a text', 'as in `recovery.score >= 80`');
    }
    return parse(expression, vocabulary);
  } catch (error) {
    if (!(error instanceof ObjectiveSyntaxError)) throw error;
    const message = `objective ${JSON.stringify(expression)}, character ${error.position}: ${error.message}`;
    return error.hint === undefined ? { pointer, message } : { pointer, message, hint: error.hint };
  }
}

const isIssue = (result: object): result is InputIssue => 'pointer' in result;

/**
 * Parses one objective.
 * @param pointer JSON pointer of the expression in its document
 * @throws InputError with the character where it went wrong and the nearest metric
 */
export const parseObjective = (expression: string, pointer = ''): Objective =>
  parseObjectiveOn(SCORES, expression, pointer);

/** The same over other metrics than those of a scorecard. */
export function parseObjectiveOn<Metric extends ComparableMetric>(
  vocabulary: Vocabulary<Metric>,
  expression: string,
  pointer = '',
): Objective<Metric> {
  const result = parseOrIssue(expression, pointer, vocabulary);
  if (isIssue(result)) throw new InputError([result]);
  return result;
}

/**
 * Parses a list of objectives and reports everything that is wrong with it at once.
 * @param pointer JSON pointer of the list
 * @throws InputError with one issue for each expression that can't be read
 */
export function parseObjectives(expressions: readonly unknown[], pointer = '/spec/objectives'): Objective[] {
  const results = expressions.map((expression, index) =>
    parseOrIssue(expression, `${pointer}/${index}`, SCORES),
  );
  const issues = results.filter(isIssue);
  if (issues.length > 0) throw new InputError(issues);
  return results as Objective[];
}

/** The measured value behind an objective; null when it could not be known. */
export function objectiveValue(objective: Objective, scores: Scores): MetricValue {
  const score = scores[objective.metric.score];
  const value =
    objective.metric.name === 'score' ? score.score : (score.metrics[objective.metric.name] ?? null);
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}

/** Whether a known value meets an objective. */
export const meetsObjective = (
  { comparator, threshold }: Pick<Objective, 'comparator' | 'threshold'>,
  value: number,
): boolean => compare[comparator](value, threshold);

/** Compares one objective with the scores; `passed` is null when the value could not be known. */
export function evaluateObjective(objective: Objective, scores: Scores): ObjectiveResult {
  const value = objectiveValue(objective, scores);
  const passed = value === null ? null : meetsObjective(objective, Number(value));
  return { expression: objective.expression, value, passed };
}

/** Evaluates all objectives, in their order. */
export const evaluateObjectives = (objectives: readonly Objective[], scores: Scores): ObjectiveResult[] =>
  objectives.map((objective) => evaluateObjective(objective, scores));
