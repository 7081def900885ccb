/** True change: states, events, rates, gauges and silence, against the noise of the series itself. */
import { describe, expect, it } from '@jest/globals';
import { Prng } from '../../core/prng.js';
import { QUALITY, SeriesBuilder } from '../../model/telemetry/series.js';
import { changedAtNs } from './change.js';

const S = 1e9;
const changed = (
  metric: string,
  samples: readonly (readonly [number, number, number?])[],
  endS = 60,
): number | null => {
  const builder = new SeriesBuilder(metric, 'port:leaf-1/p1');
  for (const [timeS, value, quality] of samples) builder.push(timeS * S, value, quality);
  const atNs = changedAtNs(builder.build(), 20 * S, endS * S);
  return atNs === null ? null : atNs / S;
};
const seconds = (values: (timeS: number) => number, endS = 60) =>
  Array.from({ length: endS + 1 }, (_, timeS) => [timeS, values(timeS)] as const);

describe('a series', () => {
  it('of states changes at the first new value after the injection', () => {
    expect(
      changed('port_oper_status', [
        [0, 1],
        [20.01, 0],
        [40, 1],
      ]),
    ).toBe(20.01);
    expect(
      changed('port_oper_status', [
        [0, 1],
        [10, 0],
        [15, 1],
      ]),
    ).toBeNull();
    expect(
      changed('route_port_prefixes', [
        [0, 4],
        [20.2, 0],
      ]),
    ).toBe(20.2);
  });

  it('of events changes with the first event', () => {
    expect(
      changed(
        'port_link_down_events',
        seconds((t) => (t >= 23 ? 1 : 0)),
      ),
    ).toBe(23);
    expect(
      changed(
        'port_link_down_events',
        seconds(() => 7),
      ),
    ).toBeNull();
  });

  it('of bytes changes when the rate leaves its baseline or traffic stops', () => {
    expect(
      changed(
        'port_tx_bytes',
        seconds((t) => 100 * t + 50 * Math.max(0, t - 25)),
      ),
    ).toBe(26);
    expect(
      changed(
        'port_tx_bytes',
        seconds((t) => 100 * t + 5 * Math.max(0, t - 25)),
      ),
    ).toBeNull();
    // A rate that scatters by half: only a full stop stands out.
    const scattered = (t: number) => 100 * t + 50 * (t % 2);
    expect(changed('port_tx_bytes', seconds(scattered))).toBeNull();
    expect(
      changed(
        'port_tx_bytes',
        seconds((t) => scattered(Math.min(t, 30))),
      ),
    ).toBe(31);
  });

  it('of a gauge changes beyond its noise', () => {
    const light = (t: number) => -2 + 0.01 * Math.sin(t * 1.7);
    expect(changed('optic_rx_power_dbm', seconds(light))).toBeNull();
    expect(
      changed(
        'optic_rx_power_dbm',
        seconds((t) => (t < 22 ? light(t) : -40)),
      ),
    ).toBe(22);
  });

  it('changes when it falls silent, and N/A is silence too', () => {
    expect(
      changed(
        'port_tx_bytes',
        seconds((t) => 100 * t, 25),
      ),
    ).toBe(28);
    const notAvailable = seconds((t) => 100 * t).map(([t, value]) =>
      t > 25 ? ([t, NaN, QUALITY.notAvailable] as const) : ([t, value] as const),
    );
    expect(changed('port_tx_bytes', notAvailable)).toBe(28);
    const oneLost = seconds((t) => 100 * t).filter(([t]) => t !== 30 && t !== 45);
    expect(changed('port_tx_bytes', oneLost)).toBeNull();
  });

  it('of a log of rare events changes with the first of them', () => {
    const restarts = (second: readonly [number, number]) => changed('job_restarts', [[0, 0], second]);
    expect(restarts([27, 1])).toBe(27);
    expect(restarts([12, 1])).toBeNull();
  });

  it('that is not in the catalogue never counts', () => {
    expect(
      changed('made_up', [
        [0, 1],
        [30, 0],
      ]),
    ).toBeNull();
  });

  it('of noise alone does not change', () => {
    // Six deviations of uniform noise (0.58 of its reach) are more than its whole width, and 2 °C is less.
    for (let seed = 1; seed <= 200; seed++) {
      const random = new Prng(seed);
      const at = changed(
        'optic_temperature_c',
        seconds(() => 10 * (2 * random.uniform() - 1)),
      );
      expect({ seed, at }).toEqual({ seed, at: null });
    }
  });
});

/** A baseline of these values in turn, a poll a second up to the injection at 20 s, then one value. */
const after = (metric: string, baseline: readonly number[], value: number, element = 'port:leaf-1/p1') => {
  const builder = new SeriesBuilder(metric, element);
  for (let timeS = 1; timeS <= 20; timeS++) builder.push(timeS * S, baseline[timeS % baseline.length]);
  for (let timeS = 21; timeS <= 23; timeS++) builder.push(timeS * S, value);
  return changedAtNs(builder.build(), 20 * S, 23 * S) !== null;
};

