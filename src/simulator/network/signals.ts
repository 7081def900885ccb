/**
 * The signal on each link direction: bit errors before FEC, what FEC makes of them, and frames that it can't save.
 *
 * Healthy links have a pre-FEC bit-error ratio of 1e-12 to 7e-10, each its own (field values, SONiC FEC BER design). A
 * worse one goes through RS(544,514): more corrected codewords, then uncorrectable ones, and with each of those the
 * frames it touches. Three uncorrectable codewords in a row make the receiver lose its alignment (IEEE 802.3, clauses
 * 91 and 119), so the link drops; that happens at random, at codeword rate × ratio³. Counters hold expected values.
 * Not modelled: error bursts, codeword interleaving, lanes one by one (their share weighs the ratio), retiming.
 */
import { hashText } from '../../core/prng.js';
import {
  codewordErrorRatio,
  correctedCodewordRatio,
  FEC_PAYLOAD_BITS,
  FEC_CODES,
  frameLossRatio,
  symbolErrorRatio,
} from '../../model/telemetry/fec.js';
import { directionFrom, type Topology } from '../../model/topology/model.js';
import { packetBytes, type FabricSettings } from '../settings.js';
import { EVENT } from '../event-kind.js';
import type { EventQueue } from '../event-queue.js';
import { uniformAt } from '../noise/draws.js';
import { byReceiver, type OpticNoise } from '../noise/optic-noise.js';
import type { PhysicalLayer } from './physical-layer.js';
import type { Rates } from '../rates/rates.js';

/** Where bits go wrong: in the fiber and its connectors, in the sender's laser, or in its electrical half. */
export const SIGNAL_CAUSES = ['connector', 'laser', 'serdes'] as const;
export type SignalCause = (typeof SIGNAL_CAUSES)[number];

/** What is wrong with a direction. */
export interface SignalCondition {
  /** Of the lanes that are hit, before FEC. */
  bitErrorRatio: number;
  /** Share of the lanes that are hit, 0..1. */
  laneShare: number;
  cause: SignalCause;
}

/** Uncorrectable codewords in a row that end the alignment, and the time until it is found again. */
const BAD_IN_A_ROW = 3;
const REALIGN_NS = 50e6;
/** Rarer losses of alignment than one in so many ns never fall into a drill. */
const NEVER_NS = 1e17;

const HEALTHY_LEAST = 1e-12;
const HEALTHY_MOST = 7e-10;

export class Signals {
  /** By direction: probability that a full frame is lost at the receiver. */
  readonly frameLoss: Float64Array;
  /** As `frameLoss`, of an ACK or a notification. */
  readonly ackLoss: Float64Array;
  /** By direction, as counted at the receiver. */
  readonly codewords: Float64Array;
  readonly correctedCodewords: Float64Array;
  readonly uncorrectedCodewords: Float64Array;
  readonly symbolErrors: Float64Array;
  /** Directions that lose frames. */
  lossy = 0;
  /** Grows when some direction loses more or fewer frames than before. */
  version = 0;

  private readonly conditions = new Map<number, SignalCondition>();
  private readonly healthyRatio: Float64Array;
  /** Loss that no bit error explains. */
  private readonly describedLoss: Float64Array;
  private readonly ratio: Float64Array;
  /** Codewords per ns that arrive, and the shares of them that the counters take. */
  private readonly codewordRate: Float64Array;
  private readonly correctedShare: Float64Array;
  private readonly uncorrectedShare: Float64Array;
  private readonly symbolsEach: Float64Array;
  private readonly settledNs: Float64Array;
  private readonly pendingLoss: Int32Array;
  private readonly lossesDrawn: Int32Array;
  private readonly seed: number;

  constructor(
    private readonly topology: Topology,
    private readonly settings: FabricSettings,
    private readonly queue: EventQueue,
    private readonly physical: PhysicalLayer,
    private readonly rates: Rates,
    seed: number,
    private readonly noise?: OpticNoise,
  ) {
    this.seed = hashText('signals', seed >>> 0);
    const directions = 2 * topology.links.length;
    const numbers = (): Float64Array => new Float64Array(directions);
    this.frameLoss = numbers();
    this.ackLoss = numbers();
    this.codewords = numbers();
    this.correctedCodewords = numbers();
    this.uncorrectedCodewords = numbers();
    this.symbolErrors = numbers();
    this.ratio = numbers();
    this.codewordRate = numbers();
    this.correctedShare = numbers();
    this.uncorrectedShare = numbers();
    this.symbolsEach = numbers();
    this.settledNs = numbers();
    this.pendingLoss = new Int32Array(directions).fill(-1);
    this.lossesDrawn = new Int32Array(directions);
    const spread = Math.log(HEALTHY_MOST / HEALTHY_LEAST);
    this.healthyRatio = Float64Array.from({ length: directions }, (_, direction) => {
      const name = hashText(topology.links[direction >> 1].id, direction & 1);
      return HEALTHY_LEAST * Math.exp(spread * uniformAt(this.seed, name, 0));
    });
    if (noise === undefined)
      this.describedLoss = Float64Array.from(
        { length: directions },
        (_, direction) => topology.links[direction >> 1].lossRatio,
      );
    else {
      this.healthyRatio = byReceiver(topology, (port) =>
        noise.bitErrorRatio(port, this.healthyRatio[directionFrom(topology, port) ^ 1]),
      );
      this.describedLoss = byReceiver(topology, (port) => {
        const { lossRatio } = topology.links[topology.ports[port].link];
        return 1 - (1 - lossRatio) * (1 - noise.frameLoss(port));
      });
    }
    for (let direction = 0; direction < directions; direction++) this.apply(0, direction);
    this.version = 0;
  }

