/**
 * Congestion between events: the steady state of the flows that run, and what it adds to counters as time goes by.
 *
 * After each change of the set of flows the groups that it touched are solved; those in contention have the rates of the
 * equilibrium in place of max-min. A group's set that was there before, on an unchanged fabric, is not solved again, nor
 * is one of groups whose buffers meet. The state is taken to hold from the first instant; what builds up on the way
 * there is a transient. Not modelled: the time in which a queue fills or drains.
 */
import type { Counters } from '../sampling/counters.js';
import type { Connections } from '../transport/connections.js';
import type { CongestedFlow, Picture, PictureMaker } from './congestion-picture.js';
import { ContentionGroups, mapKey, sameSet } from './contention-groups.js';
import type { Equilibrium } from './equilibrium/equilibrium.js';
import type { FlowGroup, FlowSet, Piece } from './flow-group.js';
import { gain, type Gains } from './gains.js';
import { jointBuffers } from './joint-buffers.js';
import type { PauseStorms } from '../network/pause-storms.js';
import { Pieces } from './pieces.js';
import { potentialOf } from '../rates/potential.js';
import type { Rates } from '../rates/rates.js';
import type { Flow } from '../jobs/running-flow.js';
import type { SharedRates } from '../rates/shared-rates.js';
import type { Signals } from '../network/signals.js';
import type { StartTransients } from './start-transients.js';
import type { SwitchClasses } from '../network/switch-classes.js';

/** Sets of flows that are remembered. */
const MOST_KNOWN = 4096;
const NONE: readonly number[] = [];

/** What becomes of flows that share links: an equilibrium, unless nothing holds them. */
export interface SteadyState {
  solve(flows: readonly CongestedFlow[]): ReturnType<Equilibrium['solve']> | { congested: false };
}

export class CongestionEngine {
  /** False: every set is solved again. */
  reuse = true;
  /** Flows with rates of the equilibrium, piece after piece. */
  flows: readonly Flow[] = [];
  /** QPs that wait behind a pause without end; the same array while nothing has changed. */
  heldQps = NONE;
  private readonly pieces: Pieces;
  private readonly groups: ContentionGroups;
  /** Flows that have begun since the last look. */
  private readonly begun: Flow[] = [];
  /** Pictures of groups whose buffers meet. */
  private readonly joint = new Map<number, FlowSet & { picture: Picture }>();
  private knownVersion = -1;
  /** What storms themselves add to counters, and since when it is not counted. */
  private stormGains: Gains = [];
  private stormsSinceNs = 0;

  constructor(
    private readonly equilibrium: SteadyState,
    private readonly maker: PictureMaker,
    private readonly transients: StartTransients,
    counters: Counters,
    private readonly connections: Connections,
    private readonly rates: Rates,
    private readonly signals: Signals,
    private readonly switches: SwitchClasses,
    private readonly storms: PauseStorms,
    private readonly solver: SharedRates,
  ) {
    this.pieces = new Pieces(counters, 2 * rates.topology.links.length, rates.topology.devices.length);
    this.groups = new ContentionGroups(
      (flows) => this.solve(flows),
      () => this.reuse,
    );
  }

  /** Grows when the state may be another although the flows are the same. */
  get version(): number {
    return this.rates.version + this.signals.version + this.switches.version + this.storms.version;
  }

  /** What holds now, a piece for each contended group, or for groups whose buffers meet. */
  get shown(): readonly Piece[] {
    return this.pieces.shown;
  }

  /** The sender of a direction is held some of the time. */
  pauses(direction: number): boolean {
    return this.pieces.paused[direction] === 1;
  }

  /** Flows cross a queue (class × directions + direction) that sends nothing. */
  isStuck(queue: number): boolean {
    return this.pieces.isStuck(queue);
  }

  /**
   * A flow begins, or ends, to take part; one whose links change leaves and enters again.
   * @param begins it starts at line rate
   */
  enter(flow: Flow, begins: boolean): void {
    this.groups.enter(flow);
    if (begins && flow.shape!.crossesFabric) this.begun.push(flow);
  }

  leave(flow: Flow): void {
    this.groups.leave(flow);
  }

  /** Counts the time up to now as the present state says. */
  account(nowNs: number): void {
    this.pieces.account(nowNs);
    this.transients.account(nowNs);
    gain(this.stormGains, nowNs - this.stormsSinceNs);
    this.stormsSinceNs = nowNs;
  }

  /** Finds the state of the flows that have entered; it holds from now on. */
  find(nowNs: number): void {
    const { connections, groups } = this;
    const version = this.version + connections.epoch + connections.wireVersion;
    if (version !== this.knownVersion) {
      groups.forget();
      this.joint.clear();
      this.knownVersion = version;
      // Storms may have come or gone though nobody is contended.
      groups.review();
      this.compose(nowNs);
    } else if (groups.review()) this.compose(nowNs);
    this.begun.length = 0;
  }

