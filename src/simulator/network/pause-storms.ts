/**
 * NICs that pause a class of their switch without end, and what the switch's pause watchdog does about it.
 *
 * A storming NIC sends pause frames whether data comes or not, so the port in front of it never sends a packet of that
 * class. Once packets have waited there for the detection time, the watchdog drops them, or sends them to a NIC that
 * drops them, until the storm has been over for the restoration time. A storm without traffic is not detected: the
 * watchdog looks for a queue that holds packets and sends none (SONiC `pfcwd`). Storms: Guo et al., "RDMA over
 * Commodity Ethernet at Scale" (SIGCOMM 2016), section 6.2.
 * Not modelled: the watchdog's own poll interval, and the watchdogs of ports further up, which the first to act frees.
 */
import { directionFrom, peerPort, type Topology } from '../../model/topology/model.js';
import type { FabricSettings } from '../settings.js';
import type { Counters } from '../sampling/counters.js';
import { EVENT } from '../event-kind.js';
import type { EventQueue } from '../event-queue.js';
import type { SwitchClasses } from './switch-classes.js';

interface Storm {
  readonly direction: number;
  readonly classIndex: number;
  /** The NIC pauses; else only the watchdog still has the queue. */
  on: boolean;
  /** Flows wait for the queue. */
  wanted: boolean;
  /** The watchdog drops, or forwards. */
  broken: boolean;
  /** Detection or restoration under way. */
  event: number;
}

export class PauseStorms {
  /** Grows whenever some queue is blocked, or freed, or lost. */
  version = 0;
  private readonly storms = new Map<number, Storm>();
  private readonly directions: number;

  constructor(
    private readonly topology: Topology,
    private readonly settings: FabricSettings,
    private readonly queue: EventQueue,
    private readonly switches: SwitchClasses,
    private readonly counters: Counters,
  ) {
    this.directions = 2 * topology.links.length;
  }

  /** Queues that a NIC pauses, or a watchdog has taken; a fixed order. */
  get all(): Iterable<Readonly<Storm>> {
    return this.storms.values();
  }

  get some(): boolean {
    return this.storms.size > 0;
  }

  /** Nothing of the class is sent on the direction, and nothing is lost either: all waits. */
  blocks(direction: number, classIndex: number): boolean {
    const storm = this.storms.get(classIndex * this.directions + direction);
    return storm !== undefined && storm.on && !storm.broken && this.obeyed(direction, classIndex);
  }

  /** What is sent on the direction in the class is lost to the watchdog. */
  loses(direction: number, classIndex: number): boolean {
    return this.storms.get(classIndex * this.directions + direction)?.broken ?? false;
  }

  losesPriority(direction: number, priority: number): boolean {
    return this.loses(direction, this.counters.classOf(priority));
  }

  /** Counts packets that came to a queue which the watchdog has taken. */
  countLoss(direction: number, classIndex: number, packets: number, bytesEach: number): void {
    const { counters } = this;
    if (this.settings.watchdog.action === 'drop') {
      counters.discards[classIndex][this.portOf(direction)] += packets;
      return;
    }
    counters.carried[classIndex][direction] += packets * bytesEach;
    counters.nicDiscards[this.nicOf(direction)] += packets;
    counters.overflowed[direction] += packets;
  }

  /** The sender of a direction stops for pauses in some class that it has sent. */
  heeds(direction: number): boolean {
    return this.counters.carried.some(
      (carried, classIndex) => carried[direction] > 0 && this.obeyed(direction, classIndex),
    );
  }

  on(nic: number, classIndex: number): boolean {
    return this.toward(nic).some(
      (direction) => this.storms.get(classIndex * this.directions + direction)?.on ?? false,
    );
  }

  set(nowNs: number, nic: number, classIndex: number, on: boolean): void {
    for (const direction of this.toward(nic)) this.turn(nowNs, direction, classIndex, on);
  }

  /** @param wanted whether flows with something to send cross a queue, named by class × directions + direction */
  review(nowNs: number, wanted: (queue: number) => boolean): void {
    if (!this.settings.watchdog.on) return;
    for (const storm of this.storms.values()) {
      if (!storm.on || storm.broken || !this.obeyed(storm.direction, storm.classIndex)) continue;
      const wants = wanted(storm.classIndex * this.directions + storm.direction);
      if (wants === storm.wanted) continue;
      storm.wanted = wants;
      this.queue.cancel(storm.event);
      storm.event = wants ? this.schedule(nowNs + this.settings.watchdog.detect, storm) : -1;
    }
  }

  /** A detection or restoration time has passed. */
  due(direction: number, classIndex: number): void {
    const storm = this.storms.get(classIndex * this.directions + direction)!;
    const port = this.portOf(direction);
    storm.event = -1;
    this.version++;
    if (storm.on) {
      storm.broken = true;
      this.counters.watchdogDetected[classIndex][port]++;
      return;
    }
    this.counters.watchdogRestored[classIndex][port]++;
    this.storms.delete(classIndex * this.directions + direction);
  }

  private turn(nowNs: number, direction: number, classIndex: number, on: boolean): void {
    const key = classIndex * this.directions + direction;
    const storm = this.storms.get(key);
    if ((storm?.on ?? false) === on) return;
    this.version++;
    if (storm === undefined) {
      this.storms.set(key, { direction, classIndex, on, wanted: false, broken: false, event: -1 });
      return;
    }
    storm.on = on;
    this.queue.cancel(storm.event);
    storm.event = -1;
    storm.wanted = false;
    if (on) return;
    if (storm.broken) storm.event = this.schedule(nowNs + this.settings.watchdog.restore, storm);
    else this.storms.delete(key);
  }

  private schedule(atNs: number, { direction, classIndex }: Storm): number {
    return this.queue.schedule(atNs, EVENT.watchdog, direction, classIndex);
  }

  /** The switch stops for pauses of this class. */
  private obeyed(direction: number, classIndex: number): boolean {
    const { device } = this.topology.ports[this.portOf(direction)];
    return this.switches.of(device, classIndex).pfc;
  }

  private portOf(direction: number): number {
    const link = this.topology.links[direction >> 1];
    return (direction & 1) === 0 ? link.portA : link.portB;
  }

  private nicOf(direction: number): number {
    const link = this.topology.links[direction >> 1];
    return this.topology.ports[(direction & 1) === 0 ? link.portB : link.portA].nic;
  }

  /** Directions that end at the NIC. */
  private toward(nic: number): number[] {
    return this.topology.nics[nic].ports.map((port) =>
      directionFrom(this.topology, peerPort(this.topology, port)),
    );
  }
}
