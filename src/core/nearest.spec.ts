import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { editDistance, listChoices, nearest, nearestHint } from './nearest.js';

const word = fc.string({ maxLength: 12 });

describe('the edit distance', () => {
  it('is zero for the same word only, and the same both ways', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
      }),
    );
  });

  it('lies between the difference and the larger of the lengths', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });

  it('counts one for each single slip', () => {
    const letters = fc.string({ minLength: 2, maxLength: 10 });
    fc.assert(
      fc.property(letters, fc.nat(), (text, where) => {
        const at = where % (text.length - 1);
        const swapped = text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2);
        expect(editDistance(text, text.slice(0, at) + text.slice(at + 1))).toBe(1);
        expect(editDistance(text, swapped)).toBe(text[at] === text[at + 1] ? 0 : 1);
        expect(editDistance(text, `${text.slice(0, at)}\u2603${text.slice(at)}`)).toBe(1);
      }),
    );
  });

  it.each([
    ['kitten', 'sitting', 3],
    ['', 'abc', 3],
    // restricted: a swapped pair is not edited again, so this is not 2
    ['ca', 'abc', 3],
  ])('from %j to %j is %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });
});

describe('the nearest choice', () => {
  it('is the word itself where it is one of the choices, whatever its case', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z-]{1,12}$/), { minLength: 1 }),
        fc.nat(),
        (choices, which) => {
          const chosen = choices[which % choices.length];
          expect(nearest(chosen.toUpperCase(), choices)).toBe(chosen);
        },
      ),
    );
  });

  it('is nothing when nothing is near', () => {
    expect(nearest('leaf', ['spine', 'core'])).toBeUndefined();
    expect(nearest('x', [])).toBeUndefined();
    expect(nearestHint('fault', ['objectives'])).toBeUndefined();
    expect(nearestHint('objektives', ['objectives', 'faults'])).toBe('did you mean "objectives"?');
  });
});

describe('a list of choices', () => {
  it('is cut where it gets long, and says how many there are', () => {
    expect(listChoices(['a', 'b'])).toBe('a, b');
    expect(listChoices(['a', 'b', 'c'], 2)).toBe('a, b, … (3 in all)');
    expect(listChoices([])).toBe('');
  });
});
