import { describe, expect, it } from '@jest/globals';
import { Prng } from '../core/prng.js';
import { InputError } from '../core/problem.js';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import { straggler } from './straggler.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 4 }),
);

const compile = (params: object, ...hosts: string[]) =>
  straggler.compile(
    straggler.parameters.parse(params),
    hosts.map((name) => ({ type: 'device', id: `device:${name}` })),
    { topology, jobs: [], durationNs: 10e9, random: new Prng(1) },
  );

describe('straggler', () => {
  it('slows one GPU, or all of a host, and names the host and nothing of the network', () => {
    const { impairments, truth } = compile({ variant: 'gpu', gpu: 2, slowdown: 3 }, 'host-2');
    expect(impairments).toEqual([
      {
        impairment: { type: 'compute-slowdown', device: 'device:host-2', gpu: 2, factor: 3 },
        atNs: 0,
        untilNs: 10e9,
      },
    ]);
    expect(truth).toEqual([
      {
        kind: 'straggler',
        elements: [{ type: 'device', id: 'device:host-2' }],
        side: 'host',
        direction: 'both',
        fromNs: 0,
        toNs: 10e9,
      },
    ]);
    expect(compile({ variant: 'host' }, 'host-1', 'host-3').impairments).toHaveLength(2);
    expect(compile({ variant: 'host' }, 'host-1').impairments[0].impairment).not.toHaveProperty('gpu');
  });

  it.each([
    ['a GPU that the host has not', { variant: 'gpu', gpu: 4 }, 'host-1', '/params/gpu', '0, 1, 2'],
    ['a switch', { variant: 'host' }, 'leaf-1', '/target', 'host'],
  ])('refuses %s and says what there is', (_, params, host, pointer, choice) => {
    let error: unknown;
    try {
      compile(params, host);
    } catch (caught) {
      error = caught;
    }
    if (!(error instanceof InputError)) throw new Error('was accepted');
    expect(error.issues[0].pointer).toBe(pointer);
    expect(error.issues[0].hint).toContain(choice);
  });

  it.each([
    ['a speed-up', { variant: 'host', slowdown: 0.9 }],
    ['no change', { variant: 'host', slowdown: 1 }],
    ['a hung GPU', { variant: 'host', slowdown: 1000 }],
    ['a GPU of a whole host', { variant: 'host', gpu: 1 }],
    ['a broken position', { variant: 'gpu', gpu: 0.5 }],
  ])('refuses %s in the file', (_, params) => {
    expect(straggler.parameters.safeParse(params).success).toBe(false);
  });
});