describe('the limit of a change', () => {
  it.each([
    ['six deviations of the baseline', 'optic_temperature_c', [39, 41], 46, 46.1],
    ['a hundredth of a gauge that stands still', 'optic_bias_ma', [100], 101, 101.1],
    ['2 °C', 'optic_temperature_c', [40], 42, 42.1],
    ['half a dB', 'optic_rx_power_dbm', [-2], -2.5, -2.6],
    ['a bit error rate of 1e-8', 'port_fec_pre_ber', [1e-12], 1e-8, 1.1e-8],
  ])('is %s', (_, metric, baseline, within, beyond) => {
    expect([after(metric, baseline, within), after(metric, baseline, beyond)]).toEqual([false, true]);
  });

  it('is the same on the other side', () => {
    expect(after('optic_temperature_c', [39, 41], 34)).toBe(false);
    expect(after('optic_temperature_c', [39, 41], 33.9)).toBe(true);
  });

  it('is a tenth of the median for what a job logs at every step', () => {
    expect(after('job_step_time_s', [10], 11, 'job:llm')).toBe(false);
    expect(after('job_step_time_s', [10], 11.1, 'job:llm')).toBe(true);
    // one slow step before the fault moves no median
    expect(after('job_step_time_s', [...Array<number>(19).fill(10), 10.4], 12, 'job:llm')).toBe(true);
  });

  it('is not known before three values of a baseline', () => {
    const jump = (count: number) =>
      changed(
        'optic_temperature_c',
        [...Array.from({ length: count }, (_, at) => [21 - count + at, 40] as const), [21, 90]],
        22,
      );
    expect([jump(2), jump(3)]).toEqual([null, 21]);
  });
});

describe('a sample at the very instant of the injection', () => {
  it('is no outlier of the time before, however far it is off', () => {
    const often = Array.from({ length: 100 }, (_, at) => [at / 4, at / 4 === 20 ? 90 : 40] as const);
    expect(changed('optic_temperature_c', often, 24)).toBeNull();
  });

  it('belongs to the time before', () => {
    expect(changed('port_oper_status', [[20, 0]])).toBeNull();
    expect(
      changed('port_oper_status', [
        [0, 1],
        [20, 0],
        [30, 0],
      ]),
    ).toBeNull();
    expect(
      changed('job_restarts', [
        [0, 0],
        [20, 1],
        [21, 2],
      ]),
    ).toBeNull();
  });
});

it('a state that is first told after the injection has not changed since', () => {
  expect(
    changed('port_oper_status', [
      [25, 1],
      [30, 0],
    ]),
  ).toBeNull();
});

it('of several changes of a series the first counts', () => {
  const hot = seconds((t) => (t < 22 ? 40 : 90), 30);
  expect(changed('optic_temperature_c', hot)).toBe(22);
  expect(
    changed(
      'optic_temperature_c',
      hot.filter(([t]) => t <= 18 || t >= 25),
    ),
  ).toBe(21);
});

describe('silence', () => {
  const until = (lastS: number, endS: number) =>
    changed('optic_temperature_c', [...seconds(() => 40, lastS)], endS);

  it('is more than three poll intervals, up to the end of what was watched', () => {
    expect([until(25, 28), until(25, 28.1)]).toEqual([null, 28]);
  });

  it('that was over before the injection is none', () => {
    const gap = seconds(() => 40).filter(([t]) => t < 10 || t > 18);
    expect(changed('optic_temperature_c', gap)).toBeNull();
  });

  it('that began before the injection counts from its fourth interval', () => {
    const gap = seconds(() => 40).filter(([t]) => t <= 18 || t > 25);
    expect(changed('optic_temperature_c', gap)).toBe(21);
  });

  it('of a log says nothing', () => {
    expect(
      changed(
        'job_steps',
        [...seconds((t) => 10 * t, 25)].map(([t, value]) => [t, value] as const),
      ),
    ).toBeNull();
  });
});

describe('traffic', () => {
  it('that stops is no news where it paused before as well, nor are rare events that stop', () => {
    const paused = (t: number) => 100 * (t > 10 ? t - 1 : t) + 45 * (t % 2);
    expect(
      changed(
        'port_tx_bytes',
        seconds((t) => paused(Math.min(t, 30))),
      ),
    ).not.toBeNull();
    const bursts = (t: number) => 100 * Math.floor(t / 2);
    expect(
      changed(
        'port_tx_bytes',
        seconds((t) => bursts(Math.min(t, 30))),
      ),
    ).toBeNull();
    const drops = (t: number) => 100 * t + 50 * (t % 2);
    expect(
      changed(
        'queue_drop_packets',
        seconds((t) => drops(Math.min(t, 30))),
      ),
    ).toBeNull();
  });

  it('of a counter that starts again is none, not less than none', () => {
    const bursts = (t: number) => 100 * Math.floor(t / 2);
    expect(
      changed(
        'port_tx_bytes',
        seconds((t) => (t < 30 ? bursts(t) : bursts(t - 30))),
      ),
    ).toBeNull();
  });
});

it('what comes after the end of what was watched is not looked at', () => {
  expect(
    changed(
      'port_oper_status',
      [
        [0, 1],
        [50, 0],
      ],
      40,
    ),
  ).toBeNull();
});
