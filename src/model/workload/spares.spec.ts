/**
 * Which hosts can take over the ranks of another, and what placement results.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isLocal } from './channels.js';
import { movedPlacement, ranksByHost, spareHosts, whyNoSpare, type GpuUse } from './spares.js';
import { smallTopology } from './testing/small-topology.js';

const topology = smallTopology({ hosts: 5, gpusPerHost: 4, leaves: 1 });
const host = (name: string): number => topology.devices.find((device) => device.name === name)!.index;
/** Ranks on GPUs given as host number (from 1) and position. */
const placed = (...gpus: [number, number][]): Int32Array =>
  Int32Array.from(gpus, ([number, position]) => (number - 1) * 4 + position);
const whole = (...hosts: number[]): [number, number][] =>
  hosts.flatMap((number) => [0, 1, 2, 3].map((position): [number, number] => [number, position]));
const named = (hosts: number[]): string[] => hosts.map((index) => topology.devices[index].name);

describe('hosts that can take over', () => {
  it('are the idle ones first, then those with just these positions free', () => {
    const use: GpuUse = {
      topology,
      placements: [placed([1, 0], [1, 1], [2, 0], [2, 1]), placed([3, 2], [3, 3])],
    };
    expect(named(spareHosts(use, 0, host('host-1')))).toEqual(['host-4', 'host-5', 'host-3']);
  });

  it('are the better the nearer: under the same leaf before others', () => {
    const twoLeaves = smallTopology({ hosts: 6, gpusPerHost: 2, leaves: 2 });
    const hosts = (from: number): string[] =>
      spareHosts({ topology: twoLeaves, placements: [Int32Array.from([0, 1, 6, 7])] }, 0, from).map(
        (index) => twoLeaves.devices[index].name,
      );
    const [first, , , fourth] = twoLeaves.devices.filter(({ role }) => role === 'host');
    expect(hosts(first.index)).toEqual(['host-2', 'host-3', 'host-5', 'host-6']);
    expect(hosts(fourth.index)).toEqual(['host-5', 'host-6', 'host-2', 'host-3']);
  });

  it('are none when all GPUs run ranks, and the reason says which are taken', () => {
    const use: GpuUse = { topology, placements: [placed(...whole(1, 2, 3)), placed(...whole(4, 5))] };
    expect(spareHosts(use, 0, host('host-1'))).toEqual([]);
    expect(whyNoSpare(use, 0, host('host-1'), host('host-4'))).toBe('GPUs 0, 1, 2, 3 of host-4 are not free');
  });

  it('are never the host itself, a switch, a closed host, or one with ranks of the same job', () => {
    const use: GpuUse = {
      topology,
      placements: [placed([1, 0], [2, 3])],
      closed: new Set([host('host-5')]),
    };
    const why = (to: string) => whyNoSpare(use, 0, host('host-1'), host(to));
    expect(why('host-1')).toBe('host-1 is the host that they leave');
    expect(why('leaf-1')).toBe('leaf-1 is a switch');
    expect(why('host-5')).toMatch(/drained, or stores checkpoints/);
    expect(why('host-2')).toBe('host-2 runs ranks of the same job');
    expect(named(spareHosts(use, 0, host('host-1')))).toEqual(['host-3', 'host-4']);
  });

  it('give a placement in which the same ranks talk over the fabric, each at its own position', () => {
    const share = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 3 })), {
      minLength: 2,
      maxLength: 12,
      selector: ([number, position]) => number * 4 + position,
    });
    fc.assert(
      fc.property(share, (gpus) => {
        const placement = placed(...gpus);
        const use: GpuUse = { topology, placements: [placement] };
        for (const from of ranksByHost(placement, topology).keys()) {
          for (const to of spareHosts(use, 0, from)) {
            const moved = movedPlacement(placement, topology, from, to);
            expect(new Set(moved).size).toBe(placement.length);
            expect([...ranksByHost(moved, topology).keys()]).not.toContain(from);
            for (let one = 0; one < placement.length; one++) {
              expect(topology.gpus[moved[one]].position).toBe(topology.gpus[placement[one]].position);
              for (let other = 0; other < one; other++) {
                expect(isLocal(topology, moved[one], moved[other])).toBe(
                  isLocal(topology, placement[one], placement[other]),
                );
              }
            }
          }
        }
      }),
    );
  });
});
