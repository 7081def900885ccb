/** What is still to be done: in time order, with triggers that move the times of their fault. */
import { describe, expect, it } from '@jest/globals';
import { Agenda, timeline } from './agenda.js';
import type { PlannedFault } from './plan/plan.js';
import { LINKS, planOfCuts } from './testing/fake-fabric.js';

const S = 1e9;

/** Each fault cuts one link, from one second to another; with `waitsS` it waits for a step from and until then. */
interface Cut {
  name: string;
  fromS: number;
  toS: number;
  waitsS?: readonly [number, number];
  number?: number;
}

function agendaOf(...cuts: Cut[]): Agenda {
  const plan = planOfCuts([{ link: LINKS[0], fromS: 1, toS: 2 }]);
  const faults = cuts.map(({ name, fromS, toS, waitsS, number }, at): PlannedFault => {
    const [fault] = planOfCuts([{ link: LINKS[at], fromS, toS }]).faults;
    if (waitsS === undefined) return { ...fault, name };
    const boundary = { job: 'llm', kind: 'step' as const, ...(number === undefined ? {} : { number }) };
    return { ...fault, name, trigger: { boundary, fromNs: waitsS[0] * S, untilNs: waitsS[1] * S } };
  });
  return new Agenda({ ...plan, faults });
}

/** All that is due by an instant, as `apply a`; the last revert with an exclamation mark. */
function dueBy(agenda: Agenda, timeS: number): string[] {
  const told: string[] = [];
  for (let one = agenda.due(timeS * S); one !== undefined; one = agenda.due(timeS * S))
    told.push(`${one.type} ${one.fault}${one.last ? '!' : ''}`);
  return told;
}

describe('what is due', () => {
  it('comes at its instant, not before, and once', () => {
    const agenda = agendaOf({ name: 'a', fromS: 2, toS: 4 });
    expect(dueBy(agenda, 1.999)).toEqual([]);
    expect(dueBy(agenda, 2)).toEqual(['apply a']);
    expect(dueBy(agenda, 3)).toEqual([]);
    expect(dueBy(agenda, 9)).toEqual(['revert a!']);
    expect(agenda.nextNs).toBeUndefined();
    expect(agenda.nextAfter(0)).toBeUndefined();
  });

  it('at one instant are reverts before applies, and every last revert of all is a last one', () => {
    const agenda = agendaOf({ name: 'a', fromS: 1, toS: 3 }, { name: 'b', fromS: 3, toS: 5 });
    expect(dueBy(agenda, 4)).toEqual(['apply a', 'revert a', 'apply b']);
    expect(dueBy(agenda, 5)).toEqual(['revert b!']);
    const both = agendaOf({ name: 'a', fromS: 1, toS: 5 }, { name: 'b', fromS: 3, toS: 5 });
    expect(dueBy(both, 9)).toEqual(['apply a', 'apply b', 'revert a!', 'revert b!']);
  });

  it('is no last revert while another fault is to come, later or with its trigger', () => {
    const later = agendaOf({ name: 'a', fromS: 1, toS: 2 }, { name: 'b', fromS: 3, toS: 4 });
    expect(dueBy(later, 9)).toEqual(['apply a', 'revert a', 'apply b', 'revert b!']);
    const longer = agendaOf({ name: 'a', fromS: 1, toS: 2 }, { name: 'b', fromS: 1, toS: 4 });
    expect(dueBy(longer, 9)).toEqual(['apply a', 'apply b', 'revert a', 'revert b!']);
    const waiting = agendaOf(
      { name: 'a', fromS: 1, toS: 2 },
      { name: 'b', fromS: 3, toS: 4, waitsS: [3, 9] },
    );
    expect(dueBy(waiting, 9)).toEqual(['apply a', 'revert a']);
  });
});

describe('a trigger', () => {
  const waiting = () =>
    agendaOf({ name: 'a', fromS: 6, toS: 8 }, { name: 'b', fromS: 2, toS: 3, waitsS: [2, 7], number: 4 });

  it('is watched for from its begin on, until it came', () => {
    const agenda = waiting();
    expect(agenda.awaited(1.9 * S)).toEqual([]);
    expect(agenda.awaited(2 * S)).toEqual([
      { fault: 'b', boundary: { job: 'llm', kind: 'step', number: 4 } },
    ]);
    agenda.release('b', 5 * S);
    expect(agenda.awaited(5 * S)).toEqual([]);
  });

  it('moves all times of its fault, in order with the others', () => {
    const agenda = waiting();
    expect(dueBy(agenda, 5)).toEqual([]);
    // planned for 2 s, it came at 5.5 s
    expect(agenda.release('b', 5.5 * S)).toBe(3.5 * S);
    expect(agenda.nextNs).toBe(5.5 * S);
    expect(dueBy(agenda, 6.4)).toEqual(['apply b', 'apply a']);
    expect(dueBy(agenda, 6.5)).toEqual(['revert b']);
    expect(dueBy(agenda, 9)).toEqual(['revert a!']);
    expect(() => agenda.release('b', 9 * S)).toThrow(/no trigger is waited for by b/);
  });

  it('is something to stop for when it begins, is over, or another fault is due', () => {
    const agenda = waiting();
    expect([agenda.nextNs, agenda.nextAfter(0), agenda.nextAfter(2 * S)]).toEqual([6 * S, 2 * S, 6 * S]);
    dueBy(agenda, 6);
    expect(agenda.nextNs).toBe(7 * S);
  });

  it('is missed at its end, which says what did not come and when', () => {
    expect(waiting().missed(6.9 * S)).toBeUndefined();
    expect(waiting().missed(7 * S)).toBe(
      'the trigger of the fault "b" did not come: llm began no step 4 between 2 s and 7 s',
    );
    const any = agendaOf({ name: 'b', fromS: 2, toS: 3, waitsS: [2, 7] });
    expect(any.missed(8 * S)).toMatch(/began no step between/);
  });
});

it('a timeline has triggers at their planned times', () => {
  const plan = planOfCuts([
    { link: LINKS[0], fromS: 1, toS: 3 },
    { link: LINKS[1], fromS: 3, toS: 4 },
  ]);
  expect(timeline(plan).map(({ type, timeNs, last }) => [type, timeNs / S, last])).toEqual([
    ['apply', 1, false],
    ['revert', 3, false],
    ['apply', 3, false],
    ['revert', 4, true],
  ]);
});
