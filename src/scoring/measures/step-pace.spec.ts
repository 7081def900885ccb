/**
 * The pace of jobs that write checkpoints, restart and end.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EvidenceIndex, SeriesBuilder } from '../../model/telemetry/series.js';
import { smallTopology } from '../../model/workload/testing/small-topology.js';
import { buildJobs } from '../../model/workload/build-jobs.js';
import { jobSchema } from '../../model/workload/job-schema.js';
import { backAtNs, holdNs, jobPace, lostNs, meanPace, type JobPace } from './step-pace.js';

const topology = smallTopology({ hosts: 2 });
const [job] = buildJobs(
  [
    jobSchema.parse({
      name: 'llm',
      gpus: 2,
      step: { compute: '1s', collectives: [{ collective: 'all-reduce', bytes: '1GB' }] },
    }),
  ],
  topology,
);

const S = 1e9;
const INJECTED_S = 10;

/** `[seconds, value]` by metric of the job. */
type Log = Record<string, readonly (readonly [number, number])[]>;

function paceOf(log: Log, endS: number): JobPace {
  const series = Object.entries({ job_state: [[0, 1]] as const, ...log }).map(([metric, samples]) => {
    const builder = new SeriesBuilder(metric, 'job:llm');
    for (const [s, value] of samples) builder.push(s * S, value);
    return builder.build();
  });
  const index = new EvidenceIndex({ fromNs: 0, toNs: endS * S, series });
  return jobPace(index, job, INJECTED_S * S, endS * S)!;
}

/** Steps of one second from one instant on, the counter at that instant given. */
const steps = (fromS: number, from: number, count: number): [number, number][] =>
  Array.from({ length: count + 1 }, (_, index) => [fromS + index, from + index]);
const lostS = (pace: JobPace, endS: number): number => lostNs(pace, INJECTED_S * S, endS * S) / S;

describe('checkpoints', () => {
  /** A checkpoint of so many seconds after every fifth step. */
  const writing = (lengths: readonly number[]): { log: Log; endS: number } => {
    const log = {
      job_steps: [[0, 0]] as [number, number][],
      job_checkpoint_time_s: [] as [number, number][],
    };
    let nowS = 0;
    let done = 0;
    for (const length of lengths) {
      for (let step = 0; step < 5; step++) log.job_steps.push([++nowS, ++done]);
      nowS += length;
      log.job_checkpoint_time_s.push([nowS, length]);
    }
    return { log, endS: nowS };
  };

  it('of the usual length are neither noise nor loss', () => {
    const { log, endS } = writing([1, 1, 1, 1]);
    const pace = paceOf(log, endS);
    expect(pace.noise).toBe(0);
    expect(pace.stepNs).toBe(S);
    expect(lostS(pace, endS)).toBeCloseTo(0, 9);
    expect(backAtNs(pace, INJECTED_S * S)).toBe(INJECTED_S * S);
  });

  it('are as usual up to the longest before the fault', () => {
    const ends = [0, 1, 2, 4, 7, 8, 9, 10, 13, 17, 18];
    const log: Log = {
      job_steps: ends.map((s, done) => [s, done]),
      // of 1 and 2 seconds before it, of 2 and 3 after it
      job_checkpoint_time_s: [
        [3, 1],
        [6, 2],
        [12, 2],
        [16, 3],
      ],
    };
    expect(lostS(paceOf(log, 18), 18)).toBeCloseTo(1, 9);
  });

  it('lose what they take beyond it', () => {
    const { log, endS } = writing([1, 1, 3, 1]);
    expect(lostS(paceOf(log, endS), endS)).toBeCloseTo(2, 9);
  });
});

