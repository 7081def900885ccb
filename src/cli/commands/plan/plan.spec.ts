import { describe, expect, it } from '@jest/globals';
import { oneWire, simulatedFabric } from '../../../../test/support/simulated-fabric.js';
import { experimentSpecSchema } from '../../../documents/experiment.js';
import { planDrill } from '../../../drill/plan/plan.js';
import { renderPlan } from './plan.js';

const planned = async (params: object): Promise<string> => {
  const fault = { kind: 'optic-error', params, target: { type: 'link', tier: 'host-leaf', mode: 'one' } };
  const faults = [{ ...fault, at: '10s', duration: '20s' }];
  const spec = experimentSpecSchema.parse({ fabric: 'test', faults });
  return renderPlan(await planDrill({ name: 'drill', spec, fabric: simulatedFabric(oneWire), seed: 1 }));
};

describe('a plan in words', () => {
  it('shows errors that grow as one impairment with its profile, and one undo', async () => {
    const text = await planned({ variant: 'ramped', fromBer: 0.000001, toBer: 0.0013 });
    expect(text.match(/bit-errors on link:.*/g)).toEqual([
      expect.stringMatching(/^bit-errors on link:\S+: bit-error ratio 0\.000001 to 0\.0013 in 50 levels$/),
    ]);
    expect(text.match(/restore .*/g)).toHaveLength(1);
  });

  it('shows errors that stay without one', async () => {
    expect(await planned({ variant: 'constant' })).toMatch(/bit-errors on link:\S+$/m);
  });
});
