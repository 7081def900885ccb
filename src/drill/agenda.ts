/**
 * What a drill still has to do, in time order: apply, revert, and triggers to wait for.
 *
 * The times of a fault with a trigger are known only when its boundary comes; all of them then count from there. At one
 * instant reverts come before applies, so that a link never counts as hurt twice.
 */
import type { JobBoundary } from '../fabric-api/fabric.js';
import { formatDurationNs } from '../core/units.js';
import type { Plan, PlannedFault, PlannedImpairment, PlannedTrigger } from './plan/plan.js';

export interface Action {
  timeNs: number;
  type: 'apply' | 'revert';
  fault: string;
  one: PlannedImpairment;
  /** The revert after which nothing is left in place. */
  last: boolean;
}

/** A trigger that is watched for. */
export interface Awaited {
  fault: string;
  boundary: JobBoundary;
}

/** How well an injection met its trigger. */
export interface Alignment extends JobBoundary {
  fault: string;
  /** When the boundary began, and when the first impairment was applied, ns from the run's start. */
  beganNs: number;
  injectedNs: number;
}

type Waiting = PlannedFault & { trigger: PlannedTrigger };

const waits = (fault: PlannedFault): fault is Waiting => fault.trigger !== undefined;

export class Agenda {
  private readonly actions: Action[];
  private waiting: Waiting[];

  constructor(plan: Plan) {
    this.actions = inOrder(plan.faults.filter((fault) => !waits(fault)).flatMap((fault) => actionsOf(fault)));
    this.waiting = plan.faults.filter(waits);
  }

  /** The next action that is due at `nowNs`, taken off the list. */
  due(nowNs: number): Action | undefined {
    if (this.actions.length === 0 || this.actions[0].timeNs > nowNs) return undefined;
    const action = this.actions.shift()!;
    const nothingElse = this.actions.every(
      ({ type, timeNs }) => type === 'revert' && timeNs === action.timeNs,
    );
    return { ...action, last: action.type === 'revert' && nothingElse && this.waiting.length === 0 };
  }

  /** Triggers to watch for at `nowNs`. */
  awaited(nowNs: number): Awaited[] {
    return this.waiting
      .filter(({ trigger }) => trigger.fromNs <= nowNs)
      .map(({ name, trigger }) => ({ fault: name, boundary: trigger.boundary }));
  }

  /** Next instant at which something is due, begins to be watched for, or has been waited for in vain. */
  get nextNs(): number | undefined {
    const times = [
      ...this.actions.slice(0, 1).map(({ timeNs }) => timeNs),
      ...this.waiting.map(({ trigger }) => trigger.untilNs),
    ];
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** The same, with triggers that are not watched for yet. */
  nextAfter(nowNs: number): number | undefined {
    const begins = this.waiting.map(({ trigger }) => trigger.fromNs).filter((fromNs) => fromNs > nowNs);
    const { nextNs } = this;
    return nextNs === undefined ? undefined : Math.min(nextNs, ...begins);
  }

  /** The boundary of a fault came: its times count from `atNs`. @returns by how much they move, ns */
  release(fault: string, atNs: number): number {
    const released = this.waiting.find(({ name }) => name === fault);
    if (released === undefined) throw new RangeError(`no trigger is waited for by ${fault}`);
    this.waiting = this.waiting.filter((other) => other !== released);
    const shiftNs = atNs - released.atNs;
    this.actions.push(...actionsOf(released, shiftNs));
    inOrder(this.actions);
    return shiftNs;
  }

  /** Why the drill can't go on: a trigger that was waited for in vain. */
  missed(nowNs: number): string | undefined {
    const late = this.waiting.find(({ trigger }) => trigger.untilNs <= nowNs);
    if (late === undefined) return undefined;
    const { boundary, fromNs, untilNs } = late.trigger;
    return `the trigger of the fault "${late.name}" did not come: ${boundary.job} began no ${boundary.kind}${boundary.number === undefined ? '' : ` ${boundary.number}`} between ${formatDurationNs(fromNs)} and ${formatDurationNs(untilNs)}`;
  }
}

function actionsOf(fault: PlannedFault, shiftNs = 0): Action[] {
  return fault.impairments.flatMap((one): Action[] => [
    { timeNs: one.atNs + shiftNs, type: 'apply', fault: fault.name, one, last: false },
    { timeNs: one.untilNs + shiftNs, type: 'revert', fault: fault.name, one, last: false },
  ]);
}

const inOrder = (actions: Action[]): Action[] =>
  actions.sort((a, b) => a.timeNs - b.timeNs || Number(a.type === 'apply') - Number(b.type === 'apply'));

/** Applies and reverts as planned, in time order; those of triggers at their planned times. */
export function timeline(plan: Plan): Action[] {
  const actions = inOrder(plan.faults.flatMap((fault) => actionsOf(fault)));
  const endNs = actions.findLast((action) => action.type === 'revert')?.timeNs;
  for (const action of actions) action.last = action.type === 'revert' && action.timeNs === endNs;
  return actions;
}
