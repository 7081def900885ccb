/** What is no reading of its metric never reaches a feature, and the reader is told. */
import { describe, expect, it } from '@jest/globals';
import { SeriesBuilder } from '../../model/telemetry/series.js';
import type { Series } from '../../model/telemetry/series.js';
import { Admission } from './admission.js';

function seriesOf(metric: string, values: readonly number[], element = 'port:leaf-1/p1'): Series {
  const builder = new SeriesBuilder(metric, element);
  values.forEach((value, second) => builder.push(second * 1e9, value));
  return builder.build();
}

function admitted(...series: Series[]) {
  const admission = new Admission({ fromNs: 0, toNs: 60e9, series });
  return { values: series.map((one) => [...admission.admit(one).values]), notes: admission.notes() };
}

describe('a value outside the domain of its metric', () => {
  it.each([
    ['a negative speed', 'port_rate_gbps', [400, -1, 400]],
    ['all ones', 'port_rate_gbps', [400, 4294967.295, 400]],
    ["DCGM's blank of 32 bits", 'nic_pcie_read_stalled_ratio', [0.1, 0x7ffffff0, 0.1]],
    ["DCGM's blank of 64 bits", 'port_rx_errors', [3, 2 ** 63, 3]],
    ["DCGM's blank in floating point", 'optic_temperature_c', [40, 140737488355330, 40]],
    [
      'a counter that is whole no more',
      'port_rx_bytes',
      [9e15, 9.1e15, 9.2e15].map((one, at) => (at === 1 ? one : 9e15)),
    ],
  ])('is N/A, and told: %s', (_, metric, read) => {
    const { values, notes } = admitted(seriesOf(metric, read));
    expect(values).toEqual([[read[0], NaN, read[2]]]);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(new RegExp(`^${metric} of port:leaf-1/p1: .*taken as N/A[.]$`));
  });

  it('is not what a healthy series holds, which stays the same object', () => {
    const healthy = seriesOf('port_rx_bytes', [0, 2 ** 47, 2 ** 48]);
    const admission = new Admission({ fromNs: 0, toNs: 60e9, series: [healthy] });
    expect(admission.admit(healthy)).toBe(healthy);
    expect(admission.notes()).toEqual([]);
  });
});

describe('a state in codes of another system', () => {
  it('makes its device unknown, and no other', () => {
    const states = ['leaf-1/p1', 'leaf-1/p2', 'leaf-2/p1', 'leaf-3/p1'].map((port, at) =>
      seriesOf('port_oper_status', at === 0 ? [1, 2, 1] : [1, 1, 1], `port:${port}`),
    );
    const { values, notes } = admitted(...states);
    expect(values.slice(0, 2).flat()).toEqual(Array(6).fill(NaN));
    expect(values.slice(2).flat()).toEqual(Array(6).fill(1));
    expect(notes[0]).toContain('2 is no state of it (0 or 1)');
  });

  it('makes the metric unknown where most devices tell it so: 4 is up, and 1 is down', () => {
    const states = [4, 4, 1].map((value, at) => seriesOf('port_oper_status', [value], `port:leaf-${at}/p1`));
    expect(admitted(...states).values.flat()).toEqual([NaN, NaN, NaN]);
  });
});

describe('a counter that falls', () => {
  it('a little was misread, and what it gained since is kept', () => {
    const { values, notes } = admitted(
      seriesOf(
        'port_rx_bytes',
        [0, 1e6, 2e6, 9e6, 8.999e6, 9.9e6, 10e6].map((one) => one + 1e9),
      ),
    );
    expect(values[0][4]).toBeNaN();
    expect(values[0].filter((value) => Number.isNaN(value))).toHaveLength(1);
    expect(notes[0]).toContain('fell a little');
  });

  it('by a restart, by 32 bits, or as a job does that begins again, is left as it is', () => {
    for (const [metric, read] of [
      ['port_rx_bytes', [1e9, 2e9, 3e9, 4e6, 1e9]],
      ['port_rx_bytes', [4.28e9, 4.29e9, 1e6, 2e7]],
      ['job_steps', [100, 101, 90, 91]],
    ] as const) {
      expect(admitted(seriesOf(metric, read))).toEqual({ values: [[...read]], notes: [] });
    }
  });
});
