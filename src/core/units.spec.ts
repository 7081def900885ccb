import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inputJsonSchema } from './schema-issues.js';
import {
  durationNs,
  formatDurationNs,
  NS_PER,
  parseDurationNs,
  parseRateGbps,
  parseSizeBytes,
  rateGbps,
  sizeBytes,
} from './units.js';

describe('a duration', () => {
  it.each([
    ['30s', 30e9],
    ['250ms', 250e6],
    ['1.5h', 5400e9],
    ['.5s', 0.5e9],
    ['4.096us', 4096],
    ['4.096µs', 4096],
    [' 2 min ', 120e9],
    ['1d', 86400e9],
    ['PT30S', 30e9],
    ['P1DT2H3M4.5S', 93784.5e9],
    ['0s', 0],
    ['0.4ns', 0],
  ])('%j is %d ns', (text, ns) => {
    expect(parseDurationNs(text)).toBe(ns);
  });

  it.each(['30', '', 's', '-1s', '1e3s', '30 seconds', '30S', 'PT', 'P', '1s2', 'toString', '1 constructor'])(
    '%j is none',
    (text) => {
      expect(parseDurationNs(text)).toBeUndefined();
    },
  );

  it('is a whole number of ns in every unit', () => {
    const units = Object.keys(NS_PER) as (keyof typeof NS_PER)[];
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...units), (count, unit) => {
        expect(parseDurationNs(`${count}${unit}`)).toBe(count * NS_PER[unit]);
      }),
    );
  });

  it('is written as a person would, and read back to four digits', () => {
    expect(formatDurationNs(1.5e9)).toBe('1.5 s');
    expect(formatDurationNs(48e6)).toBe('48 ms');
    expect(formatDurationNs(830)).toBe('830 ns');
    expect(formatDurationNs(5400e9)).toBe('90 min');
    expect(formatDurationNs(7200e9)).toBe('2 h');
    expect(formatDurationNs(7 * 86_400e9)).toBe('7 d');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), (ns) => {
        const back = parseDurationNs(formatDurationNs(ns))!;
        expect(Math.abs(back - ns)).toBeLessThanOrEqual(Math.max(0.5, ns * 5.1e-4));
      }),
    );
  });
});

describe('a rate and a size', () => {
  it.each([
    ['100Gbps', 100],
    ['1.6Tbps', 1600],
    ['25000Mbps', 25],
    ['1bps', 1e-9],
  ])('the rate %j is %d Gbps', (text, gbps) => {
    expect(parseRateGbps(text)).toBeCloseTo(gbps, 12);
  });

  it.each([
    ['64MB', 64e6],
    ['16MiB', 16 * 1024 * 1024],
    ['1.5kB', 1500],
    ['0B', 0],
  ])('the size %j is %d bytes', (text, bytes) => {
    expect(parseSizeBytes(text)).toBe(bytes);
  });

  it.each(['100', '100gbps', '100GB', '1 Gb'])('%j is no rate', (text) => {
    expect(parseRateGbps(text)).toBeUndefined();
  });

  it.each(['64', '64Mb', '64Mbps', '1TiB'])('%j is no size', (text) => {
    expect(parseSizeBytes(text)).toBeUndefined();
  });
});

describe('a schema of a quantity', () => {
  it.each([
    [durationNs, '30s', 30e9],
    [rateGbps, '100Gbps', 100],
    [sizeBytes, '64MB', 64e6],
  ])('takes text with a unit', (schema, text, value) => {
    expect(schema.parse(text)).toBe(value);
    expect(inputJsonSchema(schema)).toMatchObject({
      type: 'string',
      description: expect.stringContaining('such as'),
    });
  });

  it.each([30, '30', null, {}, [], true, undefined])('refuses %j and shows how to write it', (input) => {
    const { error } = durationNs.safeParse(input);
    expect(error?.issues[0].message).toMatch(
      /(is no duration|missing); write a number with a unit .* as in 30s/,
    );
  });
});