describe('a restart', () => {
  it('from a checkpoint written for it loses the time without a step, and no step', () => {
    const log: Log = {
      job_steps: [...steps(0, 0, 12), [19, 12], ...steps(20, 13, 10)],
      job_restarts: [
        [0, 0],
        [19, 1],
      ],
      job_state: [
        [0, 1],
        [14, 2],
        [19, 1],
      ],
    };
    const pace = paceOf(log, 30);
    expect(pace.redoneSteps).toBe(0);
    expect(lostS(pace, 30)).toBeCloseTo(7, 9);
    expect(backAtNs(pace, 13 * S)).toBe(19 * S);
  });

  it('from an older checkpoint loses the steps since then as well', () => {
    const log: Log = { job_steps: [...steps(0, 0, 12), [19, 10], ...steps(20, 11, 10)] };
    const pace = paceOf(log, 30);
    expect(pace.redoneSteps).toBe(2);
    expect(lostS(pace, 30)).toBeCloseTo(7, 9);
  });

  it('that has not come by the end loses everything up to it', () => {
    const log: Log = {
      job_steps: steps(0, 0, 12),
      job_state: [
        [0, 1],
        [14, 2],
      ],
    };
    const pace = paceOf(log, 30);
    expect(lostS(pace, 30)).toBeCloseTo(18, 9);
    expect(backAtNs(pace, 12.5 * S)).toBeNull();
  });

  it('never loses less than nothing, nor more than the time there was', () => {
    const gap = fc.tuple(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 0, max: 12 }),
      fc.integer({ min: 0, max: 30 }),
    );
    fc.assert(
      fc.property(gap, ([pauseS, back, after]) => {
        const resumedS = 12 + pauseS;
        const log: Log = {
          job_steps: [...steps(0, 0, 12), ...steps(resumedS, 12 - back, after)],
          job_restarts: [
            [0, 0],
            [resumedS, 1],
          ],
        };
        const endS = resumedS + after + 0.5;
        const pace = paceOf(log, endS);
        expect(pace.redoneSteps).toBe(back);
        expect(lostS(pace, endS)).toBeGreaterThanOrEqual(pauseS - 1e-6);
        expect(lostS(pace, endS)).toBeLessThanOrEqual(endS - INJECTED_S);
      }),
    );
  });
});

it('a job that is complete loses nothing after its end, and counts as back', () => {
  const log: Log = {
    job_steps: steps(0, 0, 15),
    job_state: [
      [0, 1],
      [15, 3],
    ],
  };
  const pace = paceOf(log, 60);
  expect(lostS(pace, 60)).toBe(0);
  expect(backAtNs(pace, 14.5 * S)).toBe(14.5 * S);
});

it('a counter that is read twice in a step says no more than one read once', () => {
  const polled: Log = { job_steps: [...steps(0, 0, 12), [12.5, 12], ...steps(13, 13, 5)] };
  expect(lostS(paceOf(polled, 18), 18)).toBeCloseTo(0, 9);
});

describe('pace', () => {
  it('is not known from fewer than three steps before the fault', () => {
    const known = (before: number) =>
      paceOf({ job_steps: [[INJECTED_S - before, 0], ...steps(INJECTED_S - before + 1, 1, 20)] }, 30) !==
      null;
    expect([known(2), known(3)]).toEqual([false, true]);
  });

  it('of a poll that was lost is that of all the steps in it', () => {
    const pace = paceOf({ job_steps: [...steps(0, 0, 4), [7, 7], ...steps(8, 8, 12)] }, 20);
    expect([pace.stepNs, pace.noise]).toEqual([S, 0]);
    expect(lostS(pace, 20)).toBeCloseTo(0, 9);
  });

  it('between steps is the usual time over the time that one took, never more than one', () => {
    const q = (tookS: number) =>
      paceOf({ job_steps: [...steps(0, 0, 10), [10 + tookS, 11]] }, 10 + tookS).intervals.at(-1)!.q;
    expect([q(0.5), q(1), q(2), q(4)]).toEqual([1, 1, 0.5, 0.25]);
  });

  it('of a step that is not finished is at most what it would be if it ended now', () => {
    const open = (endS: number) => {
      const { q, censored, toNs } = paceOf({ job_steps: steps(0, 0, 12) }, endS).intervals.at(-1)!;
      return { q, censored, toS: toNs / S };
    };
    expect(open(12.5)).toEqual({ q: 1, censored: true, toS: 12.5 });
    expect(open(16)).toEqual({ q: 0.25, censored: true, toS: 16 });
    expect(open(12)).toMatchObject({ censored: false, toS: 12 });
  });

  it('scatters by the deviation of its steps before the fault alone', () => {
    const log: Log = { job_steps: [[0, 0], [1, 1], [2, 2], [3.25, 3], [4, 4], ...steps(11, 5, 3)] };
    const of = [1, 1, 1 / 1.25, 1 / 0.75];
    const mean = of.reduce((sum, one) => sum + one) / 4;
    const deviation = Math.sqrt(of.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 4);
    expect(paceOf(log, 14).noise).toBeCloseTo(deviation, 9);
  });
});

