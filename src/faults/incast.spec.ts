import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Impairment } from '../fabric-api/impairment.js';
import { incast } from './incast.js';
import { compileWith, idleJob, OVERSUBSCRIBED, refusalOf, topologyOf } from './testing/compile.js';

const RECEIVER = 'nic:host-1/nic-0';
type Traffic = Extract<Impairment, { type: 'traffic' }>;

const compile = (params: object, options = {}, target = RECEIVER) =>
  compileWith(incast, { variant: 'burst', ...params }, [target], options);
const flowsOf = (params: object, options = {}) =>
  compile(params, options).impairments.map(({ impairment }) => impairment as Traffic);

describe('incast', () => {
  it('has as many senders as asked for, on hosts of their own, never the receiver, drawn by the seed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 7 }), fc.nat(), (senders, seed) => {
        const [flow] = flowsOf({ senders }, { seed });
        const hosts = flow.fromNics.map((nic) => nic.split('/')[0]);
        expect(new Set(hosts).size).toBe(senders);
        expect(hosts).not.toContain('nic:host-1');
        expect(flow).toMatchObject({ toNic: RECEIVER, rateGbps: 400, priority: 3 });
        expect(flowsOf({ senders }, { seed })).toEqual([flow]);
      }),
    );
    const drawn = [1, 2, 3, 4, 5, 6].map((seed) => flowsOf({ senders: 3 }, { seed })[0].fromNics.join());
    expect(new Set(drawn).size).toBeGreaterThan(1);
  });

  it('keeps to the rail of the receiver', () => {
    const rails = topologyOf({ builder: 'rail-optimised', hosts: 4, gpusPerHost: 4, spines: 1 });
    const { impairments } = compileWith(incast, { variant: 'burst', senders: 3 }, ['nic:host-2/nic-3'], {
      topology: rails,
    });
    expect((impairments[0].impairment as Traffic).fromNics).toEqual([
      'nic:host-1/nic-3',
      'nic:host-3/nic-3',
      'nic:host-4/nic-3',
    ]);
  });

  it('from idle hosts leaves those with a rank of a job alone', () => {
    const jobs = [idleJob([0, 1, 2, 3, 4])];
    const [flow] = flowsOf({ senders: 3, from: 'idle' }, { jobs });
    expect(flow.fromNics).toEqual(['nic:host-6/nic-0', 'nic:host-7/nic-0', 'nic:host-8/nic-0']);
    expect(refusalOf(() => compile({ senders: 4, from: 'idle' }, { jobs }))).toMatchObject({
      pointer: '/params/senders',
      message: expect.stringContaining('without a rank of any job: 3'),
      hint: 'at most 3 senders',
    });
  });

  it('names the queue in front of the receiver, the pattern, and the receiver', () => {
    const { truth } = compile({ priority: 5, senders: 3 });
    expect(truth).toHaveLength(1);
    expect(truth[0]).toMatchObject({ kind: 'incast', fromNs: 0, toNs: 20e9 });
    expect(truth[0].elements.map(({ id }) => id)).toEqual([
      'queue:leaf-1/p1/5',
      'pattern:incast',
      'port:leaf-1/p1',
      RECEIVER,
      'port:host-1/nic-0',
      'device:host-1',
    ]);
  });

  it('checkpoint writes again and again, each write of its size', () => {
    const params = { variant: 'checkpoint', senders: 4, bytes: '1GB', every: '6s' };
    const { impairments } = compile(params);
    expect(impairments.map(({ atNs, untilNs }) => [atNs / 1e9, untilNs / 1e9])).toEqual([
      [0, 6],
      [6, 12],
      [12, 18],
      [18, 20],
    ]);
    for (const { impairment } of impairments) expect(impairment).toMatchObject({ bytesPerSender: 1e9 });
  });

  it('storage sends in turns that do not overlap and lie within the hold', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 3000 }),
        fc.integer({ min: 100, max: 3000 }),
        fc.nat(),
        (onMs, offMs, seed) => {
          const params = { variant: 'storage', senders: 4, burstFor: `${onMs}ms`, quietFor: `${offMs}ms` };
          const { impairments } = compile(params, { seed });
          impairments.forEach(({ atNs, untilNs }, index) => {
            expect(untilNs).toBeGreaterThan(atNs);
            expect(untilNs).toBeLessThanOrEqual(20e9);
            if (index > 0) expect(atNs).toBeGreaterThan(impairments[index - 1].untilNs);
          });
        },
      ),
    );
  });

  it('gives two loads on one receiver names of their own', () => {
    const names = [1, 2].map((seed) => flowsOf({ senders: 2 }, { seed })[0].name);
    expect(names[0]).not.toBe(names[1]);
  });

  it.each([
    ['more senders than other hosts', { senders: 8 }, '/params/senders', '7'],
    ['a rate above a sender’s NIC', { senders: 4, rate: '500Gbps' }, '/params/rate', '400Gbps'],
    ['what the port can take', { senders: 4, rate: '90Gbps' }, '/params/rate', '100Gbps'],
    [
      'writes that do not end before the next',
      { variant: 'checkpoint', senders: 7, bytes: '100GB' },
      '/params/every',
      '14.0 s',
    ],
    [
      'more bursts than anyone could undo',
      { variant: 'storage', senders: 2, burstFor: '1ms', quietFor: '1ms' },
      '/params/quietFor',
      '500',
    ],
  ])('refuses %s, naming the limit', (_, params, pointer, limit) => {
    const issue = refusalOf(() => compile(params));
    expect(issue.pointer).toBe(pointer);
    expect(`${issue.message} ${issue.hint}`).toContain(limit);
  });

  it.each([
    ['one sender', { senders: 1 }],
    ['a priority that is none', { priority: 8 }],
    ['no bytes', { bytes: '0B' }],
    ['no rate', { rate: '0Gbps' }],
  ])('refuses %s in the file', (_, params) => {
    expect(incast.parameters.safeParse({ variant: 'burst', ...params }).success).toBe(false);
  });

  it('meets both ports of a NIC that has two', () => {
    const dual = topologyOf({ builder: 'dual-tor-dual-plane', hosts: 4, gpusPerHost: 1, spinesPerPlane: 1 });
    const { truth, impairments } = compile({ senders: 2 }, { topology: dual });
    expect(impairments[0].impairment).toMatchObject({ rateGbps: 400 });
    expect(truth[0].elements.slice(0, 2).map(({ id }) => id)).toEqual([
      'queue:leaf-1/p1/3',
      'queue:leaf-2/p1/3',
    ]);
  });

  it('leaves the topology that it was given as it was', () => {
    const before = JSON.stringify(OVERSUBSCRIBED);
    compile({ senders: 7 });
    expect(JSON.stringify(OVERSUBSCRIBED)).toBe(before);
  });
});
