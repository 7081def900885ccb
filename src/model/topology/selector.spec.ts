import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../../core/prng.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import { resolveSelector, selectorSchema, type SelectorPredicate } from './selector.js';
import { buildTopology, topologySchema } from './topology-spec.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'rail-optimised', hosts: 4, segments: 2, gpusPerHost: 2, spines: 3 }),
);
const select = (source: object, seed = 1, predicate?: SelectorPredicate): string[] =>
  resolveSelector(selectorSchema.parse(source), topology, new Prng(seed), predicate).map(({ id }) => id);
const issueOf = (source: object, predicate?: SelectorPredicate): InputIssue => {
  try {
    select(source, 1, predicate);
  } catch (error) {
    if (error instanceof InputError) return error.issues[0];
    throw error;
  }
  throw new Error('the selector was accepted');
};

describe('target selector', () => {
  it('takes one by default, the first in the order of the topology', () => {
    expect(select({ type: 'device' })).toEqual(['device:leaf-1']);
    expect(select({ type: 'link', tier: 'leaf-spine' })).toEqual(['link:leaf-1/p3--spine-1/p1']);
  });

  it('combines filters', () => {
    expect(select({ type: 'device', tier: 'leaf', rail: 1, mode: 'all' })).toEqual([
      'device:leaf-2',
      'device:leaf-4',
    ]);
    expect(select({ type: 'link', tier: 'host-leaf', rail: 1, pod: 1, mode: 'all' })).toEqual([
      'link:host-3/nic-1--leaf-4/p1',
      'link:host-4/nic-1--leaf-4/p2',
    ]);
    expect(select({ type: 'device', tier: 'host', labels: { segment: '2' }, mode: 'all' })).toEqual([
      'device:host-3',
      'device:host-4',
    ]);
    expect(select({ type: 'nic', rail: 0, device: 'host-[2-3]', mode: 'all' })).toEqual([
      'nic:host-2/nic-0',
      'nic:host-3/nic-0',
    ]);
    expect(select({ type: 'port', tier: 'leaf', device: 'leaf-3', count: 2 })).toEqual([
      'port:leaf-3/p1',
      'port:leaf-3/p2',
    ]);
    expect(select({ type: 'link', device: 'spine-2', mode: 'all' })).toHaveLength(4);
  });

  it('finds links and ports by the labels of the devices that they belong to', () => {
    const segment = { labels: { segment: '2' }, mode: 'all' };
    expect(select({ type: 'link', tier: 'host-leaf', ...segment })).toEqual(
      select({ type: 'link', tier: 'host-leaf', device: 'host-[3-4]', mode: 'all' }),
    );
    expect(select({ type: 'port', tier: 'host', ...segment })).toEqual(
      select({ type: 'port', device: 'host-[3-4]', mode: 'all' }),
    );
    expect(issueOf({ type: 'link', labels: { segment: '9' } }).hint).toMatch(
      /^there is segment=1 and 2|segment=1, 2/,
    );
  });

  it('takes names, ids and patterns, in the order of the topology', () => {
    expect(select({ type: 'device', names: ['spine-2', 'device:leaf-1', 'host-*'], mode: 'all' })).toEqual([
      'device:leaf-1',
      'device:spine-2',
      'device:host-1',
      'device:host-2',
      'device:host-3',
      'device:host-4',
    ]);
    expect(select({ type: 'link', names: ['link:leaf-2/p4--spine-2/p2'] })).toEqual([
      'link:leaf-2/p4--spine-2/p2',
    ]);
  });

  it('takes a share, rounded up', () => {
    expect(select({ type: 'device', tier: 'spine', percent: 34 })).toHaveLength(2);
    expect(select({ type: 'device', tier: 'spine', percent: 1 })).toHaveLength(1);
    expect(select({ type: 'device', tier: 'spine', mode: 'percent', percent: 100 })).toHaveLength(3);
  });

  it('draws at random by the seed alone, and still lists in the order of the topology', () => {
    const source = { type: 'link', tier: 'leaf-spine', count: 4, order: 'random' };
    const all = select({ type: 'link', tier: 'leaf-spine', mode: 'all' });
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const chosen = select(source, seed);
        expect(select(source, seed)).toEqual(chosen);
        expect(all.filter((id) => chosen.includes(id))).toEqual(chosen);
        expect(new Set(chosen).size).toBe(4);
      }),
      { numRuns: 50 },
    );
    const seen = new Set(Array.from({ length: 200 }, (_, seed) => select(source, seed)).flat());
    expect(seen.size).toBe(all.length);
  });

  it('applies the caller’s filter last', () => {
    const odd = { description: 'usedBy odd', test: (id: string) => /[13]$/.test(id) };
    expect(select({ type: 'device', tier: 'leaf', mode: 'all' }, 1, odd)).toEqual([
      'device:leaf-1',
      'device:leaf-3',
    ]);
  });

  it('says which filter left nothing and how many were left before', () => {
    const issue = issueOf({ type: 'device', tier: 'leaf', rail: 7 });
    expect(issue).toMatchObject({ pointer: '/rail', hint: 'there is rail 0, 1' });
    expect(issue.message).toBe('rail 7 leaves no device: 11 devices, 4 after tier leaf, 0 after rail 7');
    expect(issueOf({ type: 'link', tier: 'leaf' }).hint).toBe('there is tier host-leaf, leaf-spine');
    expect(issueOf({ type: 'device', labels: { segmnt: '1' } }).hint).toMatch(/labels segment/);
    expect(issueOf({ type: 'device', labels: { segment: '9' } }).hint).toMatch(/segment=1, 2/);
    expect(issueOf({ type: 'link', device: 'spin-2' }).hint).toBe('did you mean "spine-2"?');
    expect(issueOf({ type: 'device', plane: 0 }).hint).toMatch(/none of these devices has a plane/);
    const none = { description: 'usedBy llm-z', test: () => false };
    expect(issueOf({ type: 'link' }, none).message).toMatch(/20 links, 0 after usedBy llm-z/);
  });

  it('reports every name that matches nothing, with the nearest', () => {
    expect(issueOf({ type: 'device', names: ['leaf-1', 'laef-2'] })).toMatchObject({
      pointer: '/names/1',
      hint: 'did you mean "leaf-2"?',
    });
    expect(issueOf({ type: 'device', names: ['core-*'] }).message).toMatch(/no device is called "core-\*"/);
    expect(issueOf({ type: 'device', names: ['leaf-[x]'] }).message).toMatch(/no pattern/);
  });

  it('refuses contradictions and more than there are', () => {
    expect(issueOf({ type: 'device', count: 2, percent: 50 }).pointer).toBe('/percent');
    expect(issueOf({ type: 'device', mode: 'count' }).message).toMatch(/needs a count/);
    expect(issueOf({ type: 'device', mode: 'percent' }).message).toMatch(/needs a percent/);
    expect(issueOf({ type: 'device', mode: 'all', count: 2 }).message).toMatch(/does not go with mode all/);
    expect(issueOf({ type: 'device', mode: 'one', percent: 2 }).message).toMatch(/does not go with mode one/);
    expect(issueOf({ type: 'device', tier: 'spine', count: 4 }).message).toMatch(/only 3 are left/);
  });
});
