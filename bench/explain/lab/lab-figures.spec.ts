import { describe, expect, it } from '@jest/globals';
import { SeriesBuilder, type Evidence } from '../../../src/model/telemetry/series.js';
import type { DropCount } from './drop-count.js';
import type { LabResult } from './lab-drill.js';
import { figuresOf } from './lab-figures.js';

const S = 1e9;
const END_S = 12;
const PORTS = ['port:leaf-1/p5', 'port:spine-1/p1'];

type Samples = readonly (readonly [seconds: number, value: number])[];

/** A link that was down from 3 s to 7 s, as far as the series of its ports tell. */
function drill(series: Readonly<Record<string, Samples>>): LabResult {
  const evidence: Evidence = {
    fromNs: 0,
    toNs: END_S * S,
    series: Object.entries(series).map(([name, samples]) => {
      const builder = new SeriesBuilder(...(name.split(' ') as [string, string]));
      for (const [seconds, value] of samples) builder.push(seconds * S, value);
      return builder.build();
    }),
  };
  const elements = PORTS.map((id) => ({ type: 'port', id }));
  const record = { injectedNs: 3 * S, revertedNs: 7 * S };
  return { evidence, record, run: { truth: [{ elements }] } } as unknown as LabResult;
}

const figure = (name: string, measure: string, result: LabResult): number | null =>
  figuresOf(name)
    .find((one) => one.measure === measure)!
    .of(result);

const routes = (port: string, ...samples: Samples): Record<string, Samples> => ({
  [`route_port_prefixes ${port}`]: samples,
});

describe('figures of drills on a lab', () => {
  it('count from the injection until the last port has no route, and from the undo until the last has all', () => {
    const result = drill({
      ...routes(PORTS[0], [0, 4], [3.02, 0], [8.5, 2], [9, 4]),
      ...routes(PORTS[1], [0, 4], [3.05, 0], [8.4, 4]),
    });
    expect(figure('lab-link-down', 'routes_left_s', result)).toBeCloseTo(0.05, 9);
    expect(figure('lab-link-down', 'ecmp_back_s', result)).toBeCloseTo(2, 9);
  });

  it('say that paths never came back, where one port has fewer to the end', () => {
    const result = drill(routes(PORTS[0], [0, 4], [3.02, 0], [9, 3]));
    expect(figure('lab-link-down', 'ecmp_back_s', result)).toBe(Infinity);
  });

  it('take the first session that fails at either end', () => {
    const result = drill({
      [`bfd_session_status ${PORTS[0]}`]: [
        [0, 1],
        [3.5, 0],
      ],
      [`bfd_session_status ${PORTS[1]}`]: [
        [0, 1],
        [3.3, 0],
      ],
    });
    expect(figure('lab-blackhole', 'bfd_detected_s', result)).toBeCloseTo(0.3, 9);
  });

  it('give the longest silence no lower than what can be seen', () => {
    const still = drill({
      'edge_stalled_s edge:exposed/0-1': [
        [2.9, 0],
        [3.4, 0],
        [6.9, 0],
      ],
    });
    const stalled = drill({
      'edge_stalled_s edge:exposed/0-1': [
        [2.9, 0],
        [3.4, 0.2],
        [6.9, 0.3],
      ],
    });
    expect(figure('lab-link-down', 'longest_flow_gap_s', still)).toBeCloseTo(0.25, 9);
    expect(figure('lab-link-down', 'longest_flow_gap_s', stalled)).toBeCloseTo(0.55, 9);
  });

  it('hold what was dropped against its probability, in standard deviations of a binomial count', () => {
    const dropping = (drops: DropCount): LabResult => ({ ...drill({}), drops });
    const off = (drops: DropCount): number | null =>
      figure('lab-optic-error', 'drop_ratio_off_by', dropping(drops));
    // √(10 000 × 0.1 × 0.9) = 30
    expect(off({ seen: 10_000, dropped: 1000, probability: 0.1 })).toBe(0);
    expect(off({ seen: 10_000, dropped: 1090, probability: 0.1 })).toBeCloseTo(3, 9);
    expect(off({ seen: 10_000, dropped: 880, probability: 0.1 })).toBeCloseTo(4, 9);
    expect(off({ seen: 0, dropped: 0, probability: 0.1 })).toBeNull();
  });

  it('are not known from evidence that does not tell', () => {
    const nothing = drill({});
    for (const name of [
      'lab-link-down',
      'lab-optic-error',
      'lab-blackhole',
      'lab-blackhole-no-bfd',
      'lab-job-migration',
    ]) {
      for (const { of } of figuresOf(name)) expect(of(nothing)).toBeNull();
    }
  });
});
