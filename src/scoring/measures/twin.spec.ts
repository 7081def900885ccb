/** True differences from the twin: states by value, gauges and counters beyond a tolerance, silence. */
import { describe, expect, it } from '@jest/globals';
import { SeriesBuilder, type Series } from '../../model/telemetry/series.js';
import { differsFromTwin } from './twin.js';

const INJECTED = 20;
const END = 40;

type Samples = readonly (readonly [number, number])[];

function series(metric: string, samples: Samples): Series {
  const builder = new SeriesBuilder(metric, 'port:leaf-1/p1');
  for (const [at, value] of samples) builder.push(at, value);
  return builder.build();
}
const differs = (metric: string, own: Samples, twin: Samples): boolean =>
  differsFromTwin(series(metric, own), series(metric, twin), INJECTED, END);
const polls = (value: (at: number) => number, to = END): Samples =>
  Array.from({ length: to + 1 }, (_, at) => [at, value(at)] as const);

describe('a series', () => {
  it('does not differ from itself, from none, nor where its metric is not known', () => {
    for (const metric of ['port_tx_bytes', 'port_oper_status', 'optic_temperature_c'])
      expect(differs(metric, polls(Math.sqrt), polls(Math.sqrt))).toBe(false);
    expect(differsFromTwin(series('port_tx_bytes', polls(Math.sqrt)), undefined, INJECTED, END)).toBe(false);
    expect(differs('made_up', polls(Math.sqrt), polls(Math.cbrt))).toBe(false);
  });

  it('of states differs by any value, after the injection and before the end', () => {
    const down = (at: number): Samples => [
      [0, 1],
      [at, 0],
    ];
    const still: Samples = [[0, 1]];
    expect([10, 20, 21, 40, 41].map((at) => differs('port_oper_status', down(at), still))).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
    expect(
      differs(
        'port_oper_status',
        [
          [0, 1],
          [10, 0],
          [15, 1],
        ],
        still,
      ),
    ).toBe(false);
  });

  it('of states differs where the twin alone changes, and by when it changes', () => {
    const still: Samples = [[0, 4]];
    const fell = (at: number): Samples => [
      [0, 4],
      [at, 3],
    ];
    expect(differs('route_next_hops', still, fell(25))).toBe(true);
    expect(differs('route_next_hops', fell(25), fell(26))).toBe(true);
    expect(differs('route_next_hops', fell(25), fell(25))).toBe(false);
  });

  it('of gauges differs by more than a hundredth, and the least that means something', () => {
    const gauge = (metric: string, own: number, twin: number) =>
      differs(
        metric,
        polls((at) => (at > INJECTED ? own : twin)),
        polls(() => twin),
      );
    expect([gauge('optic_bias_ma', 101, 100), gauge('optic_bias_ma', 101.1, 100)]).toEqual([false, true]);
    expect([gauge('optic_bias_ma', 99, 100), gauge('optic_bias_ma', 98.9, 100)]).toEqual([false, true]);
    expect([gauge('optic_temperature_c', 42, 40), gauge('optic_temperature_c', 42.1, 40)]).toEqual([
      false,
      true,
    ]);
    expect([gauge('job_step_time_s', 101, 100), gauge('job_step_time_s', 101.1, 100)]).toEqual([false, true]);
  });

  it('of counters differs by more than a tenth of what it gained since the injection', () => {
    const rate = (after: number, base = 0) =>
      polls((at) => base + 1000 * at + (at > INJECTED ? (after - 1000) * (at - INJECTED) : 0));
    expect(differs('port_tx_bytes', rate(1100), rate(1000))).toBe(false);
    expect(differs('port_tx_bytes', rate(1101), rate(1000))).toBe(true);
    expect(differs('port_tx_bytes', rate(899), rate(1000))).toBe(true);
    // what it had before does not count, on either side
    expect(differs('port_tx_bytes', rate(1101, 1e6), rate(1000, 1e6))).toBe(true);
    expect(differs('port_tx_bytes', rate(1000, 1e6), rate(1000))).toBe(false);
  });

  it('of rare events differs by the first of them', () => {
    expect(
      differs(
        'job_restarts',
        [
          [0, 0],
          [30, 1],
        ],
        [[0, 0]],
      ),
    ).toBe(true);
  });

  it('of polls differs when it tells three samples less, one of a log does not', () => {
    const lost = (count: number) => polls(() => 40).filter(([at]) => at <= 25 || at > 25 + count);
    const calm = polls(() => 40);
    expect([lost(2), lost(3)].map((own) => differs('optic_temperature_c', own, calm))).toEqual([false, true]);
    // before the injection and after the end nobody counts
    const early = polls(() => 40).filter(([at]) => at < 10 || at > 20);
    expect(differs('optic_temperature_c', early, calm)).toBe(false);
    expect(
      differs(
        'optic_temperature_c',
        calm,
        polls(() => 40, END + 9),
      ),
    ).toBe(false);
    expect(
      differs(
        'job_step_time_s',
        [[0, 1]],
        polls(() => 1),
      ),
    ).toBe(false);
    // who tells more has not fallen silent
    expect(differs('optic_temperature_c', calm, lost(3))).toBe(false);
  });

  it('is not compared before both have said something', () => {
    expect(
      differs(
        'optic_bias_ma',
        polls(() => 8),
        [[30, 8]],
      ),
    ).toBe(false);
    expect(
      differs(
        'optic_bias_ma',
        polls(() => 9),
        [[30, 8]],
      ),
    ).toBe(true);
  });
});