describe('a job is back', () => {
  /** Steps of so many seconds from the injection on, in turn. */
  const backS = (tookS: readonly number[], endS?: number) => {
    let nowS = INJECTED_S;
    const log: Log = {
      job_steps: [
        ...steps(0, 0, 10),
        ...tookS.map((took, at) => [(nowS += took), 11 + at] as [number, number]),
      ],
    };
    const at = backAtNs(paceOf(log, endS ?? nowS), INJECTED_S * S);
    return at === null ? null : at / S - INJECTED_S;
  };

  it('once it has held 95 % of its pace for two of its steps', () => {
    expect(backS([3, 1, 1])).toBe(3);
    expect(backS([3, 1])).toBeNull();
    expect(backS([3, 1], 16)).toBeNull();
    expect(backS([1 / 0.951, 1 / 0.951])).toBe(0);
    expect(backS([1 / 0.949, 1 / 0.949])).toBeNull();
  });

  it('not where one of these steps is slow again', () => {
    expect(backS([1, 3, 1, 1])).toBe(4);
  });

  it('as far as its steps scattered before, each of them more than their mean', () => {
    const pace = (qs: readonly number[], noise: number): JobPace => ({
      ...{ job: 'llm', gpus: 2, stepNs: S, noise, redoneSteps: 0 },
      intervals: qs.map((q, at) => ({ fromNs: at * S, toNs: (at + 1) * S, q, censored: false })),
    });
    const back = (qs: readonly number[], noise: number) => backAtNs(pace(qs, noise), 0) !== null;
    // three deviations: 0.15 for one step, 0.106 for the mean of two
    expect([back([0.86, 0.93], 0.05), back([0.84, 1], 0.05), back([0.88, 0.88], 0.05)]).toEqual([
      true,
      false,
      false,
    ]);
    // a baseline that scattered by more than a tenth excuses no more than one that did by a tenth
    expect([back([0.71, 0.9], 0.5), back([0.69, 1], 0.5)]).toEqual([true, false]);
  });

  it('from the instant that is asked for, in the middle of a step as well', () => {
    const pace = paceOf({ job_steps: steps(0, 0, 20) }, 20);
    expect(backAtNs(pace, 12.5 * S)).toBe(12.5 * S);
    expect(backAtNs(pace, 18.5 * S)).toBeNull();
    expect(holdNs(pace)).toBe(2 * S);
    expect(holdNs({ ...pace, stepNs: 5 * S })).toBe(10 * S);
  });
});

it('time lost is counted between two instants, in parts of steps as well', () => {
  const pace = paceOf({ job_steps: [...steps(0, 0, 10), [14, 11], ...steps(15, 12, 5)] }, 20);
  expect(lostNs(pace, 11 * S, 13 * S) / S).toBeCloseTo(1.5, 9);
  expect(lostNs(pace, 0, 20 * S) / S).toBeCloseTo(3, 9);
  expect(lostNs(pace, 14 * S, 20 * S)).toBe(0);
  expect(meanPace(pace, 10 * S, 20 * S)).toBeCloseTo(0.7, 9);
});

it('a job that failed makes no pace any more', () => {
  const log: Log = {
    job_steps: steps(0, 0, 12),
    job_state: [
      [0, 1],
      [13, 0],
    ],
  };
  expect(paceOf(log, 30).intervals.at(-1)).toEqual({ fromNs: 12 * S, toNs: 30 * S, q: 0, censored: false });
});
