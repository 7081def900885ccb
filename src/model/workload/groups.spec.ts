import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parallelGroups, type ParallelGroups } from './groups.js';

const degrees = fc
  .record({
    tensor: fc.integer({ min: 1, max: 4 }),
    pipeline: fc.integer({ min: 1, max: 3 }),
    expert: fc.integer({ min: 1, max: 3 }),
    blocks: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ tensor, pipeline, expert, blocks }) => ({ tensor, pipeline, expert, data: expert * blocks }));

describe('parallelGroups', () => {
  it('each kind puts every rank into exactly one group of its degree', () => {
    fc.assert(
      fc.property(degrees, (parallelism) => {
        const { tensor, pipeline, expert, data } = parallelism;
        const ranks = tensor * pipeline * data;
        const size: Record<keyof ParallelGroups, number> = {
          tensor,
          pipeline,
          expert,
          data,
          dataWithinExpert: data / expert,
        };
        const groups = parallelGroups(parallelism);
        for (const kind of Object.keys(size) as (keyof ParallelGroups)[]) {
          if (size[kind] === 1) {
            expect(groups[kind]).toEqual([]);
            continue;
          }
          expect(groups[kind].every((group) => group.length === size[kind])).toBe(true);
          expect(groups[kind].flat().sort((a, b) => a - b)).toEqual(
            Array.from({ length: ranks }, (_, rank) => rank),
          );
        }
      }),
    );
  });

  it('expert and data-within-expert groups cross each data group once', () => {
    fc.assert(
      fc.property(degrees, (parallelism) => {
        const { data, expert, dataWithinExpert } = parallelGroups(parallelism);
        for (const whole of data) {
          const inside = (group: number[]) => group.every((rank) => whole.includes(rank));
          const experts = expert.filter(inside);
          const replicas = dataWithinExpert.filter(inside);
          for (const one of experts) {
            for (const other of replicas) expect(one.filter((rank) => other.includes(rank))).toHaveLength(1);
          }
        }
      }),
    );
  });

  it('tensor varies fastest, pipeline slowest', () => {
    expect(parallelGroups({ tensor: 2, pipeline: 2, expert: 2, data: 4 })).toMatchObject({
      tensor: [
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7],
        [8, 9],
        [10, 11],
        [12, 13],
        [14, 15],
      ],
      data: [
        [0, 2, 4, 6],
        [1, 3, 5, 7],
        [8, 10, 12, 14],
        [9, 11, 13, 15],
      ],
      pipeline: [
        [0, 8],
        [1, 9],
        [2, 10],
        [3, 11],
        [4, 12],
        [5, 13],
        [6, 14],
        [7, 15],
      ],
    });
  });
});
