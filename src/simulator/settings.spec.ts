import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { telemetrySchema } from '../model/telemetry/settings.js';
import { z } from 'zod';
import {
  headroomBytes,
  markingCurve,
  priorityClasses,
  reactionRates,
  switchBufferBytes,
} from './congestion-settings.js';
import { parseDurationNs } from '../core/units.js';
import {
  ackTimeoutNs,
  fabricSettingsSchema,
  QUIET_TIMES,
  silentLossDetectionNs,
  wireFactor,
} from './settings.js';

/** Names of all settings, those of a group behind its name and a dot. */
const settingNames = (schema: { properties?: Record<string, unknown> }, prefix = ''): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const inner = property as { properties?: Record<string, unknown> };
    return inner.properties === undefined ? [`${prefix}${name}`] : settingNames(inner, `${name}.`);
  });

describe('fabric settings', () => {
  it('have defaults for everything', () => {
    const settings = fabricSettingsSchema.parse(undefined);
    expect(ackTimeoutNs(settings) / 1e9).toBeCloseTo(4.294967296, 9);
    expect(silentLossDetectionNs(settings)).toBe(900e6);
    expect(silentLossDetectionNs({ ...settings, bfd: false })).toBe(9e9);
    expect(wireFactor(settings)).toBeCloseTo(1.02, 2);
    // Loss of carrier to rerouted traffic, as measured with FRR on Linux: 48 ms.
    expect(QUIET_TIMES.carrierDetection + QUIET_TIMES.routeRepair).toBe(48e6);
  });

  it('are all in the documentation, with their defaults', () => {
    const page = readFileSync(new URL('../../docs/simulated-fabric.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `([\w.]+)` \| (\S+) \|/gm)].map(([, name, value]) => [name, value]);
    const schema = z.toJSONSchema(fabricSettingsSchema, { io: 'input', unrepresentable: 'any' });
    expect(rows.map(([name]) => name).sort()).toEqual(settingNames(schema).sort());
    const documented: Record<string, unknown> = {};
    for (const [name, value] of rows) {
      if (value === 'by-rate') continue;
      if (name in QUIET_TIMES) {
        expect(parseDurationNs(value)).toBe(QUIET_TIMES[name as keyof typeof QUIET_TIMES]);
        continue;
      }
      const [first, second] = name.split('.');
      const written: unknown = /^(true|false|[\d.]+|\[.*\]|\{\})$/.test(value) ? JSON.parse(value) : value;
      documented[first] =
        second === undefined ? written : { ...(documented[first] as object | undefined), [second]: written };
    }
    expect(fabricSettingsSchema.parse(documented)).toEqual(fabricSettingsSchema.parse(undefined));
  });

  it.each([
    [{ ackTimeout: 20 }, 'ackTimeout'],
    [{ mtu: '10B' }, 'must be from 256B'],
    [{ mtu: 4096 }, 'is no size'],
    [{ adaptiveBase: '0s' }, 'at least 1us'],
    [{ ackTimeoutExponent: 40 }, '31'],
    [{ fidelity: 'packet' }, 'auto'],
    [{ bfdInterval: 300 }, 'is no duration'],
    [{ ecn: { kmin: '2MB', kmax: '1MB' } }, 'more than kmin'],
    [{ watchdog: { detect: '50ms' } }, 'from 100ms to 5000ms'],
    [{ pfc: { priorities: [8] } }, '7'],
    [{ pfc: { freeShare: 0 } }, '>0'],
    [{ scheduling: { weights: { 9: 2 } } }, 'priority from 0 to 7'],
    [{ scheduling: { weights: { 3: 0 } } }, '>=1'],
    [{ dcqcn: { gain: 2 } }, '1'],
    [{ bfdInterval: '10s', bfdMultiplier: 3 }, 'BFD would take 30 s (bfdInterval 10 s × bfdMultiplier 3)'],
    [{ bgpHold: '500ms' }, 'that BGP misses after 500 ms (bgpHold)'],
    [{ buffer: '1MB', pfc: { headroom: '2MB' } }, '2MB (pfc.headroom) do not fit in a buffer of 1MB'],
    [{ buffer: '1KB' }, '(pfc.reserve) do not fit in a buffer of 1kB'],
  ])('refuse %j', (input, words) => {
    const result = fabricSettingsSchema.safeParse(input);
    expect(result.success).toBe(false);
    expect(result.error?.message).toContain(words);
  });
});

describe('settings that go together', () => {
  it.each([
    { bfd: false, bfdInterval: '10s' },
    { bfdInterval: '3s', bgpHold: '9s' },
    { buffer: '2MB', pfc: { headroom: '2MB' } },
    { buffer: '1KB', pfc: { on: false } },
  ])('are taken: %j', (input) => {
    expect(fabricSettingsSchema.safeParse(input).success).toBe(true);
  });
});

describe('congestion settings', () => {
  const settings = fabricSettingsSchema.parse(undefined);

  it('follow the rate of the ports where the file says nothing', () => {
    expect(markingCurve(settings, 100)).toEqual({ kminBytes: 400e3, kmaxBytes: 1600e3, pmax: 0.2 });
    expect(markingCurve(settings, 400)).toEqual({ kminBytes: 1600e3, kmaxBytes: 6400e3, pmax: 0.2 });
    expect(switchBufferBytes(settings, 400)).toBe(128e6);
    expect(headroomBytes(settings, 400, 1000, 4178)).toBe(3 * 50 * 1000 + 2 * 4178);
    // 5 and 50 Mb/s per 25 Gb/s, in bytes/ns.
    const rates = reactionRates(settings, 400);
    expect(rates.additiveIncrease * 8).toBeCloseTo(0.08, 12);
    expect(rates.hyperIncrease * 8).toBeCloseTo(0.8, 12);
    expect(rates.minRate * 8).toBe(1);
  });

  it('keep a marking curve rising when only one of its ends is given', () => {
    for (const ecn of [{ kmin: '900MB' }, { kmax: '1KB' }]) {
      const { kminBytes, kmaxBytes } = markingCurve(fabricSettingsSchema.parse({ ecn }), 400);
      expect(kminBytes).toBeLessThan(kmaxBytes);
    }
  });

  it('give queues to the classes that they and the jobs name', () => {
    expect(priorityClasses(settings, [3, 5])).toEqual([3, 5, 6]);
    const alone = fabricSettingsSchema.parse({ dcqcn: { on: false }, pfc: { priorities: [4, 3] } });
    expect(priorityClasses(alone, [])).toEqual([3, 4]);
  });
});

describe('telemetry settings', () => {
  it.each([
    [{ switchInterval: '0s' }, 'at least 1ms'],
    [{ loss: 0.5, notAvailable: 0.4, repeated: 0.2 }, 'exceed 1'],
  ])('refuse %j', (input, words) => {
    const result = telemetrySchema.safeParse(input);
    expect(result.success).toBe(false);
    expect(result.error?.message).toContain(words);
  });
});
