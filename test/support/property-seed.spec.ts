import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { propertySeed, replayCommand } from './property-seed.js';

const values = (): number[] => fc.sample(fc.integer(), 5);

function messageOf(step: () => void): string {
  try {
    step();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

describe('seed of property tests', () => {
  test('is the same for every property, so that a run can be repeated', () => {
    expect(values()).toEqual(values());
  });

  test('is fixed unless the variable says otherwise', () => {
    expect(propertySeed(undefined)).toBe(propertySeed(''));
    expect(propertySeed('7')).toBe(7);
    expect(new Set(Array.from({ length: 5 }, () => propertySeed('random'))).size).toBeGreaterThan(1);
  });

  test.each(['seven', '1.5', '99999999999', 'Random'])('refuses %s', (text) => {
    expect(() => propertySeed(text)).toThrow(/is no seed/);
  });

  test('a property that fails prints seed, counterexample and the command that fails again', () => {
    const message = messageOf(() =>
      fc.assert(
        fc.property(fc.nat(), (n) => n < 1000),
        { seed: 42 },
      ),
    );
    expect(message).toMatch(/seed: 42/);
    expect(message).toMatch(/Counterexample: \[1000\]/);
    expect(message).toContain(
      `FABRICDRILL_PROPERTY_SEED=42 NODE_OPTIONS=--experimental-vm-modules npx jest test/support/property-seed.spec.ts -t 'seed of property tests a property that fails`,
    );
  });

  test('the assertion that failed is told, not only that one did', () => {
    const message = messageOf(() => fc.assert(fc.property(fc.nat(), (n) => expect(n).toBeLessThan(5))));
    expect(message).toMatch(/toBeLessThan/);
  });

  test('asynchronous properties report in the same way', async () => {
    const failing = fc.assert(fc.asyncProperty(fc.nat(), async (n) => n < 10));
    await expect(failing).rejects.toThrow(/Replay: FABRICDRILL_PROPERTY_SEED=/);
  });

  test('names of tests and paths survive the shell', () => {
    expect(replayCommand(1, undefined, "it's (a) test")).toBe(
      "FABRICDRILL_PROPERTY_SEED=1 NODE_OPTIONS=--experimental-vm-modules npx jest -t 'it'\\''s \\(a\\) test'",
    );
  });
});
