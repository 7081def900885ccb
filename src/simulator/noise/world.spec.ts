/**
 * Untidy worlds as a whole: same seed, same bytes; a fault shifts no draw; what a file states replaces a draw.
 */
import { describe, expect, it } from '@jest/globals';
import {
  bytesOf,
  flowSimulator,
  samplesOf,
  seriesOf,
  twoJobs,
} from '../../../test/support/simulated-fabric.js';
import { traitsSchema } from './trait-schema.js';
import type { Evidence } from '../../model/telemetry/series.js';

const spec = (realism: string, more: object = {}): Record<string, unknown> => ({
  ...twoJobs,
  settings: { realism },
  ...more,
});
const run = (realism: string, seed = 1, more: object = {}, lastS = 8) => {
  const simulator = flowSimulator(spec(realism, more), seed);
  simulator.startJobs();
  simulator.advance(lastS * 1e9);
  return { simulator, evidence: simulator.evidence(0, lastS * 1e9) };
};
const column = (evidence: Evidence, metric: string): Map<string, number[]> =>
  new Map(
    evidence.series
      .filter((series) => series.metric === metric)
      .map(({ element, values }) => [element, [...values]]),
  );

describe('an untidy world', () => {
  it.each(['typical', 'rough'])('is the same for the same seed, and another for another: %s', (realism) => {
    const [one, again, other] = [run(realism), run(realism), run(realism, 2)];
    expect(bytesOf(again.evidence).equals(bytesOf(one.evidence))).toBe(true);
    expect(bytesOf(other.evidence).equals(bytesOf(one.evidence))).toBe(false);
    expect(again.simulator.world.record).toEqual(one.simulator.world.record);
  });

  it('gives each rank a pace of its own, and the same at each step whatever is injected elsewhere', () => {
    const calm = run('typical');
    const hurt = flowSimulator(spec('typical'), 1);
    hurt.startJobs();
    hurt.advance(2e9);
    hurt.setCut(
      hurt.topology.links.findIndex(({ tier }) => tier === 'leaf-spine'),
      true,
    );
    hurt.advance(8e9);
    expect(hurt.world.record.traits).toEqual(calm.simulator.world.record.traits);
    const evidence = hurt.evidence(0, 8e9);
    // temperatures and times of polls know nothing of steps
    for (const metric of ['optic_temperature_c', 'device_reachable']) {
      const [one, other] = [calm.evidence, evidence].map((of) =>
        of.series.filter((series) => series.metric === metric),
      );
      expect(other.map(({ values }) => [...values])).toEqual(one.map(({ values }) => [...values]));
      expect(other.map(({ timesNs }) => [...timesNs])).toEqual(one.map(({ timesNs }) => [...timesNs]));
    }
    const computing = [...column(calm.evidence, 'rank_compute_time_s').values()].map((values) =>
      values.at(-1)!,
    );
    expect(new Set(computing).size).toBeGreaterThan(32);
    for (const value of computing) expect(Math.abs(value / 0.3 - 1)).toBeLessThan(0.25);
  });

  it('shows counters that have counted before, in whole numbers that only rise', () => {
    const { evidence } = run('typical');
    const downs = [...column(evidence, 'port_link_down_events').values()].map((values) => values[0]);
    const zero = downs.filter((value) => value === 0).length / downs.length;
    expect(zero).toBeGreaterThan(0.25);
    expect(zero).toBeLessThan(0.55);
    expect(Math.max(...downs)).toBeGreaterThan(100);
    const bytes = column(evidence, 'port_tx_bytes');
    expect(Math.max(...[...bytes.values()].map((values) => values[0]))).toBeGreaterThan(1e13);
    for (const values of bytes.values()) {
      expect(
        values.every(
          (value, at) => Number.isNaN(value) || (Number.isInteger(value) && !(value < values[at - 1])),
        ),
      ).toBe(true);
    }
  });

  it('asks each device at an instant of its own', () => {
    const { evidence } = run('typical');
    const phases = new Set(
      evidence.series
        .filter(({ metric }) => metric === 'port_tx_bytes')
        .map(({ timesNs }) => Math.floor((timesNs[1] % 1e9) / 1e8)),
    );
    expect(phases.size).toBeGreaterThan(4);
  });

  it('keeps a spread of polls that the file states', () => {
    const { evidence } = run('typical', 1, { telemetry: { pollSpread: '0s' } }, 3);
    const times = evidence.series
      .filter(({ metric }) => metric === 'port_tx_bytes')
      .map(({ timesNs }) => timesNs[1]);
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(50e6);
  });
});

