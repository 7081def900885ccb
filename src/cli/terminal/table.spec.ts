/** Plain tables. */
import { describe, expect, it } from '@jest/globals';
import { table } from './table.js';

describe('a table', () => {
  it('lines columns up two spaces apart, with nothing at the ends of lines', () => {
    expect(
      table(
        ['name', 'state'],
        [
          ['a', 'passed'],
          ['longer', ''],
        ],
      ),
    ).toBe('name    state\na       passed\nlonger\n');
  });

  it('is a head alone where there is no row', () => {
    expect(table(['name', 'state'], [])).toBe('name  state\n');
  });
});
