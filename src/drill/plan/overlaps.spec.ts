import { describe, expect, it } from '@jest/globals';
import type { Impairment } from '../../fabric-api/impairment.js';
import { simulatedFabric, twoJobs } from '../../../test/support/simulated-fabric.js';
import { overlapNotes } from './overlaps.js';
import type { PlannedFault } from './plan.js';

const { topology } = simulatedFabric(twoJobs).describe();
const [link, otherLink] = topology.links.filter(({ tier }) => tier === 'leaf-spine');
const leaf = topology.devices[topology.ports[link.portA].device].name;

const fault = (name: string, impairment: Impairment, atS: number, untilS: number): PlannedFault =>
  ({
    name,
    impairments: [{ id: `${name}/0`, impairment, atNs: atS * 1e9, untilNs: untilS * 1e9 }],
  }) as PlannedFault;
const cut = (atS: number, untilS: number, id = link.id) =>
  fault('cut', { type: 'link-cut', link: id }, atS, untilS);
const slow = (atS: number, untilS: number) =>
  fault('slow', { type: 'link-rate', link: link.id, rateGbps: 10 }, atS, untilS);

describe('faults that overlap', () => {
  it('on one link are told with the time in which one hides the other', () => {
    expect(overlapNotes([cut(20, 40), slow(30, 60)], topology)).toEqual([
      `cut and slow both act on ${link.id.slice(5)} from 30 s to 40 s: while both hold the worse one shows and hides the other`,
    ]);
  });

  it('are told for a link of a device that is down as well', () => {
    const down = fault('down', { type: 'node-down', device: `device:${leaf}` }, 25, 35);
    expect(overlapNotes([cut(20, 40), down], topology)).toEqual([
      expect.stringMatching(new RegExp(`^cut and down both act on ${link.id.slice(5)} from 25 s to 35 s`)),
    ]);
  });

  it('say nothing one after the other, or on strangers', () => {
    expect(overlapNotes([cut(20, 30), slow(30, 40)], topology)).toEqual([]);
    expect(overlapNotes([cut(20, 40, otherLink.id), slow(20, 40)], topology)).toEqual([]);
    expect(overlapNotes([cut(20, 40)], topology)).toEqual([]);
  });
});