describe('stated traits', () => {
  const slowHost = { element: { type: 'device', names: ['host-2'] }, trait: 'computeFactor', value: '1.2x' };

  it('hold in a quiet world, alone', () => {
    const { evidence, simulator } = run('quiet', 1, { traits: [slowHost] }, 4);
    const computing = column(evidence, 'rank_compute_time_s');
    expect(computing.get('rank:llm-a/8')!.at(-1)).toBeCloseTo(0.36, 5);
    expect(computing.get('rank:llm-a/0')!.at(-1)).toBeCloseTo(0.3, 5);
    expect(simulator.world.record.traits.computeFactor.stated).toHaveLength(8);
  });

  it('replace a draw and leave the others as they were', () => {
    const drawn = run('typical', 1, {}, 1).simulator.world.record.traits;
    const port = { type: 'port', names: ['leaf-1/p3'] };
    const stated = run('typical', 1, { traits: [{ element: port, trait: 'preFecBer', value: 3e-7 }] }, 1)
      .simulator.world.record.traits;
    expect(stated.preFecBer.values['port:leaf-1/p3']).toBe(3e-7);
    expect(stated.preFecBer.values).toEqual({ ...drawn.preFecBer.values, 'port:leaf-1/p3': 3e-7 });
    expect(stated.computeFactor).toEqual(drawn.computeFactor);
  });

  it.each([
    [{ ...slowHost, trait: 'computFactor' }, /computeFactor/],
    [{ ...slowHost, value: '40x' }, /outside what physics allows; computeFactor is from 0.5 to 10 x/],
    [{ ...slowHost, value: '3%' }, /no value of this trait; computeFactor is from 0.5 to 10 x/],
    [{ ...slowHost, trait: 'preFecBer', value: 0.1 }, /trait of a port, not of a device/],
  ])('are refused outside their names and ranges: %j', (trait, message) => {
    const parsed = traitsSchema.safeParse([trait]);
    expect(
      parsed.error?.issues.map((issue) => `${issue.path.join('/')} ${JSON.stringify(issue)}`).join(),
    ).toMatch(message);
  });

  it('are refused twice', () => {
    expect(traitsSchema.safeParse([slowHost, slowHost]).error?.issues[0]).toMatchObject({
      path: [1, 'trait'],
      message: expect.stringMatching(/stated twice, here and in traits\/0/),
    });
    const twice = { ...slowHost, element: { type: 'device', tier: 'host', mode: 'all' } };
    expect(() => flowSimulator(spec('quiet', { traits: [slowHost, twice] }))).toThrow(
      /computeFactor of device:host-2 is stated twice, here and in traits\/0/,
    );
  });
});

describe('times of the control plane', () => {
  const upAfter = (settings: object, seed: number): number => {
    const simulator = flowSimulator({ ...twoJobs, settings }, seed);
    const link = simulator.topology.links.findIndex(({ tier }) => tier === 'leaf-spine');
    simulator.advance(1e9);
    simulator.setCut(link, true);
    simulator.advance(2e9);
    simulator.setCut(link, false);
    simulator.advance(70e9);
    const port = `port:${simulator.topology.ports[simulator.topology.links[link].portA].name}`;
    return samplesOf(simulator.evidence(0, 70e9), 'port_oper_status', port).at(-1)![0] - 2;
  };

  it('are drawn where the file leaves them out, and kept where it states them', () => {
    const drawn = Array.from({ length: 6 }, (_, seed) => upAfter({ realism: 'typical' }, seed));
    expect(new Set(drawn).size).toBe(6);
    for (const seconds of drawn) expect(Math.abs(Math.log(seconds / 6))).toBeLessThan(4 * 0.4);
    expect(upAfter({ realism: 'typical', carrierDebounce: '100ms' }, 1)).toBeCloseTo(0.11, 1);
  });
});

