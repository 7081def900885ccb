import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { batchesOf } from './batches.js';
import type { SideTask } from '../../drill/gate/rounds.js';

const task: fc.Arbitrary<SideTask> = fc.record({
  experiment: fc.nat(3),
  side: fc.constantFrom('baseline' as const, 'candidate' as const),
  seed: fc.nat(40),
});
const keyOf = ({ experiment, side, seed }: SideTask): string => `${experiment}/${side}/${seed}`;

it('puts each run into exactly one batch, of at most four seeds', () => {
  fc.assert(
    fc.property(fc.uniqueArray(task, { selector: keyOf }), (tasks) => {
      const batches = batchesOf(tasks);
      const made = batches.flatMap(({ seeds, ...rest }) => seeds.map((seed) => keyOf({ ...rest, seed })));
      expect(made.sort()).toEqual(tasks.map(keyOf).sort());
      for (const { seeds } of batches) expect(seeds.length).toBeLessThanOrEqual(4);
    }),
  );
});
