/**
 * The bytes of each flow that wait in queues on their way, so that counters agree at every instant.
 *
 * A flow moves by what it delivers; bytes that wait have crossed every link before their queue and none after it. The
 * equilibrium says how many bytes each path is to have in each queue: what is missing there crosses the links before it
 * at the instant of the change, what is too much leaves as the flow delivers, and the tail of a flow that ends drains
 * the same way. So no counter ever falls, and what goes into a queue comes out of it, waits or is dropped. When a path
 * moves or breaks, what waits goes on by the old one as far as that still leads, and is sent again.
 * Not modelled: the time in which a queue fills.
 */
import type { Counters } from '../sampling/counters.js';
import type { Flow } from '../jobs/running-flow.js';
import type { FlowBacklog, FlowWaits } from './flow-backlog.js';
import type { Passage } from '../transport/passage.js';

/** Flows in contention, and what of each waits, in the same order. */
export interface Waiting {
  readonly flows: readonly Flow[];
  readonly picture: { readonly waits: readonly (FlowWaits | undefined)[] };
}

/** Bytes whose flow is gone, before the queue of `links[place]`, where a pause without end keeps them. */
interface Stranded {
  readonly classIndex: number;
  readonly links: Int32Array;
  readonly end: number;
  place: number;
  readonly bytes: number;
}

export class Backlog {
  /** Flows with bytes that wait, or are to. */
  readonly live = new Set<Flow>();
  private readonly shown: { classIndex: number; direction: number }[] = [];
  private readonly shownDevices: number[] = [];
  private stranded: Stranded[] = [];
  private followed: ReadonlyMap<Waiting, readonly Flow[]> = new Map();

  constructor(
    private readonly counters: Counters,
    private readonly fromDevice: Int32Array,
    private readonly passage: Passage,
  ) {}

  /**
   * From now on these flows are to have so much in queues, and no others.
   * @param pieces flows with rates of the equilibrium, and what of them waits
   * @param settle brings a flow's bytes up to date
   */
  follow(pieces: readonly Waiting[], settle: (flow: Flow) => void): void {
    this.retry();
    for (const flow of this.live) {
      if (flow.overruled) continue;
      settle(flow);
      this.aim(flow, undefined);
    }
    const followed = new Map<Waiting, readonly Flow[]>();
    for (const piece of pieces) {
      const { flows, picture } = piece;
      followed.set(piece, flows);
      if (this.followed.get(piece) === flows) continue;
      for (let at = 0; at < flows.length; at++) {
        const waits = picture.waits[at];
        if (waits === undefined && flows[at].backlog === undefined) continue;
        settle(flows[at]);
        this.aim(flows[at], waits);
      }
    }
    this.followed = followed;
  }

  /** From now on a flow's paths are to have so much in queues; its bytes are settled. */
  private aim(flow: Flow, waits: FlowWaits | undefined): void {
    if (flow.backlog === undefined) {
      if (waits === undefined) return;
      const { paths } = flow.shape!.paths();
      flow.backlog = { paths, waits: undefined, path: [], place: [], bytes: [], aim: [], delivered: 0 };
      this.live.add(flow);
    }
    const { backlog } = flow;
    if (backlog.waits === waits) return;
    this.drain(flow);
    merge(backlog, waits);
    this.grow(flow, backlog);
    if (waits === undefined) this.forgetEmpty(flow, backlog);
  }

  /** The flow ends, or leaves its paths: what still waits goes on by itself. Its bytes are settled and counted. */
  leave(flow: Flow): void {
    const { backlog, classIndex } = flow;
    if (backlog === undefined) return;
    this.drain(flow);
    const { paths, path, place, bytes } = backlog;
    const carried = this.counters.carried[classIndex];
    for (let at = 0; at < path.length; at++) {
      if (bytes[at] === 0) continue;
      for (let hop = paths.starts[path[at]]; hop < place[at]; hop++) carried[paths.links[hop]] += bytes[at];
      const end = paths.starts[path[at] + 1];
      this.goOn({ classIndex, links: paths.links, place: place[at], end, bytes: bytes[at] });
    }
    flow.backlog = undefined;
    this.live.delete(flow);
  }

  /** Lets bytes go on whose flow is gone and whose pause may have ended. */
  private retry(): void {
    if (this.stranded.length === 0) return;
    const { stranded } = this;
    this.stranded = [];
    for (const bytes of stranded) this.goOn(bytes);
  }

  private goOn(left: Stranded): void {
    const { classIndex, links, end, bytes } = left;
    for (; left.place < end; left.place++) {
      const fate = this.passage.attempt(classIndex, links[left.place], bytes);
      if (fate === 'waits') this.stranded.push(left);
      if (fate !== 'crosses') return;
    }
  }

