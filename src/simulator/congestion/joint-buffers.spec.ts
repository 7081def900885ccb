/** Which groups are solved together follows from what they have of switches' buffers, and from nothing else. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BufferClaim } from './congestion-picture.js';
import { jointBuffers } from './joint-buffers.js';

const claim = (device: number, usedBytes: number, neededBytes: number): BufferClaim => ({
  device,
  usedBytes,
  neededBytes,
  sharedBytes: 1000,
});

describe('groups that share buffers', () => {
  it('stay apart while thresholds are out of reach of all of them', () => {
    expect(jointBuffers([[claim(1, 50, 400)], [claim(1, 50, 300)], [claim(2, 900, 900)]])).toEqual([
      [0],
      [1],
      [2],
    ]);
  });

  it('meet where one is at its threshold, or what all use brings it there, and only on that device', () => {
    expect(jointBuffers([[claim(1, 50, Infinity)], [claim(2, 50, 10)], [claim(1, 1, 5)]])).toEqual([
      [0, 2],
      [1],
    ]);
    expect(jointBuffers([[claim(1, 300, 400)], [claim(1, 300, 100)]])).toEqual([[0, 1]]);
  });

  it('meet through others, but not by a device of which they use nothing', () => {
    const crowded = [[claim(1, 600, 700), claim(2, 600, 700)], [claim(1, 100, 1)], [claim(2, 100, 1)]];
    expect(jointBuffers([...crowded, [claim(1, 0, 500)]])).toEqual([[0, 1, 2], [3]]);
  });

  it('are named once each, and more of any of them never parts them', () => {
    const groups = fc.array(fc.array(fc.tuple(fc.nat(3), fc.nat(400), fc.nat(900)), { maxLength: 4 }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(groups, (drawn) => {
        const claims = drawn.map((own) => {
          const once = new Map(own.map(([device, used, needed]) => [device, claim(device, used, needed)]));
          return [...once.values()];
        });
        const parts = jointBuffers(claims);
        expect(parts.flat().sort((one, other) => one - other)).toEqual(claims.map((_, index) => index));
        const more = claims.map((own) => own.map((one) => ({ ...one, neededBytes: 2 * one.neededBytes })));
        const joined = jointBuffers(more);
        for (const part of parts) {
          expect(joined.some((other) => part.every((index) => other.includes(index)))).toBe(true);
        }
      }),
    );
  });
});
