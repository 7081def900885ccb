/**
 * Figures that a gate may compare: all figures of a scorecard, and how fast training is.
 *
 * A scorecard measures a drill against its own fabric before the fault, so a fabric that is slower from the start can
 * have full marks. Between two fabrics that is the first thing to ask, hence `training`: seconds a step, before the fault
 * and from its injection on. Not modelled: prices, power, and what a job's owner thinks.
 */
import { SCORE_METRIC_DEFINITIONS, type ScoreMetricDefinition } from '../scoring/metric-catalog.js';
import type { Scores } from '../scoring/scorecard.js';

/** `path` is `recovery.score` or `training.step_time_s`, as a suite writes it. */
export type GateFigure = Omit<ScoreMetricDefinition, 'score' | 'name'>;

/** How fast jobs train; null where too few steps tell. */
export interface TrainingFigures {
  step_time_s: number | null;
  faulted_step_time_s: number | null;
}

const training = (name: keyof TrainingFigures, label: string, description: string): GateFigure => ({
  path: `training.${name}`,
  label,
  kind: 'number',
  unit: 's',
  range: [0, Infinity],
  better: 'lower',
  description,
});

/** Every figure, in the published order. */
export const GATE_FIGURES: readonly GateFigure[] = [
  training(
    'step_time_s',
    'step time',
    'seconds a step before the fault, mean over jobs weighted by their GPUs',
  ),
  training(
    'faulted_step_time_s',
    'step time under the fault',
    'seconds a step from the injection to the end of the run, mean over jobs weighted by their GPUs',
  ),
  ...SCORE_METRIC_DEFINITIONS,
];

const byPath = new Map(GATE_FIGURES.map((figure) => [figure.path, figure]));

/** The figure of a path, undefined for an unknown one. */
export const gateFigure = (path: string): GateFigure | undefined => byPath.get(path);

/** Figures of one run by path; null where it could not be known. Yes and no are 1 and 0. */
export type FigureValues = Readonly<Record<string, number | null>>;

/**
 * The figures of one run.
 * @param scores null where the drill proved nothing, such as on a fabric that was not healthy before the fault
 */
export function figureValues(scores: Scores | null, trained: TrainingFigures): FigureValues {
  const values: Record<string, number | null> = {
    'training.step_time_s': trained.step_time_s,
    'training.faulted_step_time_s': trained.faulted_step_time_s,
  };
  for (const { path, score, name } of SCORE_METRIC_DEFINITIONS) {
    const value =
      scores === null ? null : name === 'score' ? scores[score].score : scores[score].metrics[name];
    const known = value === null || value === undefined ? NaN : Number(value);
    values[path] = Number.isFinite(known) ? known : null;
  }
  return values;
}
