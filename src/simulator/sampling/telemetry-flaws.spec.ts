/** Each flaw of telemetry, seen by who reads the evidence. */
import { describe, expect, it } from '@jest/globals';
import { samplesOf, seriesOf, simulatedFabric, twoJobs } from '../../../test/support/simulated-fabric.js';
import { StampedSeries } from '../../model/telemetry/columns/stamped-series.js';
import { QUALITY, seriesWith, type Evidence } from '../../model/telemetry/series.js';

const END_NS = 10e9;

async function watched(telemetry: object): Promise<Evidence> {
  const fabric = simulatedFabric({ ...twoJobs, telemetry });
  await fabric.startJobs();
  await fabric.advance(END_NS);
  return fabric.observe({ fromNs: 0, toNs: END_NS });
}

const bytes = (evidence: Evidence, port: string): (readonly [number, number])[] =>
  samplesOf(evidence, 'port_tx_bytes', `port:${port}`);
const names = (evidence: Evidence): string[] =>
  evidence.series.map(({ metric, element }) => `${metric} ${element}`);

const PORT = 'leaf-1/p1';

describe('telemetry as it really is', () => {
  it('stamps by clocks that are off and drift, each device by its own', async () => {
    const [right, off] = await Promise.all([watched({}), watched({ clockSkew: '50ms', clockDrift: 100 })]);
    const shiftsOf = (port: string): number[] =>
      bytes(off, port).map(([timeS], at) => timeS - bytes(right, port)[at][0]);
    const [one, other] = [shiftsOf(PORT), shiftsOf('leaf-2/p1')];
    for (const shift of [...one, ...other]) expect(Math.abs(shift)).toBeLessThan(0.052);
    expect(one[0]).not.toBeCloseTo(other[0], 4);
    expect(Math.abs(one.at(-1)! - one[0])).toBeLessThanOrEqual(9.1 * 100e-6);
    expect(one.at(-1)).not.toBe(one[0]);
    expect(bytes(off, PORT).map(([, value]) => value)).toEqual(bytes(right, PORT).map(([, value]) => value));
    // A job's figures are stamped by nobody's fabric clock.
    expect(samplesOf(off, 'job_step_time_s', 'job:llm-a')).toEqual(
      samplesOf(right, 'job_step_time_s', 'job:llm-a'),
    );
  });

  it('stamps late samples when they come, in order', async () => {
    const [right, late] = await Promise.all([watched({}), watched({ late: 0.5, lateBy: '5s' })]);
    const shifts = late.series.flatMap(({ metric, element, timesNs }) =>
      metric === 'port_tx_bytes'
        ? [...timesNs].map((timeNs, at) => timeNs - seriesOf(right, metric, element).timesNs[at])
        : [],
    );
    const share = shifts.filter((shift) => shift > 0).length / shifts.length;
    expect(Math.abs(share - 0.5)).toBeLessThan(0.05);
    const unordered = late.series.filter(({ timesNs }) =>
      timesNs.some((timeNs, at) => at > 0 && timeNs <= timesNs[at - 1]),
    );
    expect(unordered.map(({ metric, element }) => `${metric} ${element}`)).toEqual([]);
  });

  it('has nothing of silent devices, and still the same series', async () => {
    const [right, silent] = await Promise.all([watched({}), watched({ silentDevices: ['leaf-[1-2]'] })]);
    expect(names(silent)).toEqual(names(right));
    const heard = silent.series.filter(
      ({ element, timesNs }) => /leaf-[12]/.test(element) && timesNs.length > 0,
    );
    expect(heard).toEqual([]);
    expect(bytes(silent, 'leaf-3/p1')).toEqual(bytes(right, 'leaf-3/p1'));
    const third = await watched({ silent: 0.34 });
    const mute = third.series.filter(
      ({ metric, timesNs }) => metric === 'device_reachable' && timesNs.length === 0,
    );
    expect(mute.length).toBeGreaterThan(0);
    expect(mute.length).toBeLessThan(
      third.series.filter(({ metric }) => metric === 'device_reachable').length,
    );
  });

  it('answers N/A for what is not supported', async () => {
    const { quality, values } = seriesOf(
      await watched({ unsupported: ['port_rx_errors'] }),
      'port_rx_errors',
      `port:${PORT}`,
    );
    expect(new Set(quality)).toEqual(new Set([QUALITY.notAvailable]));
    expect([...values].every((value) => Number.isNaN(value))).toBe(true);
  });

  it('loses what a counter that clears on read had counted when its answer is lost', async () => {
    const metric = 'port_fec_corrected_codewords';
    const loss = { loss: 0.4 };
    const [kept, cleared] = await Promise.all([watched(loss), watched({ ...loss, clearOnRead: [metric] })]);
    let less = 0;
    for (const { element, values, metric: other } of kept.series) {
      if (other !== metric) continue;
      const seen = seriesOf(cleared, metric, element).values;
      expect(seen.length).toBe(values.length);
      if (seen.length === 0) continue;
      expect(seen.at(-1)).toBeLessThanOrEqual(values.at(-1)!);
      less += Number(seen.at(-1)! < values.at(-1)!);
    }
    expect(less).toBeGreaterThan(10);
    const [whole, plain] = await Promise.all([watched({ clearOnRead: [metric] }), watched({})]);
    expect(samplesOf(whole, metric, `port:${PORT}`)).toEqual(samplesOf(plain, metric, `port:${PORT}`));
  });

  it('wraps counters of 32 bits', () => {
    const base = seriesWith(
      {
        metric: '',
        element: '',
        timesNs: Float64Array.of(1, 2, 3),
        values: new Float64Array(3),
        quality: new Uint8Array(3),
      },
      { values: Float64Array.of(1, 2 ** 32 - 1, 2 ** 32 + 5) },
    );
    expect([...new StampedSeries(base, { modulus: 2 ** 32 }).values]).toEqual([1, 2 ** 32 - 1, 5]);
  });

  it('refuses silent devices that are not there, and short byte counters, which would tell nothing', () => {
    const fabric = (telemetry: object) => () => simulatedFabric({ ...twoJobs, telemetry });
    expect(fabric({ silentDevices: ['leaf-1', 'zzz-*'] })).toThrow(/silentDevices\/1.*matches no device/);
    expect(fabric({ counters32: ['port_tx_bytes'] })).toThrow();
    expect(fabric({ clearOnRead: ['port_tx_bytes'] })).toThrow();
  });

  it('may lose the answer to whether a device is there, like any other', async () => {
    const lossy = await watched({ loss: 0.3 });
    const counts = lossy.series.flatMap(({ metric, timesNs }) =>
      metric === 'device_reachable' ? [timesNs.length] : [],
    );
    expect(Math.min(...counts)).toBeLessThan(Math.max(...counts));
  });
});
