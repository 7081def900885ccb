/**
 * Congestion between events: the steady state of the flows that run, and what it adds to counters as time goes by.
 *
 * After each change of the set of flows the groups that it touched are asked whether they are contended; those that are
 * have a common picture, since they may share buffers, and the rates of the equilibrium in place of max-min. A set that
 * was there before, on an unchanged fabric, is not solved again. The state is taken to hold from the first instant; what
 * builds up on the way there is a transient.
 * Not modelled: the time in which a queue fills or drains.
 */
import type { Counters } from '../polls/counters.js';
import type { Connections } from '../transport/connections.js';
import type { CongestedFlow, Picture, PictureMaker } from './congestion-picture.js';
import { ContentionGroups, mapKey, sameSet, type FlowSet } from './contention-groups.js';
import type { Equilibrium } from '../equilibrium/equilibrium.js';
import { gain } from './gains.js';
import type { PauseStorms } from '../plant/pause-storms.js';
import { potentialOf } from '../sharing/potential.js';
import type { Rates } from '../sharing/rates.js';
import type { Flow } from '../jobs/running-flow.js';
import type { SharedRates } from '../sharing/shared-rates.js';
import type { Signals } from '../plant/signals.js';
import type { StartTransients } from './start-transients.js';
import type { SwitchClasses } from '../plant/switch-classes.js';

/** Sets of flows that are remembered. */
const MOST_KNOWN = 4096;

interface Known extends FlowSet {
  picture: Picture | undefined;
}

export class CongestionEngine {
  /** What holds now; undefined where nothing is contended or held. */
  picture: Picture | undefined;
  /** False: every set is solved again. */
  reuse = true;
  /** Those that the picture is about, in its order. */
  flows: readonly Flow[] = [];
  private readonly groups: ContentionGroups;
  /** Flows that have begun since the last look. */
  private readonly begun: Flow[] = [];
  private readonly known = new Map<number, Known>();
  private knownVersion = -1;
  private accountedNs = 0;

  constructor(
    private readonly equilibrium: Equilibrium,
    private readonly maker: PictureMaker,
    private readonly transients: StartTransients,
    private readonly counters: Counters,
    private readonly connections: Connections,
    private readonly rates: Rates,
    private readonly signals: Signals,
    private readonly switches: SwitchClasses,
    private readonly storms: PauseStorms,
    private readonly solver: SharedRates,
  ) {
    this.groups = new ContentionGroups(
      (flows) => equilibrium.solve(this.ask(flows)).congested,
      () => this.reuse,
    );
  }

  /** Grows when the state may be another although the flows are the same. */
  get version(): number {
    return this.rates.version + this.signals.version + this.switches.version + this.storms.version;
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

  /** Finds the state of the flows that have entered; it holds from now on. */
  find(): Picture | undefined {
    const { connections, groups, known } = this;
    const version = this.version + connections.epoch + connections.wireVersion;
    if (version !== this.knownVersion) {
      groups.forget();
      known.clear();
    }
    this.knownVersion = version;
    groups.review();
    this.flows = groups.contended.length === 0 ? [] : groups.contended.flatMap(({ flows }) => flows);
    const picture = this.flows.length === 0 && !this.storms.some ? undefined : this.look();
    const before = this.picture;
    if (picture !== before) this.show(picture);
    if (this.begun.length > 0) this.begin(before);
    return picture;
  }

  /** Counts what flows that begin leave behind where they meet a contended queue. */
  private begin(before: Picture | undefined): void {
    const { begun, flows, picture, solver } = this;
    if (picture?.congested) {
      const all = new Set(begun);
      const met = flows.filter((flow) => all.has(flow));
      const rateOf = (flow: Flow, begins: boolean): number => {
        if (begins) return potentialOf(flow.shape!, flow.variable, solver, this.rates);
        return flow.overruled ? flow.rate : solver.rate(flow.variable);
      };
      if (met.length > 0) this.transients.count(before, picture, flows, met, rateOf, this.reuse);
    }
    begun.length = 0;
  }

  private look(): Picture | undefined {
    const set = { key: 0, check: 0, count: 0 };
    for (const { key, check, count } of this.groups.contended) {
      set.key = (set.key + key) >>> 0;
      set.check = (set.check + check) >>> 0;
      set.count += count;
    }
    const found = this.reuse ? this.known.get(mapKey(set)) : undefined;
    if (found !== undefined && sameSet(found, set)) return found.picture;
    if (this.known.size >= MOST_KNOWN) this.known.clear();
    const asked = this.ask(this.flows);
    const result = this.equilibrium.solve(asked);
    const told = result.congested || this.storms.some;
    const picture = told ? this.maker.make(asked, result) : undefined;
    this.known.set(mapKey(set), { ...set, picture });
    return picture;
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
}
