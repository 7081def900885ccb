/**
 * How long ports and control planes take, where the file does not say: drawn each time, by port and occasion.
 */
import { hashText } from '../../core/prng.js';
import { NS_PER } from '../../core/units.js';
import type { Topology } from '../../model/topology/model.js';
import { between, logNormalOf, uniformAt } from './draws.js';
import type { Level } from './levels.js';
import { idsOf, type World } from './world.js';

export type TimeKind = 'carrierDetection' | 'carrierDebounce' | 'routeRepair' | 'sessionRestore';

export class TimingNoise {
  private readonly streams: Int32Array;
  private readonly occasions: Int32Array;
  private readonly seeds: Readonly<Record<TimeKind, number>>;

  constructor(
    private readonly level: Level,
    world: World,
    private readonly topology: Topology,
  ) {
    this.streams = Int32Array.from(idsOf(topology).ports, (id) => hashText(id));
    this.occasions = new Int32Array(topology.ports.length);
    const seed = (kind: TimeKind): number => world.seedOf(kind);
    this.seeds = {
      carrierDetection: seed('carrierDetection'),
      carrierDebounce: seed('carrierDebounce'),
      routeRepair: seed('routeRepair'),
      sessionRestore: seed('sessionRestore'),
    };
  }

  /** @param quietNs what it takes in a quiet world */
  drawNs(kind: TimeKind, port: number, quietNs: number): number {
    const occasion = this.occasions[port]++;
    const uniform = uniformAt(this.seeds[kind], this.streams[port], occasion);
    const { reroute, portUp } = this.level;
    if (kind === 'carrierDebounce') {
      return NS_PER.s * Math.min(portUp.capS, logNormalOf(uniform, portUp.medianS, portUp.sigma));
    }
    const drawnNs = logNormalOf(uniform, quietNs * reroute.median, reroute.sigma);
    if (kind !== 'routeRepair') return drawnNs;
    const { share, byS } = reroute.late;
    const late = uniformAt(this.seeds[kind] + 1, this.streams[port], occasion);
    const waitsNs = late < share ? NS_PER.s * between(late / share, byS) : 0;
    return drawnNs + NS_PER.s * reroute.perPrefixS * this.topology.nics.length + waitsNs;
  }
}