  private compose(nowNs: number): void {
    const { pieces, storms } = this;
    if (!this.reuse) this.joint.clear();
    const next = this.join(this.groups.contended).map((part) => this.piece(part));
    if (this.begun.length > 0) this.begin(nowNs, next);
    for (const { groups } of pieces.shown) for (const group of groups) group.pieces = [];
    pieces.replace(nowNs, next);
    for (const piece of next) for (const group of piece.groups) group.pieces = [piece];
    this.flows = next.length === 0 ? [] : next.flatMap(({ flows }) => flows);
    const someHeld = next.some(({ picture }) => picture.heldQps.length > 0);
    this.heldQps = someHeld ? next.flatMap(({ picture }) => picture.heldQps) : NONE;
    if (!storms.some && this.stormGains.length === 0) return;
    gain(this.stormGains, nowNs - this.stormsSinceNs);
    this.stormsSinceNs = nowNs;
    this.stormGains = storms.some ? this.maker.stormGains((queue) => pieces.isStuck(queue)) : [];
  }

  /** Groups one by one, but for those whose buffers meet. */
  private join(groups: readonly FlowGroup[]): FlowGroup[][] {
    let parts = groups.map((group) => [group]);
    while (parts.length > 1) {
      const joined = jointBuffers(parts.map((part) => this.pictureOf(part).claims));
      if (joined.length === parts.length) break;
      const before = parts;
      parts = joined.map((indices) => {
        const together = indices.flatMap((index) => before[index]);
        return together.sort((one, other) => one.index - other.index);
      });
    }
    return parts;
  }

  /** What is shown already where neither flows nor the fabric have changed. */
  private piece(groups: FlowGroup[]): Piece {
    const set = setOf(groups);
    const flows = flowsOf(groups);
    const [shown, ...others] = groups[0].pieces;
    if (shown !== undefined && others.length === 0 && shown.version === this.knownVersion) {
      if (shown.groups.length === groups.length && sameSet(shown, set)) {
        shown.flows = flows;
        return shown;
      }
    }
    return { ...set, version: this.knownVersion, groups, flows, picture: this.pictureOf(groups), sinceNs: 0 };
  }

  private pictureOf(groups: readonly FlowGroup[]): Picture {
    if (groups.length === 1) return groups[0].picture!;
    const set = setOf(groups);
    const found = this.joint.get(mapKey(set));
    if (found !== undefined && sameSet(found, set)) return found.picture;
    if (this.joint.size >= MOST_KNOWN) this.joint.clear();
    const picture = this.solve(flowsOf(groups))!;
    this.joint.set(mapKey(set), { ...set, picture });
    return picture;
  }

  /** Counts what flows that begin leave behind where they meet a contended queue. */
  private begin(nowNs: number, next: readonly Piece[]): void {
    const { solver } = this;
    const all = new Set(this.begun);
    const rateOf = (flow: Flow, begins: boolean): number => {
      if (begins) return potentialOf(flow.shape!, flow.variable, solver, this.rates);
      return flow.overruled ? flow.rate : solver.rate(flow.variable);
    };
    for (const { flows, groups, picture } of next) {
      const met = flows.filter((flow) => all.has(flow));
      if (met.length === 0) continue;
      const before = new Set(groups.flatMap(({ pieces }) => pieces.map((piece) => piece.picture)));
      this.transients.begin(nowNs, [...before], picture, flows, met, rateOf, this.reuse);
    }
  }

  private solve(flows: readonly Flow[]): Picture | undefined {
    const asked = this.ask(flows);
    const result = this.equilibrium.solve(asked);
    return result.congested ? this.maker.make(asked, result) : undefined;
  }

  private ask(flows: readonly Flow[]): CongestedFlow[] {
    return flows.map(({ shape, classIndex, variable }) => {
      const { links, coefficients, linkCount } = shape!;
      const { paths, pathQps } = shape!.paths();
      const potential = potentialOf(shape!, variable, this.solver, this.rates);
      const qps = paths.count;
      return { links, coefficients, count: linkCount, classIndex, potential, qps, paths, pathQps };
    });
  }
}

const flowsOf = (groups: readonly FlowGroup[]): readonly Flow[] => groups.flatMap(({ flows }) => flows);

function setOf(groups: readonly FlowGroup[]): FlowSet {
  const set = { key: 0, check: 0, count: 0 };
  for (const { key, check, count } of groups) {
    set.key = (set.key + key) >>> 0;
    set.check = (set.check + check) >>> 0;
    set.count += count;
  }
  return set;
}
