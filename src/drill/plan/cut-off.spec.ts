/** Whom a fault leaves without any way, told before it is injected. */
import { describe, expect, it } from '@jest/globals';
import { deviceId } from '../../core/elements.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { FakeFabric, LINKS, planOfCuts } from '../testing/fake-fabric.js';
import { cutOffNotes } from './cut-off.js';

const { topology } = new FakeFabric().describe();
const link = (from: string, to: string): string => LINKS.find((id) => id.includes(from) && id.includes(to))!;

const notes = (...impairments: Impairment[]): string[] => {
  const plan = planOfCuts(impairments.map(() => ({ link: LINKS[0], fromS: 1, toS: 2 })));
  const [fault] = plan.faults;
  return cutOffNotes(
    [
      {
        ...fault,
        impairments: fault.impairments.map((one, at) => ({ ...one, impairment: impairments[at] })),
      },
    ],
    topology,
  );
};
const down = (from: string, to: string): Impairment => {
  const { id, portA } = topology.links.find((one) => one.id === link(from, to))!;
  return { type: 'link-admin-down', link: id, port: topology.ports[portA].name };
};

describe('whoever has no other way', () => {
  it('is told of a host whose only link is cut or shut down', () => {
    const cut: Impairment = { type: 'link-cut', link: link('host-1', 'leaf-1') };
    for (const impairment of [cut, down('host-1', 'leaf-1')])
      expect(notes(impairment)).toEqual([
        expect.stringMatching(/^cut cuts .*host-1.* off from the others: there is no other way$/),
      ]);
  });

  it('is told of what hangs on a device that is down', () => {
    expect(notes({ type: 'node-down', device: deviceId('leaf-1') }).join()).toMatch(/host-1/);
    expect(notes({ type: 'node-down', device: deviceId('spine-1') })).toEqual([]);
  });

  it('is told where all ways are gone together, not where one is left', () => {
    expect(notes(down('leaf-1', 'spine-1'))).toEqual([]);
    expect(notes(down('leaf-1', 'spine-1'), down('leaf-1', 'spine-2'))).not.toEqual([]);
  });

  it('is nobody where a fault only slows or corrupts', () => {
    expect(notes({ type: 'link-rate', link: link('host-1', 'leaf-1'), rateGbps: 1 })).toEqual([]);
  });
});
