import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { QUALITY, SeriesBuilder, type Evidence } from './series.js';
import { windowOf } from './window.js';

function series(metric: string, element: string, points: readonly (readonly [number, number])[]) {
  const builder = new SeriesBuilder(metric, element);
  for (const [timeNs, value] of points) builder.push(timeNs, value);
  return builder.build();
}

const recorded: Evidence = {
  fromNs: 0,
  toNs: 100,
  series: [
    series('port_tx_bytes', 'port:leaf-1/p1', [
      [0, 0],
      [50, 5],
      [100, 9],
    ]),
    series('port_oper_status', 'port:leaf-1/p1', [
      [0, 1],
      [20, 0],
    ]),
    series('job_steps', 'job:a', [
      [0, 0],
      [30, 1],
      [70, 2],
    ]),
  ],
};

const points = (evidence: Evidence, at: number): number[][] => {
  const { timesNs, values, quality } = evidence.series[at];
  return [...timesNs].map((time, index) => [time, values[index], quality[index]]);
};

describe('a window of evidence', () => {
  it('keeps the polls that fall into it, ends included', () => {
    expect(points(windowOf(recorded, 50, 100), 0)).toEqual([
      [50, 5, QUALITY.fresh],
      [100, 9, QUALITY.fresh],
    ]);
  });

  it('says at its start which state a link is in: a link that went down before is down', () => {
    expect(points(windowOf(recorded, 60, 100), 1)).toEqual([[60, 0, QUALITY.fresh]]);
  });

  it('makes no step end at its start', () => {
    expect(points(windowOf(recorded, 60, 100), 2)).toEqual([
      [60, 1, QUALITY.repeated],
      [70, 2, QUALITY.fresh],
    ]);
  });

  it('does not carry what is told at its very start anyway', () => {
    expect(points(windowOf(recorded, 20, 100), 1)).toEqual([[20, 0, QUALITY.fresh]]);
  });

  it('is the evidence itself where it covers all, and never longer than what was recorded', () => {
    expect(windowOf(recorded, 0, 100)).toBe(recorded);
    expect(windowOf(recorded, 10, 900)).toMatchObject({ fromNs: 10, toNs: 100 });
  });

  it('of a window is the smaller window', () => {
    fc.assert(
      fc.property(fc.tuple(fc.nat(100), fc.nat(100), fc.nat(100), fc.nat(100)), (instants) => {
        const [a, b, c, d] = [...instants].sort((one, other) => one - other);
        expect(windowOf(windowOf(recorded, a, d), b, c)).toEqual(windowOf(recorded, b, c));
      }),
    );
  });
});
