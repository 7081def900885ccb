/** Every shipped experiment, drilled in memory with a seed that it does not state, scores as it did at 5e5372a. */
import { describe, it } from '@jest/globals';
import { drillShipped, SHIPPED } from '../support/shipped-experiments.js';
import { expectGolden } from './golden.js';
import { goldenOf, OTHER_SEED, printed } from './printed-scorecard.js';

describe.each(SHIPPED)('%s', (file) => {
  it('scores as it did', async () => {
    const { scorecard } = await drillShipped(file, OTHER_SEED);
    await expectGolden(goldenOf(file, OTHER_SEED), printed(scorecard));
  });
});
