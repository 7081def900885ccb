/** From a game day's file to the stages that are conducted, its experiments numbered in the order of the file. */
import {
  labelOf,
  waitsFor,
  type GameDaySpec,
  type StageExperimentSpec,
} from '../../../documents/game-day.js';
import type { StageCondition, StagePlan } from './stages.js';

export interface DayItem {
  stage: number;
  /** Within its stage. */
  index: number;
  label: string;
  spec: StageExperimentSpec;
}

export const dayItems = ({ stages }: GameDaySpec): DayItem[] =>
  stages.flatMap(({ experiments }, stage) =>
    experiments.map((spec, index) => ({ stage, index, label: labelOf(spec), spec })),
  );

export function stagePlans(spec: GameDaySpec): StagePlan[] {
  const items = dayItems(spec);
  const numbersOf = (stage: string, label?: string): number[] =>
    items.flatMap((item, number) =>
      spec.stages[item.stage].name === stage && (label === undefined || item.label === label) ? [number] : [],
    );
  return spec.stages.map(({ name, order, pause, when }, at) => ({
    name,
    after: waitsFor(spec.stages, at),
    order,
    pause: pause !== undefined,
    when: when.map(({ stage, experiment, expression }): StageCondition => ({
      text: `${[stage, ...(experiment === undefined ? [] : [experiment])].join('/')}: ${expression}`,
      items: numbersOf(stage, experiment),
      expression,
    })),
    items: numbersOf(name),
  }));
}
