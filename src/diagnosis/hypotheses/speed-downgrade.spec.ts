import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import { QUALITY } from '../../model/telemetry/series.js';
import { diagnose } from '../index.js';
import type { Verdict } from '../index.js';
import { Scenario, withoutSamples } from '../testing/scenario.js';
import type { Trouble } from '../testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 3, spines: 3, hostsPerLeaf: 2, gpusPerHost: 2 }),
);
const rated = topology.links[0].rateGbps;
const slow = (at: number, rateGbps: number, from = 20, to = 40): Trouble => ({
  type: 'slow',
  at,
  rateGbps,
  from,
  to,
});
const scene = (troubles: Trouble[], seed = 1) => new Scenario(topology, [], troubles, [], seed).input();
const judge = (troubles: Trouble[]): Verdict => diagnose(scene(troubles));

describe('a slow link', () => {
  it('is named wherever it is, with its onset to half a poll', () => {
    fc.assert(
      fc.property(fc.nat(topology.links.length - 1), fc.integer({ min: 100, max: 350 }), (at, tenths) => {
        const { culprits } = judge([slow(at, rated / 4, tenths / 10, tenths / 10 + 10)]);
        expect(culprits).toHaveLength(1);
        expect(culprits[0]).toMatchObject({
          kind: 'speed-downgrade',
          element: { type: 'link', id: topology.links[at].id },
          direction: 'both',
        });
        expect(culprits[0].probability).toBeGreaterThan(0.99);
        expect(Math.abs((culprits[0].onset_s ?? NaN) - tenths / 10)).toBeLessThanOrEqual(0.6);
      }),
      { numRuns: 12 },
    );
  });

  it('has lost lanes when no two ports could have agreed on its speed', () => {
    const { culprits, answer } = judge([slow(3, (rated * 3) / 4)]);
    expect(culprits[0]).toMatchObject({ kind: 'speed-downgrade', side: 'cable' });
    expect(answer).toMatch(/lanes of the module or cable are lost/);
    expect(judge([slow(3, 100)]).answer).toMatch(/the speed alone does not tell which/);
  });

  it('that is slow, recovers and is slow again is one trouble, and each time is told', () => {
    const { culprits, answer } = judge([slow(3, 100, 10, 20), slow(3, 100, 40, 50)]);
    expect(culprits).toHaveLength(1);
    expect(answer).toMatch(/from [\d.]+ s until (19|20)[\d.]* s and again from (39|40)[\d.]* s until/);
  });

  it('is found when it was slow from the first poll to the last', () => {
    expect(judge([slow(3, 100, 0, 61)]).culprits[0]).toMatchObject({
      element: { id: topology.links[3].id },
      onset_s: null,
    });
  });

  it('is not inferred from a port that is down and has no speed', () => {
    const input = scene([{ type: 'cut', at: 3, from: 20, to: 40 }]);
    expect(diagnose(input).culprits.map(({ kind }) => kind)).toEqual(['link-down']);
    for (const series of input.evidence.series) {
      if (series.metric !== 'port_rate_gbps') continue;
      series.values.fill(NaN);
      series.quality.fill(QUALITY.notAvailable);
    }
    expect(diagnose(input).culprits.map(({ kind }) => kind)).toEqual(['link-down']);
  });

  it('that also went down is two faults of one link', () => {
    const { culprits } = judge([slow(3, 100), { type: 'cut', at: 3, from: 45, to: 55 }]);
    expect(culprits.map(({ kind }) => kind).sort()).toEqual(['link-down', 'speed-downgrade']);
    expect(new Set(culprits.map(({ element }) => element.id))).toEqual(new Set([topology.links[3].id]));
  });

  it('is told by one end when the other is silent', () => {
    const [one] = topology.ports[topology.links[3].portA].name.split('/');
    const mute = withoutSamples(scene([slow(3, 100)]), ({ element }) => !element.includes(`:${one}`));
    expect(diagnose(mute).culprits.map(({ element }) => element.id)).toEqual([topology.links[3].id]);
  });
});

describe('a device all of whose links are slow', () => {
  const leaf = topology.devices.find(({ name }) => name === 'leaf-2')!;
  const links = leaf.ports.map((port) => topology.ports[port].link);

  it('is named as one', () => {
    const { culprits } = judge(links.map((link) => slow(link, 100)));
    expect(culprits).toHaveLength(1);
    expect(culprits[0]).toMatchObject({
      kind: 'speed-downgrade',
      element: { type: 'device', id: 'device:leaf-2' },
      side: 'device',
    });
  });

  it('is not blamed when one of them runs at full speed', () => {
    const uplinks = links.filter((link) => topology.links[link].tier === 'leaf-spine');
    const oneEach = links.filter((link) => !uplinks.includes(link)).filter((_, index) => index % 2 === 0);
    const { culprits } = judge([...uplinks, ...oneEach].map((link) => slow(link, 100)));
    expect(culprits.map(({ element }) => element.type)).toEqual(culprits.map(() => 'link'));
    expect(culprits).toHaveLength(uplinks.length + oneEach.length);
  });
});

it('a speed that nobody told is not healthy', () => {
  const blind = withoutSamples(scene([]), ({ metric }) => metric !== 'port_rate_gbps');
  expect(diagnose(blind).faultFound).toBeNull();
});
