import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { telemetrySchema } from '../telemetry/settings.js';
import { ackTimeoutNs, fabricSettingsSchema, silentLossDetectionNs, wireFactor } from './settings.js';

describe('fabric settings', () => {
  it('have defaults for everything', () => {
    const settings = fabricSettingsSchema.parse(undefined);
    expect(ackTimeoutNs(settings) / 1e9).toBeCloseTo(4.294967296, 9);
    expect(silentLossDetectionNs(settings)).toBe(900e6);
    expect(silentLossDetectionNs({ ...settings, bfd: false })).toBe(9e9);
    expect(wireFactor(settings)).toBeCloseTo(1.02, 2);
    // Loss of carrier to rerouted traffic, as measured with FRR on Linux: 48 ms.
    expect(settings.carrierDetection + settings.routeRepair).toBe(48e6);
  });

  it('are all in the documentation, with their defaults', () => {
    const page = readFileSync(new URL('../../docs/simulated-fabric.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \| (\S+) \|/gm)].map(([, name, value]) => [name, value]);
    const settings = fabricSettingsSchema.parse(undefined);
    expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(settings).sort());
    const asWritten = ([name, value]: string[]): unknown =>
      /^(true|false|\d+)$/.test(value) ? [name, JSON.parse(value)] : [name, value];
    const documented = Object.fromEntries(rows.map((row) => asWritten(row) as [string, unknown]));
    expect(fabricSettingsSchema.parse(documented)).toEqual(settings);
  });

  it.each([
    [{ ackTimeout: 20 }, 'ackTimeout'],
    [{ mtu: '10B' }, 'must be from 256B'],
    [{ mtu: 4096 }, 'is no size'],
    [{ adaptiveBase: '0s' }, 'at least 1us'],
    [{ ackTimeoutExponent: 40 }, '31'],
    [{ fidelity: 'packet' }, 'auto'],
    [{ bfdInterval: 300 }, 'is no duration'],
  ])('refuse %j', (input, words) => {
    const result = fabricSettingsSchema.safeParse(input);
    expect(result.success).toBe(false);
    expect(result.error?.message).toContain(words);
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
