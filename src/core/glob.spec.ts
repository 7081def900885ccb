import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileGlob, isGlob } from './glob.js';

const match = (pattern: string, name: string) => compileGlob(pattern)?.(name);

describe('compileGlob', () => {
  it.each([
    ['host-*', 'host-12', true],
    ['host-*', 'ghost-12', false],
    ['host-?', 'host-1', true],
    ['host-?', 'host-12', false],
    ['host-[1-4,9]', 'host-3', true],
    ['host-[1-4,9]', 'host-9', true],
    ['host-[1-4,9]', 'host-31', false],
    ['host-[1-4]', 'host-x', false],
    ['*/nic-[0-1]', 'host-12/nic-1', true],
    ['*/nic-[0-1]', 'host-12/nic-10', false],
    ['*-1*', 'leaf-21-1', true],
    ['', '', true],
    ['', 'a', false],
    ['a.b', 'aXb', false],
  ])('%s on %s: %s', (pattern, name, expected) => {
    expect(match(pattern, name)).toBe(expected);
  });

  it.each(['host-[1-', 'host-[]', 'host-[a-c]', 'host-[4-1]'])('%s is malformed', (pattern) => {
    expect(compileGlob(pattern)).toBeUndefined();
  });

  it('agrees with a regular expression on stars and question marks', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (glob, name) => {
        const expression = new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`);
        expect(match(glob, name)).toBe(expression.test(name));
      }),
      { numRuns: 2000 },
    );
  });

  it('a hostile pattern ends', () => {
    expect(match(`${'*a'.repeat(50)}b`, 'a'.repeat(5000))).toBe(false);
  });

  it('tells patterns from names', () => {
    expect(isGlob('host-1')).toBe(false);
    expect(isGlob('host-[1-2]')).toBe(true);
  });
});
