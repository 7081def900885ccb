/**
 * Running flows in groups that share links, directly or through others, and the steady state of those in contention.
 *
 * What happens in one group is no business of another but for the buffers of switches (joint-buffers.ts), so its steady
 * state is a question about its own active flows, remembered by their set. Two sums of words per flow stand for the
 * set; they wrap, and both must agree. Groups only ever merge. Flows inside a host belong to a group as well, since they
 * share its scale-up network with flows that leave it; a group without any flow over the fabric is never asked about.
 */
import { mix32 } from '../../core/prng.js';
import type { FlowShape } from '../rates/flow-shape.js';
import { flowOrder, type Flow } from '../jobs/running-flow.js';
import type { Picture } from './congestion-picture.js';
import { FlowGroup, type FlowSet } from './flow-group.js';

/** Sets that a group remembers. */
const MOST_KNOWN = 4096;
const GOLDEN = 0x9e3779b9;

/** A number for the map; the rest of the set's identity is checked on a hit. */
export const mapKey = ({ key, check }: FlowSet): number => key * 2 ** 21 + (check & 0x1fffff);

export const sameSet = (one: FlowSet, other: FlowSet): boolean =>
  one.key === other.key && one.check === other.check && one.count === other.count;

export class ContentionGroups {
  /** Contended ones, in order of creation. */
  contended: FlowGroup[] = [];
  private readonly all: FlowGroup[] = [];
  private readonly dirty: FlowGroup[] = [];
  private readonly groupOfLink: (FlowGroup | undefined)[] = [];
  private readonly groupOfFlow = new Map<Flow, FlowGroup>();
  private readonly groupOfShape = new WeakMap<FlowShape, { version: number; group: FlowGroup }>();

  constructor(
    /** Steady state of a group's flows, undefined where the fabric does not hold them. */
    private readonly solve: (flows: readonly Flow[]) => Picture | undefined,
    private readonly reuse: () => boolean,
  ) {}

  /** A flow begins to take part; it must leave before its shape changes. */
  enter(flow: Flow): void {
    const group = this.groupOf(flow.shape!);
    this.groupOfFlow.set(flow, group);
    this.weigh(group, flow, 1);
    if (!flow.shape!.crossesFabric) return;
    group.crossing = true;
    const { flows } = group;
    let at = flows.length;
    while (at > 0 && flowOrder(flows[at - 1], flow) > 0) at--;
    flows.splice(at, 0, flow);
  }

  leave(flow: Flow): void {
    const group = rootOf(this.groupOfFlow.get(flow)!);
    this.groupOfFlow.delete(flow);
    this.weigh(group, flow, -1);
    if (flow.shape!.crossesFabric) group.flows.splice(group.flows.indexOf(flow), 1);
  }

  /** The fabric has changed: nothing that was known holds. */
  forget(): void {
    for (const group of this.all) {
      group.known.clear();
      if (group.flows.length > 0 || group.picture !== undefined) this.touch(group);
    }
  }

  /** Brings `contended` and the groups' pictures up to date with what has entered and left; true if anything has. */
  review(): boolean {
    if (this.dirty.length === 0) return false;
    let changed = false;
    for (const group of this.dirty) {
      group.dirty = false;
      const before = group.picture;
      group.picture =
        group.mergedInto === undefined && group.flows.length > 0 ? this.judge(group) : undefined;
      changed ||= (before === undefined) !== (group.picture === undefined);
    }
    this.dirty.length = 0;
    if (changed) this.contended = this.all.filter((group) => group.picture !== undefined);
    return true;
  }

  private judge(group: FlowGroup): Picture | undefined {
    const key = mapKey(group);
    const found = this.reuse() ? group.known.get(key) : undefined;
    if (found !== undefined && sameSet(found, group)) return found.picture;
    if (group.known.size >= MOST_KNOWN) group.known.clear();
    const picture = this.solve(group.flows);
    group.known.set(key, { key: group.key, check: group.check, count: group.count, picture });
    return picture;
  }

  private weigh(group: FlowGroup, { shape, classIndex }: Flow, sign: number): void {
    const word = mix32((shape!.id << 3) ^ classIndex);
    group.key = (group.key + sign * word) >>> 0;
    group.check = (group.check + sign * mix32(word ^ GOLDEN)) >>> 0;
    group.count += sign;
    if (group.crossing || shape!.crossesFabric) this.touch(group);
  }

  private touch(group: FlowGroup): void {
    if (group.dirty) return;
    group.dirty = true;
    this.dirty.push(group);
  }

  private groupOf(shape: FlowShape): FlowGroup {
    const known = this.groupOfShape.get(shape);
    if (known?.version === shape.version) return rootOf(known.group);
    let group: FlowGroup | undefined;
    for (let at = 0; at < shape.linkCount; at++) {
      const there = this.groupOfLink[shape.links[at]];
      if (there === undefined) continue;
      group = group === undefined ? rootOf(there) : this.merge(group, rootOf(there));
    }
    if (group === undefined) {
      group = new FlowGroup(this.all.length);
      this.all.push(group);
    }
    for (let at = 0; at < shape.linkCount; at++) this.groupOfLink[shape.links[at]] = group;
    this.groupOfShape.set(shape, { version: shape.version, group });
    return group;
  }

  private merge(one: FlowGroup, other: FlowGroup): FlowGroup {
    if (one === other) return one;
    const [kept, gone] = one.index < other.index ? [one, other] : [other, one];
    gone.mergedInto = kept;
    kept.pieces = [...kept.pieces, ...gone.pieces];
    kept.key = (kept.key + gone.key) >>> 0;
    kept.check = (kept.check + gone.check) >>> 0;
    kept.count += gone.count;
    kept.crossing ||= gone.crossing;
    kept.known.clear();
    kept.flows.push(...gone.flows.splice(0));
    kept.flows.sort(flowOrder);
    this.touch(kept);
    this.touch(gone);
    return kept;
  }
}

function rootOf(group: FlowGroup): FlowGroup {
  let root = group;
  while (root.mergedInto !== undefined) root = root.mergedInto;
  return root;
}
