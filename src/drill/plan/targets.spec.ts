import { describe, expect, it } from '@jest/globals';
import { simulatedFabric, twoJobs } from '../../../test/support/simulated-fabric.js';
import { linkDown } from '../../faults/link-down.js';
import { InputError } from '../../core/problem.js';
import { Prng } from '../../core/prng.js';
import type { Fabric } from '../../fabric-api/fabric.js';
import { selectorSchema } from '../../model/topology/selector.js';
import { resolveTarget } from './targets.js';
import { FakeFabric } from '../testing/fake-fabric.js';

const fabric = simulatedFabric(twoJobs);

const resolve = async (
  target: Record<string, unknown>,
  parameters: unknown = { variant: 'cut' },
  on: Fabric = fabric,
): Promise<string[]> => {
  const { usedBy, notUsedBy, ...selector } = target as { usedBy?: string; notUsedBy?: string };
  const found = await resolveTarget({
    target: { ...selectorSchema.parse(selector), usedBy, notUsedBy },
    kind: linkDown,
    parameters,
    pointer: '/spec/faults/0',
    fabric: on,
    random: new Prng(1),
  });
  return found.elements.map(({ id }) => id);
};

async function refusal(promise: Promise<unknown>): Promise<InputError['issues'][number]> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return (error as InputError).issues[0];
}

describe('a target', () => {
  it('used by a job is crossed by that job, one not used by it is not', async () => {
    const used = await resolve({ type: 'link', tier: 'leaf-spine', usedBy: 'llm-a', mode: 'all' });
    const unused = await resolve({ type: 'link', tier: 'leaf-spine', notUsedBy: 'llm-a', mode: 'all' });
    for (const id of used) expect(await fabric.jobsCrossing(id)).toContain('llm-a');
    for (const id of unused) expect(await fabric.jobsCrossing(id)).not.toContain('llm-a');
    const all = await resolve({ type: 'link', tier: 'leaf-spine', mode: 'all' });
    expect([...used, ...unused].sort()).toEqual([...all].sort());
    expect(used.length).toBeGreaterThan(0);
  });

  it('on a fabric that can only be watched is told that, not what its jobs use', async () => {
    const watched: Partial<Fabric> = { describe: () => ({ ...fabric.describe(), capabilities: new Map() }) };
    const issue = await refusal(
      resolve({ type: 'link', usedBy: 'llm-a' }, { variant: 'cut' }, watched as Fabric),
    );
    expect(issue.message).toMatch(/can only be watched/);
  });

  it('may name jobs by a pattern', async () => {
    const both = await resolve(
      { type: 'device', tier: 'spine', usedBy: 'llm-*', mode: 'all' },
      { variant: 'node' },
    );
    expect(both).toContain('device:spine-1');
  });

  it('of a type that the kind does not act on is refused with the type it does', async () => {
    const issue = await refusal(resolve({ type: 'device' }));
    expect(issue).toMatchObject({
      pointer: '/spec/faults/0/target/type',
      message: expect.stringContaining('not on a device'),
      hint: 'write type: link',
    });
  });

  it.each(['usedBy', 'notUsedBy'])(
    'with a job in %s that does not exist is refused with the nearest',
    async (key) => {
      const issue = await refusal(resolve({ type: 'link', [key]: 'llm-c' }));
      expect(issue).toMatchObject({
        pointer: `/spec/faults/0/target/${key}`,
        message: expect.stringContaining('llm-a, llm-b'),
        hint: expect.stringContaining('did you mean'),
      });
    },
  );

  it('that nothing fits is refused and says what each filter left', async () => {
    const issue = await refusal(
      resolve({ type: 'link', tier: 'leaf-spine', usedBy: 'llm-a', notUsedBy: 'llm-a', mode: 'all' }),
    );
    expect(issue.pointer).toMatch(/^\/spec\/faults\/0\/target/);
    expect(issue.message).toContain('notUsedBy llm-a');
    expect(issue.hint).toMatch(/no link of this fabric is used like that/);
  });

  it('that is used elsewhere only is refused with the tiers where it is', async () => {
    const issue = await refusal(resolve({ type: 'link', device: 'host-1', notUsedBy: 'llm-a', mode: 'all' }));
    expect(issue.hint).toMatch(/^there are such links of tier .*leaf-spine/);
  });

  it('by use is refused on a fabric that can not tell who uses what', async () => {
    const issue = await refusal(resolve({ type: 'link', usedBy: 'llm-a' }, undefined, new FakeFabric()));
    expect(issue).toMatchObject({
      pointer: '/spec/faults/0/target/usedBy',
      hint: expect.stringContaining('tier'),
    });
  });
});
