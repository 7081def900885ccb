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
