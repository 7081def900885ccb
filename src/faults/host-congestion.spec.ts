/** Kinds whose cause is a host that takes too little: slow-receiver and pause-storm. */
import { describe, expect, it } from '@jest/globals';
import { pauseStorm } from './pause-storm.js';
import { slowReceiver } from './slow-receiver.js';
import { compileWith, refusalOf, topologyOf } from './testing/compile.js';

const NIC = 'nic:host-2/nic-0';
const NAMES = [NIC, 'port:host-2/nic-0', 'device:host-2'];

describe('slow-receiver', () => {
  it('slows what the NIC receives, by share or by rate, and nothing that it sends', () => {
    for (const params of [
      { variant: 'share', share: 0.25 },
      { variant: 'rate', rate: '100Gbps' },
    ]) {
      const { impairments, truth } = compileWith(slowReceiver, params, [NIC]);
      expect(impairments).toEqual([
        {
          impairment: { type: 'nic-host-rate', nic: NIC, rateGbps: 100, way: 'receive' },
          atNs: 0,
          untilNs: 20e9,
        },
      ]);
      expect(truth[0]).toMatchObject({ kind: 'slow-receiver', side: 'host' });
      expect(truth[0].elements.map(({ id }) => id)).toEqual(NAMES);
    }
  });

  it('counts both ports of a NIC, and slows all NICs of a host', () => {
    const topology = topologyOf({
      builder: 'dual-tor-dual-plane',
      hosts: 2,
      gpusPerHost: 2,
      spinesPerPlane: 1,
    });
    const { impairments, truth } = compileWith(
      slowReceiver,
      { variant: 'share', share: 0.5 },
      ['device:host-1'],
      {
        topology,
      },
    );
    expect(impairments.map(({ impairment }) => impairment)).toEqual(
      ['nic:host-1/nic-0', 'nic:host-1/nic-1'].map((nic) => ({
        type: 'nic-host-rate',
        nic,
        rateGbps: 200,
        way: 'receive',
      })),
    );
    expect(truth).toHaveLength(2);
  });

  it('refuses what is not slow, what takes nothing, and a switch', () => {
    expect(
      refusalOf(() => compileWith(slowReceiver, { variant: 'rate', rate: '400Gbps' }, [NIC])),
    ).toMatchObject({
      pointer: '/params/rate',
      hint: expect.stringContaining('400Gbps'),
    });
    expect(refusalOf(() => compileWith(slowReceiver, { variant: 'share' }, ['device:leaf-1'])).pointer).toBe(
      '/target',
    );
    for (const wrong of [
      { variant: 'rate', rate: '0Gbps' },
      { variant: 'share', share: 1 },
      { variant: 'share', share: 0 },
    ]) {
      expect(slowReceiver.parameters.safeParse(wrong).success).toBe(false);
    }
  });
});

describe('pause-storm', () => {
  it('pauses one class of a NIC for the whole hold, and names the NIC and the pattern', () => {
    const { impairments, truth } = compileWith(pauseStorm, { variant: 'continuous' }, [NIC]);
    expect(impairments).toEqual([
      { impairment: { type: 'pause-storm', nic: NIC, priority: 3 }, atNs: 0, untilNs: 20e9 },
    ]);
    expect(truth[0]).toMatchObject({ kind: 'pause-storm', side: 'host' });
    expect(truth[0].elements.map(({ id }) => id)).toEqual([...NAMES, 'pattern:pause-storm']);
  });

  it('intermittent storms in turns, by the seed', () => {
    const params = { variant: 'intermittent', stormFor: '500ms', quietFor: '2s', jitter: 0 };
    const { impairments } = compileWith(pauseStorm, params, [NIC]);
    expect(impairments.map(({ atNs, untilNs }) => [atNs / 1e6, untilNs / 1e6])).toEqual(
      Array.from({ length: 8 }, (_, turn) => [2500 * turn, 2500 * turn + 500]),
    );
    const jittery = (seed: number) =>
      compileWith(pauseStorm, { ...params, jitter: 0.5 }, [NIC], { seed }).impairments;
    expect(jittery(1)).toEqual(jittery(1));
    expect(jittery(1)).not.toEqual(jittery(2));
  });

  it('refuses a switch, a class that is none, and more storms than anyone could undo', () => {
    expect(
      refusalOf(() => compileWith(pauseStorm, { variant: 'continuous' }, ['device:spine-1'])).pointer,
    ).toBe('/target');
    expect(pauseStorm.parameters.safeParse({ variant: 'continuous', priority: 8 }).success).toBe(false);
    const often = { variant: 'intermittent', stormFor: '1ms', quietFor: '1ms' };
    expect(refusalOf(() => compileWith(pauseStorm, often, [NIC])).message).toContain('500');
  });
});