  /** Brings gauges up to date; the bytes of all flows are settled. */
  show(): void {
    const { counters, shown, shownDevices } = this;
    for (const { classIndex, direction } of shown) {
      counters.queued[classIndex][direction] = 0;
      counters.ahead[classIndex][direction] = 0;
    }
    for (const device of shownDevices) counters.bufferUsed[device] = 0;
    shown.length = 0;
    shownDevices.length = 0;
    for (const flow of this.live) {
      this.drain(flow);
      const { backlog, classIndex } = flow;
      if (backlog!.waits === undefined) this.forgetEmpty(flow, backlog!);
      this.showFlow(classIndex, backlog!);
    }
    for (const { classIndex, links, place, bytes } of this.stranded) {
      this.showQueue(classIndex, links[place], bytes);
    }
    for (const { classIndex, direction } of shown) {
      const most = counters.queuedMost[classIndex];
      most[direction] = Math.max(most[direction], counters.queued[classIndex][direction]);
    }
    for (const device of shownDevices) {
      counters.bufferUsedMost[device] = Math.max(
        counters.bufferUsedMost[device],
        counters.bufferUsed[device],
      );
    }
  }

  private showFlow(classIndex: number, { paths, path, place, bytes }: FlowBacklog): void {
    const { counters, shown } = this;
    const queued = counters.queued[classIndex];
    const ahead = counters.ahead[classIndex];
    for (let at = 0; at < path.length; at++) {
      if (bytes[at] === 0) continue;
      this.showQueue(classIndex, paths.links[place[at]], bytes[at]);
      for (let hop = paths.starts[path[at]]; hop < place[at]; hop++) {
        const direction = paths.links[hop];
        if (queued[direction] === 0 && ahead[direction] === 0) shown.push({ classIndex, direction });
        ahead[direction] += bytes[at];
      }
    }
  }

  private showQueue(classIndex: number, direction: number, bytes: number): void {
    const { counters } = this;
    const queued = counters.queued[classIndex];
    const device = this.fromDevice[direction];
    if (queued[direction] === 0 && counters.ahead[classIndex][direction] === 0) {
      this.shown.push({ classIndex, direction });
    }
    if (counters.bufferUsed[device] === 0) this.shownDevices.push(device);
    queued[direction] += bytes;
    counters.bufferUsed[device] += bytes;
  }

  /** Takes off the queues what the flow has delivered beyond what should wait, and what its tail no longer fills. */
  private drain(flow: Flow): void {
    const backlog = flow.backlog!;
    const { paths, path, bytes, aim, delivered } = backlog;
    if (delivered === 0) return;
    backlog.delivered = 0;
    for (let first = 0, end = 0; first < path.length; first = end) {
      const weight = paths.weights[path[first]];
      let waiting = 0;
      for (end = first; end < path.length && path[end] === path[first]; end++) waiting += bytes[end];
      let budget = weight * delivered;
      for (let at = first; at < end && budget > 0; at++) {
        const less = Math.min(budget, Math.max(0, bytes[at] - aim[at]));
        bytes[at] -= less;
        waiting -= less;
        budget -= less;
      }
      let over = waiting - weight * flow.remaining;
      for (let at = first; at < end && over > 0; at++) {
        const less = Math.min(over, bytes[at]);
        bytes[at] -= less;
        over -= less;
      }
    }
  }

  /** Brings what is missing in queues, as far as the flow has bytes to send. */
  private grow(flow: Flow, { paths, path, bytes, aim }: FlowBacklog): void {
    for (let first = 0, end = 0; first < path.length; first = end) {
      let room = paths.weights[path[first]] * flow.remaining;
      for (end = first; end < path.length && path[end] === path[first]; end++) room -= bytes[end];
      for (let at = first; at < end && room > 0; at++) {
        const more = Math.min(room, Math.max(0, aim[at] - bytes[at]));
        bytes[at] += more;
        room -= more;
      }
    }
  }

  private forgetEmpty(flow: Flow, { bytes }: FlowBacklog): void {
    if (bytes.some((waiting) => waiting > 0)) return;
    flow.backlog = undefined;
    this.live.delete(flow);
  }
}

/** Takes over new aims; what waits where nothing is to wait any more stays until it has drained. */
function merge(backlog: FlowBacklog, waits: FlowWaits | undefined): void {
  const { path, place, bytes } = backlog;
  const merged = { path: [] as number[], place: [] as number[], bytes: [] as number[], aim: [] as number[] };
  const wanted = waits?.place.length ?? 0;
  let old = 0;
  let next = 0;
  while (old < place.length || next < wanted) {
    const oldPlace = old < place.length ? place[old] : Infinity;
    const nextPlace = next < wanted ? waits!.place[next] : Infinity;
    const here = Math.min(oldPlace, nextPlace);
    const has = oldPlace === here ? bytes[old] : 0;
    const aim = nextPlace === here ? waits!.bytes[next] : 0;
    if (has > 0 || aim > 0) {
      merged.path.push(oldPlace === here ? path[old] : waits!.path[next]);
      merged.place.push(here);
      merged.bytes.push(has);
      merged.aim.push(aim);
    }
    if (oldPlace === here) old++;
    if (nextPlace === here) next++;
  }
  Object.assign(backlog, merged, { waits });
}
