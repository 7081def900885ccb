import { describe, expect, it } from '@jest/globals';
import type { Impairment } from '../../fabric-api/impairment.js';
import type { PlannedFault } from './planned.js';
import { realismNotes } from './realism-notes.js';

const LINK = 'link:leaf-1/p1--spine-1/p1';
const CUT: Impairment = { type: 'link-cut', link: LINK };
const SLOW: Impairment = { type: 'link-rate', link: LINK, rateGbps: 10 };

const fault = (...impairments: Impairment[]): PlannedFault =>
  ({ impairments: impairments.map((impairment) => ({ impairment })) }) as unknown as PlannedFault;

describe('notes on realism', () => {
  const capabilities = new Map([
    ['link-cut', 'both ends are shut down'],
    ['link-rate', ''],
    ['blackhole', 'never mind'],
  ] as const);

  it('say once what each kind of impairment of the plan costs on this fabric', () => {
    const faults = [fault(CUT, CUT, SLOW), fault(CUT)];
    expect(realismNotes(faults, { name: 'lab', capabilities })).toEqual([
      'link-cut on lab: both ends are shut down',
    ]);
  });

  it('are none for what is real, or can’t be applied at all', () => {
    expect(realismNotes([fault(SLOW)], { name: 'lab', capabilities })).toEqual([]);
    expect(realismNotes([fault(CUT)], { name: 'lab', capabilities: new Map() })).toEqual([]);
  });
});
