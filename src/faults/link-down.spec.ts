import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../core/prng.js';
import { InputError } from '../core/problem.js';
import { parse } from 'yaml';
import { METRICS } from '../model/telemetry/catalog.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import type { CompiledFault } from './fault.js';
import { linkDown, type LinkDownParameters } from './link-down.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 1 }),
);
const link = (id: string): ElementRef => ({ type: 'link', id });
const UPLINK = topology.links.find(({ id }) => id.includes('leaf-1/') && id.includes('spine-1/'))!;
const VARIANTS = ['admin', 'cut', 'flap', 'one-way', 'lag-member', 'node'] as const;

const compile = (
  parameters: Record<string, unknown>,
  targets: ElementRef[] = [link(UPLINK.id)],
  durationNs = 20e9,
  seed = 1,
): CompiledFault =>
  linkDown.compile(linkDown.parameters.parse(parameters), targets, {
    topology,
    jobs: [],
    durationNs,
    random: new Prng(seed),
  });

describe('link-down', () => {
  it('cut is one cut of each link for the whole hold', () => {
    const targets = topology.links.slice(0, 3).map(({ id }) => link(id));
    const { impairments, truth } = compile({ variant: 'cut' }, targets);
    expect(impairments).toEqual(
      targets.map(({ id }) => ({ impairment: { type: 'link-cut', link: id }, atNs: 0, untilNs: 20e9 })),
    );
    expect(truth.map(({ kind, side, direction }) => [kind, side, direction])).toEqual(
      targets.map(() => ['link-down', 'cable', 'both']),
    );
  });

  it('admin shuts the upper end down unless told the lower, and both name the link', () => {
    const upper = compile({ variant: 'admin' }).impairments[0].impairment;
    const lower = compile({ variant: 'admin', end: 'lower' }).impairments[0].impairment;
    expect(upper).toMatchObject({ type: 'link-admin-down', port: expect.stringMatching(/^port:spine-1\//) });
    expect(lower).toMatchObject({ type: 'link-admin-down', port: expect.stringMatching(/^port:leaf-1\//) });
    expect(compile({ variant: 'admin' }).truth[0].side).toBe('configuration');
  });

  it('one-way loses what one end sends, and the truth says which', () => {
    const { impairments, truth } = compile({ variant: 'one-way', from: 'upper' });
    const { impairment } = impairments[0];
    expect(impairment).toMatchObject({
      type: 'blackhole',
      fromPort: expect.stringMatching(/^port:spine-1\//),
    });
    expect(truth[0]).toMatchObject({
      kind: 'one-way-loss',
      direction: (impairment as { fromPort: string }).fromPort,
    });
  });

  it('node takes the device down and nothing else', () => {
    const { impairments, truth } = compile({ variant: 'node' }, [{ type: 'device', id: 'device:spine-2' }]);
    expect(impairments.map(({ impairment }) => impairment)).toEqual([
      { type: 'node-down', device: 'device:spine-2' },
    ]);
    expect(truth[0]).toMatchObject({ kind: 'node-down', elements: [{ id: 'device:spine-2' }] });
  });

  it('of a NIC means the link of each of its ports', () => {
    const { impairments } = compile({ variant: 'cut' }, [{ type: 'nic', id: 'nic:host-1/nic-0' }]);
    expect(impairments.map(({ impairment }) => impairment)).toEqual([
      { type: 'link-cut', link: expect.stringContaining('host-1/nic-0--leaf-1/') },
    ]);
  });

  it('cuts all cables of a NIC with two ports as one failure of the NIC, and shuts its ports down as two', () => {
    const dual = buildTopology(
      topologySchema.parse({ builder: 'dual-tor-dual-plane', hosts: 2, gpusPerHost: 1, spinesPerPlane: 1 }),
    );
    const nic: ElementRef = { type: 'nic', id: 'nic:host-1/nic-0' };
    const context = { topology: dual, jobs: [], durationNs: 20e9, random: new Prng(1) };
    const compiled = (variant: string) =>
      linkDown.compile(linkDown.parameters.parse({ variant }), [nic], context);
    expect(compiled('cut').impairments).toHaveLength(2);
    expect(compiled('cut').truth).toEqual([
      expect.objectContaining({ kind: 'link-down', elements: [nic], side: 'host' }),
    ]);
    expect(compiled('admin').truth.map(({ side }) => side)).toEqual(['configuration', 'configuration']);
  });

  it('lag-member fails the target and siblings of it, each a fault of its own, and leaves at least one', () => {
    const parallel = buildTopology(
      topologySchema.parse({
        builder: 'leaf-spine',
        leaves: 2,
        spines: 2,
        linksPerSpine: 3,
        hostsPerLeaf: 1,
      }),
    );
    const members = parallel.links
      .filter(({ id }) => id.includes('leaf-1/') && id.includes('spine-2/'))
      .map(({ id }) => id);
    const context = { topology: parallel, jobs: [], durationNs: 20e9, random: new Prng(1) };
    const compiled = (parameters: object, id = members[1]) =>
      linkDown.compile(
        linkDown.parameters.parse({ variant: 'lag-member', ...parameters }),
        [link(id)],
        context,
      );
    const { impairments, truth } = compiled({ members: 2 });
    expect(impairments.map(({ impairment }) => impairment)).toEqual(
      [members[1], members[0]].map((id) => ({ type: 'link-cut', link: id })),
    );
    expect(truth.map(({ kind, elements }) => [kind, elements[0].id])).toEqual([
      ['link-down', members[1]],
      ['link-down', members[0]],
    ]);
    const silent = compiled({ how: 'one-way', from: 'upper' });
    expect(silent.impairments[0].impairment).toMatchObject({ type: 'blackhole', link: members[1] });
    expect(silent.truth[0].kind).toBe('one-way-loss');
    expect(() => compiled({ members: 3 })).toThrow(/at most 2/);
    expect(() => compiled({}, parallel.links.find(({ tier }) => tier === 'host-leaf')!.id)).toThrow(
      /no member of a LAG/,
    );
  });

  it('flap takes the link down in turns that do not overlap, within the hold, near the times asked for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 3000 }),
        fc.integer({ min: 100, max: 3000 }),
        fc.double({ min: 0, max: 0.9, noNaN: true }),
        fc.nat(),
        (downMs, upMs, jitter, seed) => {
          const parameters = { variant: 'flap', downFor: `${downMs}ms`, upFor: `${upMs}ms`, jitter };
          const { impairments } = compile(parameters, undefined, 20e9, seed);
          expect(impairments[0].atNs).toBe(0);
          for (const [index, { atNs, untilNs }] of impairments.entries()) {
            const downNs = untilNs - atNs;
            expect(downNs).toBeGreaterThan(0);
            expect(downNs).toBeLessThanOrEqual(downMs * 1e6 * (1 + jitter) + 1);
            expect(untilNs).toBeLessThanOrEqual(20e9);
            if (index === 0) continue;
            const upNs = atNs - impairments[index - 1].untilNs;
            expect(upNs).toBeGreaterThanOrEqual(upMs * 1e6 * (1 - jitter) - 1);
            expect(upNs).toBeLessThanOrEqual(upMs * 1e6 * (1 + jitter) + 1);
          }
          expect(compile(parameters, undefined, 20e9, seed).impairments).toEqual(impairments);
        },
      ),
    );
  });

  it('flap refuses more turns than anyone could undo', () => {
    expect(() => compile({ variant: 'flap', downFor: '1ms', upFor: '1ms' })).toThrow(InputError);
  });

  it('names in its truth the link with both its ends, for the whole hold', () => {
    for (const variant of ['admin', 'cut', 'flap', 'one-way']) {
      const [entry] = compile({ variant }).truth;
      expect(entry.elements.map(({ id }) => id).sort()).toEqual(
        [
          UPLINK.id,
          ...UPLINK.id
            .slice('link:'.length)
            .split('--')
            .map((port) => `port:${port}`),
        ].sort(),
      );
      expect([entry.fromNs, entry.toNs]).toEqual([0, 20e9]);
    }
  });

  it.each(VARIANTS)('%s has symptoms of catalogue metrics with a citation each', (variant) => {
    const known = new Set<string>(METRICS.map(({ name }) => name));
    const parameters = linkDown.parameters.parse({ variant });
    const symptoms = linkDown.symptoms(parameters);
    expect(symptoms.length).toBeGreaterThan(0);
    for (const { metrics, citation } of symptoms) {
      expect(metrics.length).toBeGreaterThan(0);
      expect(metrics.filter((metric) => !known.has(metric))).toEqual([]);
      expect(citation).not.toBe('');
    }
    expect(linkDown.allSymptoms()[variant]).toEqual(symptoms);
    const types = { node: ['device'], 'lag-member': ['link'] } as Record<string, string[]>;
    expect(linkDown.targetTypes(parameters)).toEqual(types[variant] ?? ['link', 'nic']);
  });

  it('has an example that is valid', () => {
    const [example] = parse(linkDown.example) as { kind: string; params: LinkDownParameters }[];
    expect(example.kind).toBe('link-down');
    expect(linkDown.parameters.safeParse(example.params).success).toBe(true);
  });
});
