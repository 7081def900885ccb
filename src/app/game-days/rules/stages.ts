/**
 * What a game day does next, from its stages, how far they are, and how far their runs are. Pure: no clock, no database.
 *
 * Asked again with the same facts it says the same, and asked after its steps were taken it says nothing more: whoever
 * conducts may die between two looks. A stage that was skipped counts as ended for those that wait for it; a serial stage
 * has one run under way, a parallel one all of them.
 */

/** A condition, named for the reason that it gives when it does not hold. */
export interface StageCondition {
  text: string;
  /** The experiments it is about. */
  items: readonly number[];
  expression: string;
}

export interface StagePlan {
  name: string;
  after: readonly string[];
  order: 'serial' | 'parallel';
  pause: boolean;
  when: readonly StageCondition[];
  /** Numbers of its experiments, counted over the whole day. */
  items: readonly number[];
}

/** `waiting` for people: to continue a stage, or to commit a diagnosis. */
export const GAME_DAY_STATES = ['running', 'waiting', 'completed', 'aborted'] as const;
export type GameDayState = (typeof GAME_DAY_STATES)[number];

/** `aborted`: the day was, while the stage was under way; it is not conducted any more then. */
export const STAGE_STATES = ['blocked', 'paused', 'running', 'done', 'skipped', 'aborted'] as const;
export type StageState = (typeof STAGE_STATES)[number];

export interface StageFact {
  state: StageState;
  /** Somebody said that it may go on. */
  continued: boolean;
}

/** How far the run of an experiment is. */
export type ItemFact = 'unstarted' | 'open' | 'ended';

export type Step =
  { do: 'start'; item: number } | { do: 'stage'; stage: number; state: StageState; reason: string | null };

/** Whether a condition holds; null when it could not be known. */
export type Judge = (condition: StageCondition) => boolean | null;

const isOver = (state: StageState): boolean => state === 'done' || state === 'skipped';

/** The steps to take now, in order. */
export function nextSteps(
  stages: readonly StagePlan[],
  stageFacts: readonly StageFact[],
  itemFacts: readonly ItemFact[],
  judge: Judge,
): Step[] {
  const states = stageFacts.map(({ state }) => state);
  const items = [...itemFacts];
  const steps: Step[] = [];
  const over = (name: string): boolean => isOver(states[stages.findIndex((stage) => stage.name === name)]);
  const go = (stage: number, state: StageState, reason: string | null = null): void => {
    states[stage] = state;
    steps.push({ do: 'stage', stage, state, reason });
  };
  const lookAt = (at: number): void => {
    const stage = stages[at];
    if (states[at] === 'blocked' && stage.after.every(over)) {
      const refused = refusal(stage.when, judge);
      if (refused !== undefined) go(at, 'skipped', refused);
      else go(at, stage.pause && !stageFacts[at].continued ? 'paused' : 'running');
    }
    if (states[at] === 'paused' && stageFacts[at].continued) go(at, 'running');
    if (states[at] !== 'running') return;
    for (const item of startable(stage, items)) {
      items[item] = 'open';
      steps.push({ do: 'start', item });
    }
    if (stage.items.every((item) => items[item] === 'ended')) go(at, 'done');
  };
  // a stage that ends lets others begin, which may stand before it in the file
  for (let before = -1; before !== steps.length;) {
    before = steps.length;
    for (const at of stages.keys()) lookAt(at);
  }
  return steps;
}

/** Why a stage is skipped; undefined when all its conditions hold. */
function refusal(when: readonly StageCondition[], judge: Judge): string | undefined {
  for (const condition of when) {
    const holds = judge(condition);
    if (holds === null) return `whether ${condition.text} holds could not be known`;
    if (!holds) return `${condition.text} does not hold`;
  }
  return undefined;
}

function startable({ order, items: own }: StagePlan, items: readonly ItemFact[]): number[] {
  const waiting = own.filter((item) => items[item] === 'unstarted');
  if (order === 'parallel') return waiting;
  return own.some((item) => items[item] === 'open') ? [] : waiting.slice(0, 1);
}

/** Whether nothing is left to do. */
export const allOver = (facts: readonly Pick<StageFact, 'state'>[]): boolean =>
  facts.every(({ state }) => isOver(state));
