import { describe, expect, test } from '@jest/globals';
import type { Evidence, Series } from '../../src/model/telemetry/series.js';
import { countsAsCase, impactOf } from './impact.js';
import type { CaseRun } from './run-case.js';

const series = (metric: string, element: string, timesS: number[], values: number[]): Series => ({
  ...{ metric, element, values: Float64Array.from(values), quality: new Uint8Array(values.length) },
  timesNs: Float64Array.from(timesS, (time) => time * 1e9),
});
const evidence = (...all: Series[]): Evidence => ({ fromNs: 0, toNs: 30e9, series: all });
/** A step log: the n-th time is the end of step n. */
const steps = (...endsS: number[]): Series =>
  series('job_steps', 'job:a', [0, ...endsS], [0, ...endsS.map((_, index) => index + 1)]);
const seconds = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** One job with steps of a second, a fault from 10 s to 20 s. */
const run = (raw: Evidence): CaseRun =>
  ({
    jobs: [{ name: 'a' }],
    raw,
    twin: evidence(steps(...seconds(1, 30))),
    alone: [],
    ...{ injectedNs: 10e9, liftedNs: 20e9 },
  }) as unknown as CaseRun;

const counts = (raw: Evidence): boolean => countsAsCase(run(raw), impactOf(run(raw)));

describe('the impact of a fault', () => {
  test('is the delay of steps against the twin, over the hold', () => {
    const late = [...seconds(1, 10), ...seconds(11, 28).map((end) => end + 0.5)];
    const impact = impactOf(run(evidence(steps(...late))));
    expect(impact.stepChange).toBeCloseTo(0.05);
    expect(impact.firstImpactNs).toBe(10e9);
    expect(counts(evidence(steps(...late)))).toBe(true);
  });

  test('counts a job that ends no more steps up to the end of what was seen', () => {
    expect(impactOf(run(evidence(steps(...seconds(1, 12))))).stepChange).toBeCloseTo(1.7);
  });

  test('counts a step that had to be done again when it is done for the last time', () => {
    const log = series(
      'job_steps',
      'job:a',
      [...seconds(0, 12), 15, 16, 17],
      [...seconds(0, 12), 10, 11, 12],
    );
    expect(impactOf(run(evidence(log))).stepChange).toBeGreaterThanOrEqual(0.5);
  });

  test('drops what changes steps by less than a fiftieth and stalls nothing', () => {
    const hardly = seconds(1, 30).map((end) => (end > 10 ? end + 0.1 : end));
    expect(counts(evidence(steps(...hardly)))).toBe(false);
    const stall = series('edge_stalled_s', 'edge:a/0-1', [1, 9, 11], [0, 0, 0.2]);
    expect(counts(evidence(steps(...hardly), stall))).toBe(true);
  });

  test('of two faults asks that each would be felt by itself', () => {
    const both = run(evidence(steps(...seconds(1, 12))));
    const alone = (ends: number[]) => ({
      raw: evidence(steps(...ends)),
      ...{ injectedNs: 10e9, liftedNs: 20e9 },
    });
    const felt = alone(seconds(1, 12));
    const unfelt = alone(seconds(1, 30));
    expect(countsAsCase({ ...both, alone: [felt, felt] }, impactOf(both))).toBe(true);
    expect(countsAsCase({ ...both, alone: [felt, unfelt] }, impactOf(both))).toBe(false);
  });

  test.each([
    ['a port goes down', series('port_oper_status', 'port:x', [0, 11], [1, 0]), false],
    ['a port was down before', series('port_oper_status', 'port:x', [0, 8], [1, 0]), true],
    ['damaged packets are counted', series('port_rx_errors', 'port:x', [9, 11], [3, 4]), false],
    ['an error counter stands still', series('port_rx_errors', 'port:x', [9, 11], [3, 3]), true],
    ['light fades by 3 dB', series('optic_rx_power_dbm', 'port:x', [9, 11], [-1, -4]), false],
    ['a sensor is noisy', series('optic_rx_power_dbm', 'port:x', [9, 11], [-1, -1.02]), true],
    ['bits go wrong as never before', series('port_fec_pre_ber', 'port:x', [9, 11], [1e-11, 1e-4]), false],
    ['a few bits go wrong as always', series('port_fec_pre_ber', 'port:x', [9, 11], [0, 1e-11]), true],
    ['senders try again', series('nic_adaptive_retransmissions', 'nic:x', [9, 11], [0, 9]), true],
    ['a queue is full', series('queue_depth_max_bytes', 'queue:x/3', [9, 11], [0, 9e6]), true],
  ])('is silent or not: %s', (_, one, silent) => {
    expect(impactOf(run(evidence(steps(...seconds(1, 30)), one))).silent).toBe(silent);
  });
});
