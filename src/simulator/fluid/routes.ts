/**
 * Ways through the fabric: every stream's links in order, and which way it takes now.
 *
 * A stream is a flow's data (even numbers) or its ACKs (odd). All links of all ways are numbered through as pairs
 * (way, link), so that a parcel needs one number and the next link is the next pair. A parcel keeps the way it was sent
 * on; where an old and the current way still share the link it comes from, it turns into the current one.
 */
import type { CongestionFlow, LinksDown } from './network.js';

export class Routes {
  /** First pair of each stream's way. */
  readonly current: Int32Array;
  /** Per pair: its link, the link before it (-1 at the sender), its stream, and the first pair after its way. */
  readonly linkOf: Int32Array;
  readonly linkBefore: Int32Array;
  readonly streamOf: Int32Array;
  readonly endOf: Int32Array;
  private readonly firstOf: Int32Array;
  /** Ways to take once links are down, as stream and first pair by turns. */
  private readonly later: number[] = [];

  constructor(flows: readonly CongestionFlow[], down?: LinksDown) {
    const ways: { stream: number; path: readonly number[] }[] = [];
    flows.forEach(({ path, ackPath }, flow) => {
      ways.push({ stream: 2 * flow, path }, { stream: 2 * flow + 1, path: ackPath });
    });
    for (const { flow, path, ackPath } of down?.reroutes ?? []) {
      if (path) ways.push({ stream: 2 * flow, path });
      if (ackPath) ways.push({ stream: 2 * flow + 1, path: ackPath });
    }
    const pairs = ways.reduce((sum, { path }) => sum + path.length, 0);
    this.current = new Int32Array(2 * flows.length).fill(-1);
    this.linkOf = new Int32Array(pairs);
    this.linkBefore = new Int32Array(pairs);
    this.streamOf = new Int32Array(pairs);
    this.endOf = new Int32Array(pairs);
    this.firstOf = new Int32Array(pairs);
    let first = 0;
    for (const { stream, path } of ways) {
      if (this.current[stream] < 0) this.current[stream] = first;
      else this.later.push(stream, first);
      path.forEach((link, hop) => {
        this.linkOf[first + hop] = link;
        this.linkBefore[first + hop] = hop > 0 ? path[hop - 1] : -1;
        this.streamOf[first + hop] = stream;
        this.endOf[first + hop] = first + path.length;
        this.firstOf[first + hop] = first;
      });
      first += path.length;
    }
  }

  /** From now on the ways around the links that went down. */
  reroute(): void {
    for (let index = 0; index < this.later.length; index += 2) {
      this.current[this.later[index]] = this.later[index + 1];
    }
  }

  /** The same place on the way that a parcel goes on from here. */
  onwards(pair: number): number {
    const current = this.current[this.streamOf[pair]];
    const first = this.firstOf[pair];
    if (current === first) return pair;
    const other = current + pair - first;
    return other < this.endOf[current] && this.linkOf[other] === this.linkOf[pair] ? other : pair;
  }

  /** Links of a stream's way now. */
  wayOf(stream: number): Int32Array {
    const first = this.current[stream];
    return this.linkOf.subarray(first, this.endOf[first]);
  }
}
