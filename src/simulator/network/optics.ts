/**
 * Optical modules: launched and received power, laser bias and temperature of every port, each a little different.
 *
 * Launch power, loss of each way, bias and temperature are drawn once per port from the seed, in the range of 400G-DR4
 * and FR4 modules (launch -3..4 dBm, budget 3-4 dB). Received power is the peer's launch power less the loss, or the
 * floor when no light arrives. A bit-error ratio above the healthy one means less light than before, by the ratio of
 * the Gaussian Q factors, where fiber or laser cause it: a dirty connector loses it on the way, a dying laser launches
 * less at a higher bias and temperature, and a bad electrical half shows in no optical figure.
 * Not modelled: lanes (the worst one is meant), ageing without errors, temperature that follows load.
 */
import { hashText } from '../../core/prng.js';
import { directionFrom, peerPort, type Topology } from '../../model/topology/model.js';
import { normalAt, uniformAt } from '../noise/draws.js';
import type { OpticNoise } from '../noise/optic-noise.js';
import type { Signals } from './signals.js';

/** What a module reports when it receives nothing, dBm. */
export const DARK_DBM = -40;
/** dB by which a power moves per relative change: 10 / ln 10. */
const DB_PER_NEPER = 10 / Math.LN10;
/** A laser that fails launches less, drawing more current and getting warmer, per dB that is missing. */
const BIAS_RISE_PER_DB = 0.12;
const WARMING_PER_DB_C = 3;

export class Optics {
  private readonly launchDbm: Float64Array;
  private readonly lossDb: Float64Array;
  private readonly temperatureC: Float64Array;
  private readonly biasMa: Float64Array;
  /** How far a module's readings of power are off, for good. */
  private readonly errorDb: Float64Array;
  private readonly seed: number;

  /** @param noise relative noise of the sensors */
  constructor(
    private readonly topology: Topology,
    private readonly signals: Signals,
    private readonly noise: number,
    seed: number,
    /** Undefined in a quiet world. */
    private readonly untidy?: OpticNoise,
  ) {
    this.seed = hashText('optics', seed >>> 0);
    const drawn = (mean: number, spread: number, salt: number): Float64Array =>
      Float64Array.from(
        topology.ports,
        (port) => mean + spread * (2 * uniformAt(this.seed, hashText(port.name), salt) - 1),
      );
    this.launchDbm = drawn(1, 0.8, 1);
    this.lossDb = drawn(2, 0.7, 2);
    this.temperatureC = drawn(48, 6, 3);
    this.biasMa = drawn(60, 8, 4);
    this.errorDb = new Float64Array(topology.ports.length);
    if (untidy === undefined) return;
    for (const { index } of topology.ports) {
      this.launchDbm[index] = untidy.launchDbm(index, this.launchDbm[index]);
      this.errorDb[index] = untidy.powerErrorDb(index);
      this.temperatureC[index] = untidy.temperatureC(index, this.temperatureC[index]);
    }
  }

  txPowerDbm(port: number, round: number, nowNs = 0): number {
    return this.launched(port) + this.powerNoise(4 * port, round) + this.misread(port, 0, round, nowNs);
  }

  rxPowerDbm(port: number, lit: boolean, round: number, nowNs = 0): number {
    if (!lit) return DARK_DBM;
    const peer = peerPort(this.topology, port);
    const arriving = this.launched(peer) - this.lossDb[port] - this.missingDb(peer, 'connector');
    const read = arriving + this.powerNoise(4 * port + 1, round) + this.misread(port, 1, round, nowNs);
    return Math.max(DARK_DBM, read);
  }

  temperature(port: number, round: number, nowNs = 0): number {
    const room = this.untidy?.warmingC(nowNs) ?? 0;
    const warm = this.temperatureC[port] + room + WARMING_PER_DB_C * this.missingDb(port, 'laser');
    return warm * (1 + this.noise * normalAt(this.seed, 4 * port + 2, round));
  }

  biasCurrentMa(port: number, round: number): number {
    const driven = this.biasMa[port] * (1 + BIAS_RISE_PER_DB * this.missingDb(port, 'laser'));
    return driven * (1 + this.noise * normalAt(this.seed, 4 * port + 3, round));
  }

  private launched(port: number): number {
    return this.launchDbm[port] - this.missingDb(port, 'laser');
  }

  /** Light that what this port sends has lost for this cause, dB. */
  private missingDb(port: number, cause: 'connector' | 'laser'): number {
    const direction = directionFrom(this.topology, port);
    const condition = this.signals.condition(direction);
    if (condition?.cause !== cause) return 0;
    return powerPenaltyDb(this.signals.healthyBitErrorRatio(direction), condition.bitErrorRatio);
  }

  private misread(port: number, stream: number, round: number, nowNs: number): number {
    if (this.untidy === undefined) return 0;
    return this.errorDb[port] + this.untidy.powerReadingDb(port, stream, round, nowNs);
  }

  private powerNoise(stream: number, round: number): number {
    return DB_PER_NEPER * this.noise * normalAt(this.seed, stream, round);
  }
}

/** How much less light makes a receiver whose noise stays the same err so much more often, dB, at least 0. */
export function powerPenaltyDb(healthyRatio: number, ratio: number): number {
  if (ratio <= healthyRatio) return 0;
  return 10 * Math.log10(qualityFactor(healthyRatio) / qualityFactor(ratio));
}

/** Q for which half of erfc(Q / √2) is the bit-error ratio; at least 0.1, where next to nothing can be told. */
function qualityFactor(ratio: number): number {
  let low = 0.1;
  let high = 10;
  for (let round = 0; round < 60; round++) {
    const middle = (low + high) / 2;
    if (tail(middle) > ratio) low = middle;
    else high = middle;
  }
  return low;
}

/** Upper tail of the normal distribution: continued fraction of Laplace far out, series near the middle. */
function tail(x: number): number {
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  if (x > 2) {
    let fraction = x;
    for (let term = 60; term >= 1; term--) fraction = x + term / fraction;
    return density / fraction;
  }
  let sum = x;
  let power = x;
  for (let term = 1; term < 60; term++) sum += power *= (x * x) / (2 * term + 1);
  return 0.5 - density * sum;
}
