/**
 * What a game day would do, and what a blind one would hide: for whoever writes its file, since nothing is stored or begun.
 *
 * A seed that a blind day draws is drawn when it begins, so its targets are not known before, not even to its author.
 */
import type { Plan } from '../../drill/plan/plan.js';
import { labelOf, waitsFor, type GameDay } from '../../documents/game-day.js';
import { formatPace } from '../../fabric-api/pace.js';
import { stagePlans } from './rules/stage-plans.js';
import type { GameDayItemEntity } from './game-day.entity.js';
import type { PlannedDay } from './game-day-planner.js';

export interface PlannedExperiment {
  name: string;
  fabric: string;
  driver: string;
  /** Null where it is drawn when the day begins. */
  seed: number | null;
  hypothesis: string;
  duration_s: number;
  /** By the clock on the wall; null where it is as fast as it can be computed. */
  takes_s: number | null;
  /** Null with a seed that is not drawn yet. */
  targets: string[] | null;
  blastRadius: Plan['blastRadius'] | null;
}

export interface GameDayPlan {
  name: string;
  blind: boolean;
  pace: string | null;
  roles: GameDay['spec']['roles'];
  stages: {
    name: string;
    after: readonly string[];
    order: 'serial' | 'parallel';
    pause: string | null;
    when: string[];
    experiments: PlannedExperiment[];
  }[];
  /** What nobody is shown until the team has committed its diagnosis. */
  hidden: string[];
}

const HIDDEN = [
  'names of experiments, hypotheses and the file',
  'seeds, plans, targets and what was injected',
  'states, reasons, exit codes, scorecards, verdicts and reports of runs',
  'events of runs but their begin and end',
];

export function gameDayPlan({ metadata, spec }: GameDay, { items }: PlannedDay): GameDayPlan {
  const plans = stagePlans(spec);
  return {
    name: metadata.name,
    blind: spec.blind,
    pace: spec.pace === undefined ? null : formatPace(spec.pace),
    roles: spec.roles,
    stages: spec.stages.map((stage, at) => ({
      name: stage.name,
      after: waitsFor(spec.stages, at),
      order: stage.order,
      pause: stage.pause ?? null,
      when: plans[at].when.map(({ text }) => text),
      experiments: stage.experiments.map((one, index) =>
        plannedExperiment(items[plans[at].items[index]], {
          name: labelOf(one),
          hypothesis: one.hypothesis.statement,
          drawn: spec.blind && one.seed === undefined,
          pace: spec.pace,
        }),
      ),
    })),
    hidden: spec.blind ? HIDDEN : [],
  };
}

function plannedExperiment(
  { draft }: GameDayItemEntity,
  { name, hypothesis, drawn, pace }: { name: string; hypothesis: string; drawn: boolean; pace?: number },
): PlannedExperiment {
  const { plan, driver } = draft;
  const durationS = plan.durationNs / 1e9;
  const real = driver !== 'simulated';
  return {
    ...{ name, driver, hypothesis },
    fabric: draft.fabricName,
    seed: drawn ? null : draft.seed,
    duration_s: durationS,
    takes_s: real ? durationS : pace === undefined ? null : durationS / pace,
    targets: drawn ? null : plan.faults.flatMap(({ targets }) => targets.map(({ id }) => id)),
    blastRadius: drawn ? null : plan.blastRadius,
  };
}
