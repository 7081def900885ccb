/**
 * What modules and cables are like in an untidy world: bit errors of healthy links, light, temperature, and how they are read.
 *
 * A link shorter than a rack is copper: it has no readings of light, and mostly no bit errors at all.
 */
import { hashText } from '../../core/prng.js';
import { directionFrom, type Topology } from '../../model/topology/model.js';
import { normalOf, poissonOf, uniformAt } from './draws.js';
import type { Level } from './levels.js';
import { idsOf, type World } from './world.js';

const HOUR_NS = 3600e9;
const DAY_NS = 24 * HOUR_NS;
/** 5 m at 5 ns a metre. */
const COPPER_NS = 25;
/** The worst decade of a badly kept plant. O7 */
const BAD_LOG10 = [-6, -5] as const;
/** Codewords of one frame that a link-up leaves uncorrectable. O9 */
const LOT = 4;

const cut = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));

export class OpticNoise {
  private readonly portIds: readonly string[];
  private readonly streams: Int32Array;

  constructor(
    private readonly world: World,
    private readonly topology: Topology,
  ) {
    this.portIds = idsOf(topology).ports;
    this.streams = Int32Array.from(this.portIds, (id) => hashText(id));
  }

  isCopper(port: number): boolean {
    const { delayNs, labels } = this.topology.links[this.topology.ports[port].link];
    return labels.medium === undefined ? delayNs <= COPPER_NS : labels.medium === 'copper';
  }

  /** Bit-error ratio before FEC of what a healthy port receives. @param tidy that of a quiet world */
  bitErrorRatio(port: number, tidy: number): number {
    const draw = this.isCopper(port) ? this.copperBer : this.opticBer;
    const id = this.portIds[port];
    return this.world.lasting('preFecBer', id, (level, uniform) => draw(level, uniform, id), tidy);
  }

  private readonly opticBer = ({ opticBer: ber }: Level, uniform: number, id: string): number => {
    const bad = this.world.uniform('bad-ber', id);
    const log10 =
      bad < ber.bad
        ? BAD_LOG10[0] + (BAD_LOG10[1] - BAD_LOG10[0]) * uniform
        : cut(ber.mean + ber.spread * normalOf(uniform), ...ber.cut);
    return 10 ** log10;
  };

  private readonly copperBer = ({ copperBer: ber }: Level, uniform: number, id: string): number =>
    this.world.uniform('error-free', id) < ber.exactZero
      ? 0
      : 10 ** (ber.mean + ber.spread * normalOf(uniform));

  /** Frames that arrive damaged though nothing ails the link that FEC would show. */
  frameLoss(port: number): number {
    return this.world.lasting(
      'frameLoss',
      this.portIds[port],
      ({ corruption: { share, log10 } }, uniform) =>
        uniform < share ? 10 ** (log10[0] + ((log10[1] - log10[0]) * uniform) / share) : 0,
      0,
    );
  }

  /** Uncorrectable codewords that the n-th coming up of a port leaves. */
  uncorrectableAtLinkUp(port: number, nth: number): number {
    const { level } = this.world;
    if (level === undefined) return 0;
    return (
      LOT * poissonOf(uniformAt(this.world.seedOf('link-up'), this.streams[port], nth), level.linkUpLots)
    );
  }

  /** Factor on the healthy ratio of a port at an instant: it drifts over hours. */
  drift(port: number, nowNs: number): number {
    const { level } = this.world;
    if (level === undefined) return 1;
    const { spread, perDegree } = level.berDrift;
    const slow = this.slow('ber-drift', port, nowNs);
    return 10 ** (spread * slow + perDegree * level.temperatureC.daySwing * this.overDay(nowNs));
  }

  /** Of a module, lasting: dBm launched, dB by which its readings are off, degrees C. */
  launchDbm(port: number, tidy: number): number {
    const draw = ({ launchDbm: { mean, spread } }: Level, uniform: number): number =>
      mean + spread * normalOf(uniform);
    return this.world.lasting('launchPower', this.portIds[port], draw, tidy);
  }

  powerErrorDb(port: number): number {
    const draw = ({ powerError: { spread, cut: most } }: Level, uniform: number): number =>
      cut(spread * normalOf(uniform), -most, most);
    return this.world.lasting('powerError', this.portIds[port], draw, 0);
  }

  temperatureC(port: number, tidy: number): number {
    const draw = ({ temperatureC: { mean, spread } }: Level, uniform: number): number =>
      mean + spread * normalOf(uniform);
    return this.world.lasting('moduleTemperature', this.portIds[port], draw, tidy);
  }

  /** How far a reading of power, or of temperature, is off just then: drift over the day, and noise. */
  powerReadingDb(port: number, stream: number, round: number, nowNs: number): number {
    const { level } = this.world;
    if (level === undefined) return 0;
    const { noise, dayDrift } = level.powerError;
    const drawn = normalOf(uniformAt(this.world.seedOf('dom-noise') + stream, this.streams[port], round));
    return noise * drawn + (dayDrift / 2) * this.overDay(nowNs);
  }

  warmingC(nowNs: number): number {
    return (this.world.level?.temperatureC.daySwing ?? 0) * this.overDay(nowNs);
  }

  /** Uniform number of a port and a poll, for counts of rare events. */
  luck(port: number, round: number, which: number): number {
    return uniformAt(this.world.seedOf('fec-count') + which, this.streams[port], round);
  }

  /** From -1 to 1 over a day, the same for all: the room. */
  private overDay(nowNs: number): number {
    return Math.sin(2 * Math.PI * (nowNs / DAY_NS + this.world.uniform('time-of-day', '')));
  }

  /** A standard normal that keeps its value for about an hour: hashed knots, joined so that the variance stays. */
  private slow(trait: string, port: number, nowNs: number): number {
    const seed = this.world.seedOf(trait);
    const knot = Math.floor(nowNs / HOUR_NS);
    const along = nowNs / HOUR_NS - knot;
    const [before, after] = [knot, knot + 1].map((one) => normalOf(uniformAt(seed, this.streams[port], one)));
    return (before * (1 - along) + after * along) / Math.hypot(1 - along, along);
  }
}

/** By direction, from figures by the port that receives. */
export const byReceiver = (topology: Topology, of: (port: number) => number): Float64Array => {
  const values = new Float64Array(2 * topology.links.length);
  for (const { index } of topology.ports) values[directionFrom(topology, index) ^ 1] = of(index);
  return values;
};
