import { describe, expect, it } from '@jest/globals';
import type { MetricName } from '../../model/telemetry/catalog.js';
import { PollClock } from '../../model/telemetry/columns/poll-clock.js';
import type { PollColumn } from '../../model/telemetry/columns/poll-column.js';
import { QUALITY } from '../../model/telemetry/series.js';
import { telemetrySchema } from '../../model/telemetry/settings.js';
import { SeriesBook } from './series-book.js';

const book = (settings: object, seed = 1): SeriesBook =>
  new SeriesBook(telemetrySchema.parse(settings), seed);

/** One polled series with a column of its own, polled once a nanosecond. */
function polled(all: SeriesBook, metric: MetricName): PollColumn {
  return all.column(metric, new PollClock(1, 0), all.open(metric, ['port:leaf-1/p1']));
}

function poll(all: SeriesBook, column: PollColumn, value: (round: number) => number): void {
  const round = column.clock.rounds++;
  column.begin();
  column.fill(0, 1, Int32Array.of(round), value);
  all.disturb(column, round);
}

describe('series book', () => {
  it('keeps lost, N/A and repeated samples apart, in the shares asked for', () => {
    const rounds = 20_000;
    const all = book({ loss: 0.1, notAvailable: 0.05, repeated: 0.2 });
    const column = polled(all, 'port_tx_bytes');
    for (let round = 0; round < rounds; round++) poll(all, column, (value) => value);
    const [{ values, quality, timesNs }] = all.evidence(0, rounds).series;
    const share = (code: number): number => quality.filter((other) => other === code).length / rounds;
    expect(Math.abs(1 - timesNs.length / rounds - 0.1)).toBeLessThan(0.01);
    expect(Math.abs(share(QUALITY.notAvailable) - 0.05)).toBeLessThan(0.01);
    // A repetition needs an answer to repeat, so a few come out fresh after an N/A.
    expect(Math.abs(share(QUALITY.repeated) - 0.19)).toBeLessThan(0.015);
    const wrong = [...quality].flatMap((code, index) => {
      const value = values[index];
      if (code === QUALITY.notAvailable) return Number.isNaN(value) ? [] : [index];
      return value === (code === QUALITY.repeated ? values[index - 1] : timesNs[index]) ? [] : [index];
    });
    expect(wrong).toEqual([]);
  });

  it('loses the same rounds of a series whatever else is sampled', () => {
    const alone = book({ loss: 0.3 });
    const beside = book({ loss: 0.3 });
    const [a, b] = [alone, beside].map((one) => polled(one, 'port_tx_bytes'));
    const other = polled(beside, 'port_rx_bytes');
    for (let round = 0; round < 200; round++) {
      poll(alone, a, () => 1);
      poll(beside, other, () => 1);
      poll(beside, b, () => 1);
    }
    expect(alone.evidence(0, 200).series[0].timesNs.length).toBeLessThan(180);
    expect(beside.evidence(0, 200).series[0].timesNs).toEqual(alone.evidence(0, 200).series[0].timesNs);
  });

  it('repeats a status that still holds at the start of a window, but no line of a log', () => {
    const all = book({});
    const [status] = all.open('port_oper_status', ['port:leaf-1/p1']);
    const [steps] = all.open('job_steps', ['job:a']);
    all.change(status, 0, 1);
    all.change(status, 50, 0);
    all.log(steps, 40, 3);
    const [statusSeries, stepSeries] = all.evidence(60, 100).series;
    expect([...statusSeries.timesNs, ...statusSeries.values]).toEqual([60, 0]);
    expect(statusSeries.quality[0]).toBe(QUALITY.repeated);
    expect(stepSeries.timesNs).toHaveLength(0);
    expect(all.evidence(0, 45).series[0].timesNs).toEqual(Float64Array.of(0));
  });

  it('keeps times strictly rising when a status changes twice at one instant', () => {
    const all = book({});
    const [status] = all.open('port_oper_status', ['port:leaf-1/p1']);
    for (const value of [1, 0, 1]) all.change(status, 7, value);
    expect(all.evidence(0, 10).series[0].timesNs).toEqual(Float64Array.of(7));
    expect(all.evidence(0, 10).series[0].values).toEqual(Float64Array.of(1));
  });

  it('lists a series for every element that has the metric, and none for the others', () => {
    const all = book({});
    const numbers = all.open('port_tx_bytes', ['port:a', undefined, 'port:c']);
    expect([...numbers]).toEqual([0, -1, 1]);
    all.column('port_tx_bytes', new PollClock(1, 0), Int32Array.of(0, 1));
    expect(all.evidence(0, 1).series.map(({ element }) => element)).toEqual(['port:a', 'port:c']);
  });
});
