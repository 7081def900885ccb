/**
 * The pace of jobs that write checkpoints, restart and end.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EvidenceIndex, SeriesBuilder } from '../../model/telemetry/series.js';
import { smallTopology } from '../../model/workload/testing/small-topology.js';
import { buildJobs } from '../../model/workload/build-jobs.js';
import { jobSchema } from '../../model/workload/job-schema.js';
import { backAtNs, jobPace, lostNs, type JobPace } from './step-pace.js';

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
