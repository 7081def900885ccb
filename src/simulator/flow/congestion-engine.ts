/**
 * Congestion between events: the steady state of the flows that run, and what it adds to counters as time goes by.
 *
 * After each change of the set of flows the equilibrium is asked; a set that was there before, on an unchanged fabric,
 * is not solved again. Where nothing is contended or held there is no picture, and rates are max-min. The state is
 * taken to hold from the first instant; what builds up on the way there is a transient.
 * Not modelled: the time in which a queue fills or drains.
 */
import { mix32 } from '../../kernel/prng.js';
import type { Counters } from './counters.js';
import type { Connections } from './connections.js';
import type { Picture, PictureMaker } from './congestion-picture.js';
import type { Equilibrium } from './equilibrium/equilibrium.js';
import type { FlowShape } from './flow-shape.js';
import { gain } from './gains.js';
import type { MaxMin } from './maxmin.js';
import type { PauseStorms } from './pause-storms.js';
import { potentialOf } from './potential.js';
import type { Rates } from './rates.js';
import type { Flow } from './running-flow.js';
import type { Signals } from './signals.js';
import type { SwitchClasses } from './switch-classes.js';

/** Sets of flows that are remembered. */
const MOST_KNOWN = 4096;
/** A word that tells a set of flows from another; sums wrap. */
const WORDS = 2 ** 21;

interface Known {
  check: number;
  count: number;
  picture: Picture | undefined;
}

export class CongestionEngine {
  /** What holds now; undefined where nothing is contended or held. */
  picture: Picture | undefined;
  /** False: every set is solved again. */
  reuse = true;
  private readonly known = new Map<number, Known>();
  private knownVersion = -1;
  /** Sums over the running flows. */
  private key = 0;
  private check = 0;
  private count = 0;
  private accountedNs = 0;

  constructor(
    private readonly equilibrium: Equilibrium,
    private readonly maker: PictureMaker,
    private readonly counters: Counters,
    private readonly connections: Connections,
    private readonly rates: Rates,
    private readonly signals: Signals,
    private readonly switches: SwitchClasses,
    private readonly storms: PauseStorms,
    private readonly solver: MaxMin,
  ) {}

  /** Grows when the state may be another although the flows are the same. */
  get version(): number {
    return this.rates.version + this.signals.version + this.switches.version + this.storms.version;
  }

  /** A flow begins, or ends, to take part. */
  enter(shape: FlowShape, classIndex: number): void {
    this.weigh(shape, classIndex, 1);
  }

  leave(shape: FlowShape, classIndex: number): void {
    this.weigh(shape, classIndex, -1);
  }

  /** Counts the time since the last call as the present picture says. */
  account(nowNs: number): void {
    const spanNs = nowNs - this.accountedNs;
    this.accountedNs = nowNs;
    const { picture, counters } = this;
    if (spanNs === 0 || picture === undefined) return;
    gain(picture.gains, spanNs);
    for (const { classIndex, direction, mostBytes, rate, bytes } of picture.queues) {
      // A state that held for less than a queue needs to build up never saw its peak.
      const seen = Math.max(bytes, Math.min(mostBytes, rate * spanNs));
      if (seen > counters.queuedMost[classIndex][direction]) {
        counters.queuedMost[classIndex][direction] = seen;
      }
    }
    for (const [device, , mostBytes] of picture.buffers) {
      counters.bufferUsedMost[device] = Math.max(counters.bufferUsedMost[device], mostBytes);
    }
  }

  /** Finds the state of these flows, those that cross the fabric, in their fixed order; it holds from now on. */
  find(flows: readonly Flow[]): Picture | undefined {
    const picture = this.look(flows);
    if (picture !== this.picture) this.show(picture);
    return picture;
  }

  private look(flows: readonly Flow[]): Picture | undefined {
    const version = this.version + this.connections.epoch + this.connections.wireVersion;
    if (version !== this.knownVersion || this.known.size >= MOST_KNOWN) this.known.clear();
    this.knownVersion = version;
    const key = this.key * WORDS + (this.check % WORDS);
    const found = this.known.get(key);
    if (this.reuse && found?.check === this.check && found.count === this.count) return found.picture;
    const picture = this.solve(flows);
    this.known.set(key, { check: this.check, count: this.count, picture });
    return picture;
  }

  private solve(flows: readonly Flow[]): Picture | undefined {
    if (flows.length === 0 && !this.storms.some) return undefined;
    const asked = flows.map(({ shape, classIndex, variable }) => {
      const { links, coefficients, linkCount } = shape!;
      const { paths, pathQps } = shape!.paths();
      const potential = potentialOf(shape!, variable, this.solver, this.rates);
      const qps = paths.count;
      return { links, coefficients, count: linkCount, classIndex, potential, qps, paths, pathQps };
    });
    const result = this.equilibrium.solve(asked);
    return result.congested || this.storms.some ? this.maker.make(asked, result) : undefined;
  }

  private show(picture: Picture | undefined): void {
    const { counters } = this;
    for (const { classIndex, direction } of this.picture?.ahead ?? [])
      counters.setAhead(classIndex, direction, 0);
    for (const { classIndex, direction } of this.picture?.queues ?? [])
      counters.queued[classIndex][direction] = 0;
    for (const [device] of this.picture?.buffers ?? []) counters.bufferUsed[device] = 0;
    this.picture = picture;
    for (const { classIndex, direction, bytes } of picture?.ahead ?? [])
      counters.setAhead(classIndex, direction, bytes);
    for (const { classIndex, direction, bytes } of picture?.queues ?? [])
      counters.queued[classIndex][direction] = bytes;
    for (const [device, bytes] of picture?.buffers ?? []) counters.bufferUsed[device] = bytes;
  }

  private weigh(shape: FlowShape, classIndex: number, sign: number): void {
    const first = mix32((shape.id << 3) ^ classIndex);
    this.key = (this.key + sign * first) >>> 0;
    this.check = (this.check + sign * mix32(first ^ 0x9e3779b9)) >>> 0;
    this.count += sign;
  }
}
