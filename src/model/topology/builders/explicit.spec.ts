import { describe, expect, it } from '@jest/globals';
import { InputError } from '../../../core/problem.js';
import type { Topology } from '../model.js';
import { buildTopology, topologySchema } from '../topology-spec.js';

const rate = '100Gbps';
const delay = '1us';
const link = (a: string, b: string, more: object = {}): object => ({ a, b, rate, delay, ...more });
const nodes = (switches: readonly string[], hosts: readonly string[]): object[] => [
  ...switches.map((name) => ({ role: 'switch', name })),
  ...hosts.map((name) => ({ role: 'host', name })),
];
const build = (source: object): Topology =>
  buildTopology(topologySchema.parse({ builder: 'explicit', ...source }));
const issuesOf = (source: object): readonly { pointer: string; message: string; hint?: string }[] => {
  try {
    build(source);
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
  return [];
};

describe('explicit topology', () => {
  it('infers tiers, rails and pods where they are not written', () => {
    const topology = build({
      nodes: nodes(['a', 'b', 'c', 'd', 'e', 'top'], ['h1', 'h2']),
      links: [
        link('h1/nic-0', 'a'),
        link('h1/nic-1', 'b'),
        link('h2/nic-0', 'c'),
        link('h2/nic-1', 'c'),
        link('a', 'd'),
        link('b', 'd'),
        link('c', 'e'),
        link('d', 'top'),
        link('e', 'top'),
      ],
    });
    const shown = topology.devices.map(({ name, tier, rail, pod }) => [name, tier, rail, pod]);
    expect(shown).toEqual([
      ['a', 'leaf', 0, 0],
      ['b', 'leaf', 1, 0],
      ['c', 'leaf', undefined, 1],
      ['d', 'spine', undefined, 0],
      ['e', 'spine', undefined, 1],
      ['top', 'core', undefined, undefined],
      ['h1', 'host', undefined, 0],
      ['h2', 'host', undefined, 1],
    ]);
    expect(topology.gpusPerHost).toBe(2);
  });

  it('takes port numbers, tiers, labels and loss as written', () => {
    const topology = build({
      nodes: [
        { role: 'switch', name: 'tor-a', tier: 'spine', labels: { row: '7' }, ports: 32 },
        { role: 'host', name: 'gpu-a' },
        { role: 'host', name: 'gpu-b' },
      ],
      links: [link('tor-a/p9', 'gpu-a', { loss: 0.01, labels: { cable: 'x' } }), link('gpu-b', 'tor-a')],
    });
    expect(topology.devices[0]).toMatchObject({ tier: 'spine', tierLevel: 2, labels: { row: '7' } });
    expect(topology.links.map(({ id }) => id)).toEqual([
      'link:gpu-a/nic-0--tor-a/p9',
      'link:gpu-b/nic-0--tor-a/p1',
    ]);
    expect(topology.links[0]).toMatchObject({ lossRatio: 0.01, labels: { cable: 'x' }, delayNs: 1000 });
    expect(topology.devices[0].ports.map((port) => topology.ports[port].name)).toEqual([
      'tor-a/p1',
      'tor-a/p9',
    ]);
  });

  it('finds the planes of dual-port NICs and of spines that serve one plane', () => {
    const topology = build({
      nodes: nodes(['a', 'b', 's0', 's1', 'top'], ['h1', 'h2']),
      links: [
        ...['h1', 'h2'].flatMap((host) => [link(`${host}/nic-0/p0`, 'a'), link(`${host}/nic-0/p1`, 'b')]),
        link('a', 's0'),
        link('b', 's1'),
        link('s0', 'top'),
        link('s1', 'top'),
      ],
    });
    expect(topology.devices.slice(0, 5).map(({ plane }) => plane)).toEqual([0, 1, 0, 1, undefined]);
  });

  it('routes across links between equals and up to mixed tiers', () => {
    expect(() =>
      build({
        nodes: nodes(['a', 'b', 'c'], ['h1', 'h2', 'h3']),
        links: [link('h1', 'a'), link('h2', 'b'), link('h3', 'c'), link('a', 'b'), link('b', 'c')],
      }),
    ).not.toThrow();
  });

  it('names a fabric in two islands', () => {
    const issues = issuesOf({
      nodes: nodes(['a', 'b'], ['h1', 'h2']),
      links: [link('h1', 'a'), link('h2', 'b')],
    });
    expect(issues).toHaveLength(1);
    expect(issues[0].message).toMatch(/2 islands .*h1\/nic-0 and 0 other NICs at a; h2\/nic-0/);
  });

  it('reports every mistake at once, each with its pointer', () => {
    const issues = issuesOf({
      nodes: nodes(['tor-a', 'tor-b', 'tor-c', 'tor-b'], ['h1', 'h2']),
      links: [
        link('h1', 'tor-x'),
        link('h2', 'tor-a/p4'),
        link('tor-a/p4', 'tor-b'),
        link('tor-b', 'tor-b'),
        link('tor-b', 'tor-a', { rate: '0Gbps' }),
      ],
    });
    expect(issues.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining([
        '/nodes/2',
        '/nodes/3',
        '/links/0/b',
        '/links/2/a',
        '/links/3',
        '/links/4/rate',
      ]),
    );
    expect(issues.find(({ pointer }) => pointer === '/links/0/b')?.hint).toMatch(/did you mean "tor-a"/);
  });

  it('refuses a name that a switch and a host share', () => {
    const issues = issuesOf({
      nodes: nodes(['a', 'b'], ['h1', 'b']),
      links: [link('h1', 'a'), link('b', 'a')],
    });
    expect(issues).toContainEqual({ pointer: '/nodes/3', message: 'the name b is used twice' });
  });

  it('refuses NICs with gaps, doubled ports, mixed spelling and a lone second port', () => {
    const base = nodes(['a'], ['h1', 'h2']);
    const messages = (...links: object[]): string =>
      issuesOf({ nodes: base, links: [link('h2', 'a'), ...links] })
        .map(({ message }) => message)
        .join('\n');
    expect(messages(link('h1/nic-1', 'a'))).toMatch(/h1 has nic-1 but no nic-0/);
    expect(messages(link('h1', 'a'), link('h1/nic-0', 'a'))).toMatch(/has a link already/);
    expect(messages(link('h1/nic-0', 'a'), link('h1/nic-0/p1', 'a'))).toMatch(/both with and without a port/);
    expect(messages(link('h1/nic-0/p1', 'a'))).toMatch(/p1 but no p0/);
    expect(messages(link('h1/eth0', 'a'))).toMatch(/no host end/);
    expect(messages(link('h1', 'h2/nic-1'))).toMatch(/both NICs/);
  });
});
