import { describe, expect, it } from '@jest/globals';
import { RESIDUAL_TOLERANCE, searchNotes } from './search-notes.js';

const exact = { searches: 5, stopped: 0, worstResidual: 0, worstNs: null };
const off = (worstResidual: number, worstNs = 3e9) => ({ searches: 10, stopped: 2, worstResidual, worstNs });

describe('a search that stopped before it was exact', () => {
  it('is no matter within the tolerance, nor where there was none', () => {
    expect(searchNotes([])).toEqual([]);
    expect(searchNotes([undefined, exact])).toEqual([]);
    expect(searchNotes([off(RESIDUAL_TOLERANCE)])).toEqual([]);
  });

  it('is told with how many, how far off and when, of the drill and its twin together', () => {
    expect(searchNotes([off(0.02), undefined, off(0.034, 20.25e9), exact])).toEqual([
      expect.stringMatching(/4 of 25 searches .* 3\.4 % off, at 20\.[23] s/),
    ]);
  });
});
