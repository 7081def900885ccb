/**
 * Optical modules: launched and received power and temperature of every port, each a little different.
 *
 * Launch power, loss of each way and temperature are drawn once per port from the seed, in the range of 400G-DR4 and
 * FR4 modules (launch -3..4 dBm, budget 3-4 dB). Received power is the peer's launch power less the loss, or the
 * floor when no light arrives. Not modelled: lanes, bias current, ageing, temperature that follows load.
 */
import { hashText } from '../../kernel/prng.js';
import { peerPort, type Topology } from '../../topology/model.js';
import { normalAt, uniformAt } from './noise.js';

/** What a module reports when it receives nothing, dBm. */
export const DARK_DBM = -40;
/** dB by which a power moves per relative change: 10 / ln 10. */
const DB_PER_NEPER = 10 / Math.LN10;

export class Optics {
  private readonly launchDbm: Float64Array;
  private readonly lossDb: Float64Array;
  private readonly temperatureC: Float64Array;
  private readonly seed: number;

  /** @param noise relative noise of the sensors */
  constructor(
    private readonly topology: Topology,
    private readonly noise: number,
    seed: number,
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
  }

  txPowerDbm(port: number, round: number): number {
    return this.launchDbm[port] + this.powerNoise(3 * port, round);
  }

  rxPowerDbm(port: number, lit: boolean, round: number): number {
    if (!lit) return DARK_DBM;
    const arriving = this.launchDbm[peerPort(this.topology, port)] - this.lossDb[port];
    return arriving + this.powerNoise(3 * port + 1, round);
  }

  temperature(port: number, round: number): number {
    return this.temperatureC[port] * (1 + this.noise * normalAt(this.seed, 3 * port + 2, round));
  }

  private powerNoise(stream: number, round: number): number {
    return DB_PER_NEPER * this.noise * normalAt(this.seed, stream, round);
  }
}