describe('background events that a file states', () => {
  const at = (type: string, name: string, trait: string): object => ({
    traits: [{ element: { type, names: [name] }, trait, value: '2s' }],
  });

  it('a flap takes a link down for some seconds and leaves the cable as it is', () => {
    const link = 'link:leaf-4/p17--spine-1/p4';
    const { evidence, simulator } = run('quiet', 1, at('link', link, 'flap'), 9);
    const states = samplesOf(evidence, 'port_oper_status', 'port:leaf-4/p17');
    expect(states.map(([, value]) => value)).toEqual([1, 0, 1]);
    expect(states[1][0]).toBeCloseTo(2, 1);
    expect(states[2][0]).toBeCloseTo(7.1, 1);
    expect(simulator.isCut(simulator.topology.links.findIndex(({ id }) => id === link))).toBe(false);
    expect(simulator.world.record.events).toEqual([{ event: 'flap', element: link, fromNs: 2e9, toNs: 7e9 }]);
  });

  it('a session bounces while its ports stay up, and traffic is back', () => {
    const { evidence } = run('quiet', 1, at('link', 'link:leaf-4/p17--spine-1/p4', 'bfdBounce'), 6);
    const states = samplesOf(evidence, 'bfd_session_status', 'port:leaf-4/p17').map(([, value]) => value);
    expect(states).toEqual([1, 0, 1]);
    expect(samplesOf(evidence, 'port_oper_status', 'port:leaf-4/p17')).toHaveLength(1);
  });

  it('counters of a device start again at 0', () => {
    const { evidence } = run('quiet', 1, at('device', 'leaf-1', 'counterReset'), 4);
    const values = samplesOf(evidence, 'port_tx_bytes', 'port:leaf-1/p1').map(([, value]) => value);
    expect(values.findIndex((value, index) => value < values[index - 1])).toBeGreaterThan(0);
    const others = samplesOf(evidence, 'port_tx_bytes', 'port:leaf-2/p1').map(([, value]) => value);
    expect(others.every((value, index) => index === 0 || value >= others[index - 1])).toBe(true);
  });

  it('a GPU too hot holds its job up, a rank without data for one step', () => {
    const slowest = (evidence: Evidence): number =>
      Math.max(
        ...[...column(evidence, 'rank_compute_time_s').values()].flatMap((values) =>
          values.filter((value) => value > 0),
        ),
      );
    expect(slowest(run('quiet', 1, at('device', 'host-1', 'throttle'), 5).evidence)).toBeCloseTo(0.321, 4);
    const steps = samplesOf(
      run('quiet', 1, at('device', 'host-1', 'loaderStall'), 5).evidence,
      'job_step_time_s',
      'job:llm-a',
    );
    const times = steps.map(([, value]) => value).sort((a, b) => b - a);
    expect(times[0] - times[1]).toBeCloseTo(0.5, 3);
  });

  it('nothing comes from a device in a gap', () => {
    const { evidence } = run('quiet', 1, at('device', 'leaf-1', 'scrapeGap'), 6);
    expect(samplesOf(evidence, 'device_reachable', 'device:leaf-1')).toHaveLength(2);
    expect(samplesOf(evidence, 'device_reachable', 'device:leaf-2')).toHaveLength(6);
  });
});

describe('a quiet world', () => {
  it('draws nothing', () => {
    const { simulator, evidence } = run('quiet', 1, {}, 2);
    expect(simulator.world.record).toEqual({ realism: 'quiet', traits: {}, events: [] });
    expect(samplesOf(evidence, 'port_tx_bytes', 'port:leaf-1/p1')[0][1]).toBe(0);
    expect(seriesOf(evidence, 'rank_compute_time_s', 'rank:llm-a/5').values.at(-1)).toBe(0.3);
  });
});
