import { describe, expect, it } from '@jest/globals';
import { InputError } from '../../core/problem.js';
import type { PlannedFault } from './planned.js';
import { checkReadable } from './readable.js';
import { FakeFabric } from '../testing/fake-fabric.js';

const LINK = 'link:a/p1--b/p1';
const fault = (name: string): PlannedFault => ({
  name,
  kind: 'link-down',
  parameters: {},
  targets: [],
  atNs: 0,
  durationNs: 3e9,
  impairments: [0, 1e9, 2e9].map((atNs) => ({
    id: `${name}/${atNs}`,
    impairment: { type: 'link-cut', link: LINK },
    atNs,
    untilNs: atNs + 1e8,
  })),
  truth: [],
  expectedMetrics: [],
});

/** A fabric that knows no link any more, and counts how often it is asked. */
function forgetful(): { fabric: FakeFabric; asked: () => number } {
  let asked = 0;
  const fabric = new FakeFabric();
  fabric.readBack = () => {
    asked++;
    return Promise.reject(InputError.at('/link', `the fabric has no "${LINK}"`, 'did you mean another?'));
  };
  return { fabric, asked: () => asked };
}

describe('what a fabric can not read back', () => {
  it('is refused at the fault that would turn it, with what the fabric says', async () => {
    const { fabric, asked } = forgetful();
    const error: unknown = await checkReadable([fault('first')], fabric).catch((caught: unknown) => caught);
    expect((error as InputError).issues).toEqual([
      {
        pointer: '/spec/faults/0',
        message: `link-cut: the fabric has no "${LINK}"`,
        hint: 'did you mean another?',
      },
    ]);
    expect(asked()).toBe(1);
  });

  it('is asked once, however often the fault turns it', async () => {
    let asked = 0;
    const fabric = new FakeFabric();
    fabric.readBack = () => {
      asked++;
      return Promise.resolve({});
    };
    await checkReadable([fault('first')], fabric);
    expect(asked).toBe(1);
  });
});
