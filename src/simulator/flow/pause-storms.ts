/**
 * NICs that pause a class of their switch without end.
 *
 * A storming NIC sends pause frames whether data comes or not, so the switch port in front of it never sends a packet
 * of that class. Sources: Guo et al., "RDMA over Commodity Ethernet at Scale" (SIGCOMM 2016), section 6.2.
 */
import type { Topology } from '../../topology/model.js';
import { directionFrom, peerPort } from '../../topology/model.js';

export class PauseStorms {
  /** Grows with every change. */
  version = 0;
  private readonly storming = new Set<number>();

  constructor(
    private readonly topology: Topology,
    private readonly directions: number,
  ) {}

  /** A NIC pauses the class on the direction towards it. */
  holds(direction: number, classIndex: number): boolean {
    return this.storming.has(classIndex * this.directions + direction);
  }

  on(nic: number, classIndex: number): boolean {
    return this.holds(this.toward(nic)[0], classIndex);
  }

  set(nic: number, classIndex: number, on: boolean): void {
    for (const direction of this.toward(nic)) {
      const key = classIndex * this.directions + direction;
      if (on) this.storming.add(key);
      else this.storming.delete(key);
    }
    this.version++;
  }

  /** Directions that end at the NIC. */
  private toward(nic: number): number[] {
    return this.topology.nics[nic].ports.map((port) =>
      directionFrom(this.topology, peerPort(this.topology, port)),
    );
  }
}
