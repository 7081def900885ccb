/**
 * Ways through the fabric: every stream's links in order, and which way it takes now.
 *
 * A stream is a flow's data (even numbers) or its ACKs (odd). A parcel keeps the way it was sent on; where an old and
 * the current way still share the link it comes from, it turns into the current one.
 */
import type { CongestionFlow, LinksDown } from './network.js';

export class Routes {
  /** Links of each way. */
  readonly links: Int32Array[] = [];
  /** Number of the first of a way's (way, link) pairs; pairs are numbered through. */
  readonly firstPair: number[] = [];
  pairs = 0;
  /** Way of each stream. */
  readonly current: Int32Array;
  /** Ways to take once links are down, as stream and way by turns. */
  private readonly later: number[] = [];

  constructor(flows: readonly CongestionFlow[], down?: LinksDown) {
    this.current = new Int32Array(2 * flows.length);
    flows.forEach(({ path, ackPath }, flow) => {
      this.current[2 * flow] = this.add(path);
      this.current[2 * flow + 1] = this.add(ackPath);
    });
    for (const { flow, path, ackPath } of down?.reroutes ?? []) {
      if (path) this.later.push(2 * flow, this.add(path));
      if (ackPath) this.later.push(2 * flow + 1, this.add(ackPath));
    }
  }

  /** From now on the ways around the links that went down. */
  reroute(): void {
    for (let index = 0; index < this.later.length; index += 2) {
      this.current[this.later[index]] = this.later[index + 1];
    }
  }

  /** The way a parcel goes on, that is on link `hop` of `route` now. */
  onwards(stream: number, route: number, hop: number): number {
    const current = this.current[stream];
    if (current === route) return route;
    return this.links[current][hop] === this.links[route][hop] ? current : route;
  }

  private add(path: readonly number[]): number {
    this.firstPair.push(this.pairs);
    this.pairs += path.length;
    return this.links.push(Int32Array.from(path)) - 1;
  }
}
