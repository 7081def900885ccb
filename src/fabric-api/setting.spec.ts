import { describe, expect, it } from '@jest/globals';
import { sameSetting, settingText, type SettingValue } from './setting.js';

describe('settings', () => {
  it('are the same whatever the order of their figures, and through JSON', () => {
    const load = { rateGbps: 40, fromNics: ['nic:a/0', 'nic:b/0'], bytesPerSender: undefined };
    expect(sameSetting(load, { fromNics: ['nic:a/0', 'nic:b/0'], rateGbps: 40 })).toBe(true);
    expect(sameSetting(load, JSON.parse(JSON.stringify(load)) as SettingValue)).toBe(true);
    expect(sameSetting('up', 'up')).toBe(true);
    expect(sameSetting(undefined, undefined)).toBe(true);
  });

  it.each([
    ['another word', 'up', 'down'],
    ['another figure', { rateGbps: 40 }, { rateGbps: 40.1 }],
    ['a figure more', { mode: 'planned' }, { mode: 'planned', toHost: 'device:a' }],
    ['another order of a list', { fromNics: ['nic:a', 'nic:b'] }, { fromNics: ['nic:b', 'nic:a'] }],
    ['a word that spells figures', '{"rateGbps":40}', { rateGbps: 40 }],
    ['nothing', 'up', undefined],
  ])('differ by %s', (_, one, other) => {
    expect(sameSetting(one, other)).toBe(false);
    expect(sameSetting(other, one)).toBe(false);
  });

  it.each([
    ['clean', 'clean'],
    [{ rateGbps: 0.05 }, 'rate 50Mbps'],
    [
      { bitErrorRatio: 0.0011, laneShare: 1, cause: 'connector' },
      'bit error ratio 0.0011, lane share 1, cause connector',
    ],
    [{ kminBytes: 5000, kmaxBytes: 20_000, pmax: 1 }, 'kmin 5kB, kmax 20kB, pmax 1'],
    [{ pfc: false, headroomBytes: undefined, freeShare: 0.5 }, 'pfc off, free share 0.5'],
    [{ fromNics: ['nic:a/0', 'nic:b/0'], queuePairs: 4 }, 'from nics nic:a/0 nic:b/0, queue pairs 4'],
  ])('%j reads as "%s"', (value, words) => {
    expect(settingText(value)).toBe(words);
  });
});