  /** Bit-error ratio before FEC over all lanes. */
  bitErrorRatio(direction: number): number {
    return this.ratio[direction];
  }

  /** Of the code that all ports use. */
  get codewordSymbols(): number {
    return FEC_CODES[this.settings.fec].symbols;
  }

  healthyBitErrorRatio(direction: number): number {
    return this.healthyRatio[direction];
  }

  condition(direction: number): SignalCondition | undefined {
    return this.conditions.get(direction);
  }

  /** Codewords arrive at the receiver, whatever their state. */
  receives(direction: number): boolean {
    return this.codewordRate[direction] > 0;
  }

  set(nowNs: number, direction: number, condition: SignalCondition | undefined): void {
    if (condition === undefined) this.conditions.delete(direction);
    else this.conditions.set(direction, condition);
    this.apply(nowNs, direction);
  }

  /** A port that is down counts nothing, whatever light it sees. */
  portChanged(nowNs: number, port: number): void {
    const direction = directionFrom(this.topology, port) ^ 1;
    this.settle(nowNs, direction);
    this.codewordRate[direction] = this.arriving(direction);
    if (this.physical.operUp[port] === 1 && this.noise !== undefined) {
      const ups = this.physical.linkDownEvents[port];
      this.uncorrectedCodewords[direction] += this.noise.uncorrectableAtLinkUp(port, ups);
    }
  }

  /** A link lost or found its carrier, or its speed changed. */
  linkChanged(nowNs: number, link: number): void {
    for (const direction of [2 * link, 2 * link + 1]) {
      this.settle(nowNs, direction);
      this.follow(nowNs, direction);
    }
  }

  /** Brings a direction's counters up to date. */
  settle(nowNs: number, direction: number): void {
    const codewords = this.codewordRate[direction] * (nowNs - this.settledNs[direction]);
    this.settledNs[direction] = nowNs;
    if (codewords === 0) return;
    this.codewords[direction] += codewords;
    this.correctedCodewords[direction] += codewords * this.correctedShare[direction];
    this.uncorrectedCodewords[direction] += codewords * this.uncorrectedShare[direction];
    this.symbolErrors[direction] += codewords * this.symbolsEach[direction];
  }

  /** The receiver's alignment is lost now, or found again. */
  alignmentDue(nowNs: number, direction: number): void {
    this.pendingLoss[direction] = -1;
    if (this.physical.aligned[direction] === 0) {
      this.physical.setAligned(nowNs, direction, true);
      return;
    }
    this.pendingLoss[direction] = this.queue.schedule(nowNs + REALIGN_NS, EVENT.alignment, direction);
    this.physical.setAligned(nowNs, direction, false);
  }

  private apply(nowNs: number, direction: number): void {
    this.settle(nowNs, direction);
    const condition = this.conditions.get(direction);
    const healthy = this.healthyRatio[direction];
    const ratio =
      condition === undefined
        ? healthy
        : condition.laneShare * condition.bitErrorRatio + (1 - condition.laneShare) * healthy;
    this.ratio[direction] = ratio;
    const code = FEC_CODES[this.settings.fec];
    this.correctedShare[direction] = correctedCodewordRatio(ratio, code);
    this.uncorrectedShare[direction] = codewordErrorRatio(ratio, code);
    this.symbolsEach[direction] = code.symbols * symbolErrorRatio(ratio);
    const described = this.describedLoss[direction];
    const lossOf = (bytes: number): number => {
      const loss = 1 - (1 - described) * (1 - frameLossRatio(ratio, bytes, code));
      // Fewer than one frame in 1e15 is none in any drill, and must not cost a path review.
      return loss < 1e-15 ? 0 : loss;
    };
    this.ackLoss[direction] = lossOf(this.settings.ackBytes);
    this.setFrameLoss(direction, lossOf(packetBytes(this.settings)));
    this.follow(nowNs, direction);
  }

  private setFrameLoss(direction: number, loss: number): void {
    const before = this.frameLoss[direction];
    if (loss === before) return;
    this.lossy += Number(loss > 0) - Number(before > 0);
    this.frameLoss[direction] = loss;
    this.version++;
  }

  /** Codewords are counted while the port is up; a present risk of losing alignment gets its event. */
  private follow(nowNs: number, direction: number): void {
    this.codewordRate[direction] = this.arriving(direction);
    if (this.physical.aligned[direction] === 0) return;
    this.queue.cancel(this.pendingLoss[direction]);
    this.pendingLoss[direction] = -1;
    const hazard = this.sent(direction) * this.uncorrectedShare[direction] ** BAD_IN_A_ROW;
    if (!(hazard * NEVER_NS > 1)) return;
    const draw = uniformAt(this.seed, hashText('alignment', direction), this.lossesDrawn[direction]++);
    const afterNs = -Math.log1p(-draw) / hazard;
    this.pendingLoss[direction] = this.queue.schedule(nowNs + afterNs, EVENT.alignment, direction);
  }

  /** Codewords per ns on a direction whose receiver sees its carrier. */
  private sent(direction: number): number {
    const link = direction >> 1;
    return this.physical.carrier(link) ? this.rates.linkGbps[link] / FEC_PAYLOAD_BITS : 0;
  }

  /** As `sent`, of a receiver whose port is up. */
  private arriving(direction: number): number {
    const { portA, portB } = this.topology.links[direction >> 1];
    return this.sent(direction) * this.physical.operUp[(direction & 1) === 0 ? portB : portA];
  }
}
