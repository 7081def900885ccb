import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../core/prng.js';
import { InputError } from '../core/problem.js';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import { opticError } from './optic-error.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 1, gpusPerHost: 1 }),
);
const LINK = 'link:host-1/nic-0--leaf-1/p1';

const compile = (params: object, durationNs = 20e9) =>
  opticError.compile(opticError.parameters.parse(params), [{ type: 'link', id: LINK }], {
    topology,
    jobs: [],
    durationNs,
    random: new Prng(1),
  });

/** Its one impairment. */
const errors = (params: object) => {
  const [{ impairment, atNs, untilNs }, ...others] = compile(params).impairments;
  if (impairment.type !== 'bit-errors' || others.length > 0) throw new Error('not one of bit errors');
  return { ...impairment, atNs, untilNs };
};

describe('optic-error', () => {
  it('hurts what the lower end sends, by default, and says which way', () => {
    const { truth } = compile({ variant: 'constant', ber: 1e-3 });
    expect(errors({ variant: 'constant', ber: 1e-3 })).toEqual({
      type: 'bit-errors',
      link: LINK,
      fromPort: 'port:host-1/nic-0',
      bitErrorRatio: 1e-3,
      laneShare: 1,
      cause: 'connector',
      atNs: 0,
      untilNs: 20e9,
    });
    expect(truth[0]).toMatchObject({
      kind: 'optic-error',
      side: 'cable',
      direction: 'port:host-1/nic-0',
    });
    expect(truth[0].elements[0].id).toBe(LINK);
  });

  it.each([
    ['connector', 'lower', 'cable'],
    ['laser', 'lower', 'host'],
    ['laser', 'upper', 'switch'],
    ['serdes', 'upper', 'switch'],
    ['serdes', 'both', 'unknown'],
  ])('by a %s at the end %s sits in the %s', (cause, from, side) => {
    expect(compile({ variant: 'constant', cause, from }).truth[0].side).toBe(side);
  });

  it('counts lanes that err as their share', () => {
    expect(errors({ variant: 'constant', badLanes: 1, lanes: 8 }).laneShare).toBe(1 / 8);
  });

  it('that ramps is one impairment for each direction', () => {
    expect(compile({ variant: 'ramped', from: 'both' }).impairments).toHaveLength(2);
    const { bitErrorRatio, laterLevels } = errors({ variant: 'ramped', fromBer: 1e-6, toBer: 1e-3 });
    expect(bitErrorRatio).toBe(1e-6);
    expect(laterLevels).toHaveLength(49);
    expect(laterLevels![0].afterNs).toBe(20e9 / 50);
  });

  it('gets worse step by step, in equal times and ratios', () => {
    const growth = fc.record({
      steps: fc.integer({ min: 2, max: 20 }),
      fromBer: fc.double({ min: 1e-8, max: 1e-5, noNaN: true }),
      toBer: fc.double({ min: 1e-4, max: 1e-2, noNaN: true }),
    });
    fc.assert(
      fc.property(growth, (params) => {
        const { bitErrorRatio, laterLevels, untilNs } = errors({ variant: 'stepped', ...params });
        const found = [{ afterNs: 0, bitErrorRatio }, ...laterLevels!];
        expect(found).toHaveLength(params.steps);
        expect(found[0].bitErrorRatio / params.fromBer).toBeCloseTo(1, 9);
        expect(found[params.steps - 1].bitErrorRatio / params.toBer).toBeCloseTo(1, 9);
        for (let at = 1; at < found.length; at++) {
          expect(found[at].afterNs).toBeCloseTo((at * untilNs) / params.steps, -1);
          expect(found[at].bitErrorRatio / found[at - 1].bitErrorRatio).toBeCloseTo(
            (params.toBer / params.fromBer) ** (1 / (params.steps - 1)),
            6,
          );
        }
      }),
    );
  });

  it('promises lost packets only where FEC fails', () => {
    const metrics = (params: object): string[] =>
      opticError.symptoms(opticError.parameters.parse(params)).flatMap((symptom) => symptom.metrics);
    expect(metrics({ variant: 'constant', ber: 1e-4 })).not.toContain('port_rx_errors');
    expect(metrics({ variant: 'constant', ber: 1e-3 })).toContain('port_rx_errors');
    expect(metrics({ variant: 'constant', ber: 1e-3, badLanes: 1 })).not.toContain('port_rx_errors');
    expect(metrics({ variant: 'constant', cause: 'serdes' })).not.toContain('optic_rx_power_dbm');
  });

  it('refuses more levels than the hold has milliseconds', () => {
    expect(() => compile({ variant: 'ramped' }, 10e6)).toThrow(InputError);
  });

  it.each([
    ['more than half of all bits wrong', { variant: 'constant', ber: 0.6 }, '0.5'],
    ['what is healthy', { variant: 'constant', ber: 1e-12 }, '1e-9'],
    ['more bad lanes than lanes', { variant: 'constant', badLanes: 5, lanes: 4 }, 'more lanes'],
    ['errors that shrink', { variant: 'ramped', fromBer: 1e-3, toBer: 1e-4 }, 'grow'],
    ['a single step', { variant: 'stepped', steps: 1 }, '2'],
    ['an unknown cause', { variant: 'constant', cause: 'magic' }, 'connector'],
  ])('refuses %s in the file and names the limit', (_, params, word) => {
    const result = opticError.parameters.safeParse(params);
    expect(JSON.stringify(result.error?.issues)).toContain(word);
  });
});
