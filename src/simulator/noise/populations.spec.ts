/**
 * Draws come from the distributions that the table of levels states.
 */
import { describe, expect, it } from '@jest/globals';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import { normalOf, poissonOf, uniformAt } from './draws.js';
import { levelOf, type Realism } from './levels.js';
import { ComputeNoise } from './compute-noise.js';
import { OpticNoise } from './optic-noise.js';
import { PollNoise } from './poll-noise.js';
import { World } from './world.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 16, spines: 8, hostsPerLeaf: 8, gpusPerHost: 8 }),
);
const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const spreadOf = (values: readonly number[]): number => {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
};
const traitOf = (world: World, trait: string): number[] => Object.values(world.record.traits[trait].values);

describe('draws', () => {
  it('know the quantiles of the normal distribution', () => {
    expect(normalOf(0.5)).toBeCloseTo(0, 6);
    expect(normalOf(0.975)).toBeCloseTo(1.959964, 5);
    expect(normalOf(0.001)).toBeCloseTo(-3.090232, 5);
    expect(Number.isFinite(normalOf(0))).toBe(true);
  });

  it.each([0.01, 0.7, 5, 39, 400])('count with mean and variance %d', (mean) => {
    const counts = Array.from({ length: 20_000 }, (_, index) => poissonOf(uniformAt(7, 1, index), mean));
    expect(Math.abs(meanOf(counts) - mean)).toBeLessThan(5 * Math.sqrt(mean / 20_000));
    expect(spreadOf(counts) ** 2 / mean).toBeCloseTo(1, 0);
  });
});

describe.each(['typical', 'rough'] as Realism[])('a population at %s', (realism) => {
  const level = levelOf(realism)!;
  const world = new World(realism, 3);

  it('of links has the stated bit-error ratios', () => {
    const optics = new OpticNoise(world, topology);
    const log10 = topology.ports.map(({ index }) => Math.log10(optics.bitErrorRatio(index, 1e-12)));
    const { mean, spread, cut } = level.opticBer;
    expect(log10.length).toBeGreaterThan(2000);
    expect(Math.abs(meanOf(log10) - mean)).toBeLessThan(0.15);
    expect(Math.abs(spreadOf(log10) - spread)).toBeLessThan(0.15);
    expect(Math.min(...log10)).toBeGreaterThanOrEqual(cut[0] - 1e-9);
    expect(Math.max(...log10)).toBeLessThanOrEqual(
      Math.max(cut[1], level.opticBer.bad > 0 ? -5 : -Infinity) + 1e-9,
    );
    const above = (line: number): number => log10.filter((one) => one > line).length / log10.length;
    const [billionth, millionth] = { typical: [0.34, 0], rough: [0.7, 0.06], quiet: [0, 0] }[realism];
    expect(Math.abs(above(-9) - billionth)).toBeLessThan(0.04);
    expect(Math.abs(above(-6) - millionth)).toBeLessThan(0.02);
  });

  it('of GPUs differs as much as the table says', () => {
    new ComputeNoise(world, topology, []);
    const factors = traitOf(world, 'computeFactor').filter((factor) => factor < 1.08);
    expect(Math.abs(meanOf(factors) - 1)).toBeLessThan(0.003);
    const spread = Math.hypot(level.gpuFactor.spread, level.hostFactor.spread);
    expect(Math.abs(spreadOf(factors) / spread - 1)).toBeLessThan(0.15);
  });

  it('of devices is asked all over an interval, with clocks that are off', () => {
    new PollNoise(world, topology);
    const phases = traitOf(world, 'pollPhase');
    expect(Math.abs(meanOf(phases) - 43.75)).toBeLessThan(10);
    const hosts = Object.entries(world.record.traits.clockOffset.values).flatMap(([id, value]) =>
      id.includes('host') && Math.abs(value) < 0.04 ? [value] : [],
    );
    expect(Math.abs(spreadOf(hosts) / level.clock.host - 1)).toBeLessThan(0.25);
  });
});
