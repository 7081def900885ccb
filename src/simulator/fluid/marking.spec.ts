import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CERTAIN_HAZARD, markHazard, markProbability } from './marking.js';

const curve = { kminBytes: 400e3, kmaxBytes: 1600e3, pmax: 0.2 };

describe('the marking curve', () => {
  it.each([
    [0, 0],
    [400e3, 0],
    [1000e3, 0.1],
    [1600e3, 0.2],
    [1600e3 + 1, 1],
  ])('at %i bytes marks with probability %d', (queueBytes, probability) => {
    expect(markProbability(curve, queueBytes)).toBeCloseTo(probability, 12);
  });

  it('as hazard adds up over queues as probabilities multiply', () => {
    const queue = fc.double({ min: 0, max: 1600e3, noNaN: true });
    fc.assert(
      fc.property(queue, queue, (first, second) => {
        const clear = (1 - markProbability(curve, first)) * (1 - markProbability(curve, second));
        const hazard = markHazard(curve, first) + markHazard(curve, second);
        expect(Math.exp(-hazard)).toBeCloseTo(clear, 12);
      }),
    );
  });

  it('as hazard stays finite where every packet is marked', () => {
    expect(markHazard(curve, 2e6)).toBe(CERTAIN_HAZARD);
    expect(markHazard({ ...curve, pmax: 1 }, 1600e3)).toBe(CERTAIN_HAZARD);
  });
});
