/**
 * What is read from a column is what was polled, bit for bit, however little of it is stored.
 */
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { QUALITY } from '../series.js';
import { ABSENT, PollColumn } from './poll-column.js';
import { PollClock } from './poll-clock.js';
import { PolledSeries, RecentReads } from './polled-series.js';

const SIZE = 5;
const indices = Int32Array.from({ length: SIZE }, (_, element) => element);

/** A sample as an outsider keeps it: when, what, how good. */
type Kept = [timeNs: number, value: number, quality: number];

interface Polled {
  value: number;
  code: number;
}

/** Polls a column round by round, and writes the same samples into plain lists. */
function record(rounds: readonly (readonly Polled[])[]): { column: PollColumn; kept: Kept[][] } {
  const column = new PollColumn(new PollClock(10, 3), indices);
  const kept = Array.from({ length: SIZE }, (): Kept[] => []);
  for (const row of rounds) {
    const timeNs = column.clock.timeNs(column.clock.rounds++);
    column.begin();
    column.fill(0, SIZE, indices, (element) => row[element].value);
    row.forEach(({ value, code }, element) => {
      const given = Number.isNaN(value) ? QUALITY.notAvailable : code;
      const before = kept[element].findLast(([, , quality]) => quality !== QUALITY.notAvailable)?.[1] ?? NaN;
      if (given !== QUALITY.fresh) column.mark(element, given);
      if (given === QUALITY.repeated) kept[element].push([timeNs, before, given]);
      else if (given === QUALITY.notAvailable) kept[element].push([timeNs, NaN, given]);
      else if (given !== ABSENT) kept[element].push([timeNs, value, given]);
    });
  }
  return { column, kept };
}

function read(column: PollColumn, element: number, fromNs: number, toNs: number): Kept[] {
  const range = column.clock.within(fromNs, toNs);
  const series = new PolledSeries('m', 'e', column, element, range, new RecentReads(2));
  const { timesNs, values, quality } = series;
  return [...timesNs].map((timeNs, at) => [timeNs, values[at], quality[at]]);
}

const sample = fc.record({
  value: fc.constantFrom(0, -0, 1, 2, 2 ** 53, 0.1, NaN),
  code: fc.constantFrom<number>(
    ...[QUALITY.fresh, QUALITY.fresh, QUALITY.fresh],
    ...[QUALITY.repeated, QUALITY.notAvailable, ABSENT],
  ),
});
const anyRounds = fc.array(fc.array(sample, { minLength: SIZE, maxLength: SIZE }), { maxLength: 70 });

describe('a poll column', () => {
  it('gives back every sample of every window, gaps and N/A answers included', () => {
    fc.assert(
      fc.property(anyRounds, fc.nat(800), fc.nat(800), (rounds, one, other) => {
        const [fromNs, toNs] = one < other ? [one, other] : [other, one];
        const { column, kept } = record(rounds);
        for (let element = 0; element < SIZE; element++) {
          const within = kept[element].filter(([timeNs]) => timeNs >= fromNs && timeNs <= toNs);
          expect(read(column, element, fromNs, toNs)).toEqual(within);
        }
      }),
    );
  });

  it('gives back the same from a view taken before later rounds were polled', () => {
    const row = (round: number): Polled[] =>
      [...indices].map((element) => ({ value: round * element, code: 0 }));
    const { column } = record(Array.from({ length: 20 }, (_, round) => row(round)));
    const range = column.clock.within(0, 203);
    const series = new PolledSeries('m', 'e', column, 2, range, new RecentReads(1));
    for (let round = 20; round < 60; round++) {
      column.clock.rounds++;
      column.begin();
      column.fill(0, SIZE, indices, (element) => row(round)[element].value);
    }
    expect([...series.values]).toEqual(Array.from({ length: 20 }, (_, round) => 2 * round));
  });

  it('draws for what was answered only, and repeats nothing before the first answer', () => {
    const column = new PollColumn(new PollClock(1, 0), indices);
    const asked: number[] = [];
    for (let round = 0; round < 2; round++) {
      column.clock.rounds++;
      column.begin();
      column.fill(0, SIZE, indices, (element) => (element === 1 ? NaN : 10 * round + element));
      column.skip(2, 3);
      column.disturb(round, (series) => {
        asked.push(series);
        return QUALITY.repeated;
      });
    }
    expect(asked).toEqual([0, 3, 4, 0, 3, 4]);
    expect(read(column, 0, 0, 1)).toEqual([
      [0, 0, QUALITY.fresh],
      [1, 0, QUALITY.repeated],
    ]);
    expect(read(column, 1, 0, 1).map(([, , quality]) => quality)).toEqual([2, 2]);
    expect(read(column, 2, 0, 1)).toEqual([]);
  });
});

describe('the question whether an element ever changed', () => {
  it('is answered by what was polled so far, whenever it is asked', () => {
    const rows = fc.array(fc.array(fc.constantFrom(0, -0, 1), { minLength: SIZE, maxLength: SIZE }), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(rows, fc.nat(3), (polled, every) => {
        const column = new PollColumn(new PollClock(10, 3), indices);
        polled.forEach((row, round) => {
          column.begin();
          column.fill(0, SIZE, indices, (element) => row[element]);
          if (round % (every + 1) !== 0) return;
          indices.forEach((element) => {
            const same = polled
              .slice(0, round + 1)
              .every((one) => Object.is(one[element], polled[0][element]));
            expect(column.isConstant(element)).toBe(same);
          });
        });
      }),
    );
  });
});

describe('a view of a polled series', () => {
  it('reads again what it had to forget', () => {
    const { column } = record([[...indices].map((element) => ({ value: element, code: 0 }))]);
    const reads = new RecentReads(1);
    const range = column.clock.within(0, 3);
    const [a, b] = [1, 4].map((element) => new PolledSeries('m', 'e', column, element, range, reads));
    const read = jest.spyOn(column, 'readValues');
    expect([...a.values, ...a.values]).toEqual([1, 1]);
    expect(read).toHaveBeenCalledTimes(1);
    expect([...b.values, ...a.values]).toEqual([4, 1]);
    expect(read).toHaveBeenCalledTimes(3);
  });

  it('shares its values with elements of equal course, and knows what never changes', () => {
    const { column } = record(
      Array.from({ length: 40 }, (_, round) =>
        [round, round, 7, -0, 0].map((value) => ({ value, code: QUALITY.fresh })),
      ),
    );
    const range = column.clock.within(0, 1000);
    const series = [...indices].map(
      (element) => new PolledSeries('m', 'e', column, element, range, new RecentReads(9)),
    );
    expect(series.map(({ constant }) => constant)).toEqual([false, false, true, true, true]);
    expect(series[0].values).toBe(series[1].values);
    expect([series[3].values[9], series[4].values[9]]).toEqual([-0, 0]);
    expect(series.every(({ regular }) => regular)).toBe(true);
  });
});
