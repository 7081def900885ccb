/**
 * What the devices' counters would show: bytes by direction and traffic class, drops by port, timeouts by NIC, queues.
 *
 * A running flow's bytes leave one port and enter its peer; what is sent into a hole only leaves. The egress queue of a
 * port is that of the direction it sends on. Values are exact doubles; readers round down, as counters do. Queue depths
 * and buffers are what holds now, with the most since the last read beside it.
 * Not modelled: counters that wrap, or that a reboot resets.
 */
import type { Topology } from '../../model/topology/model.js';
import { grownFloat64 } from '../rates/incidence.js';

export class Counters {
  /** Traffic classes in use, ascending; the class index of the arrays below. */
  readonly priorities: readonly number[];
  /** By class, then direction: bytes that crossed the link. */
  readonly carried: readonly Float64Array[];
  /** By class, then direction: bytes that have crossed it and wait in a queue further on. */
  readonly ahead: readonly Float64Array[];
  /** The highest reading of the two together: none falls behind an older one. */
  private readonly most: readonly Float64Array[];
  /** By class, then direction: bytes sent that never arrived. */
  readonly vanished: readonly Float64Array[];
  /** By direction: bytes of the control plane, in no class of the jobs. */
  readonly controlSent: Float64Array;
  readonly controlReceived: Float64Array;
  /** By class, then port: packets dropped before they were sent. */
  readonly discards: readonly Float64Array[];
  /** By NIC. */
  readonly ackTimeouts: Float64Array;
  readonly adaptiveRetransmissions: Float64Array;
  readonly retriesExceeded: Float64Array;
  /** By NIC, expected values: NAKs that its QPs heard, and packets that came behind a gap. */
  readonly sequenceErrors: Float64Array;
  readonly outOfSequence: Float64Array;
  /** By direction, expected value: frames that arrived damaged and were dropped. */
  readonly damaged: Float64Array;
  /** By NIC: ns in which it waited for its host to deliver, or to take, data. */
  readonly pcieReadStalledNs: Float64Array;
  readonly pcieWriteStalledNs: Float64Array;
  /** By direction: ns in which its sender was held by pause, and pause frames that its receiver sent back. */
  readonly pausedNs: Float64Array;
  readonly pauseFrames: Float64Array;
  /** By direction: packets that its receiver dropped for want of buffer. */
  readonly overflowed: Float64Array;
  /** By class, then direction: packets marked in the egress queue; bytes in it now, and at most since the last read. */
  readonly marked: readonly Float64Array[];
  readonly queued: readonly Float64Array[];
  readonly queuedMost: readonly Float64Array[];
  /** By class, then port: what the pause watchdog did. */
  readonly watchdogDetected: readonly Float64Array[];
  readonly watchdogRestored: readonly Float64Array[];
  /** By device: buffer in use now, and at most since the last read, bytes. */
  readonly bufferUsed: Float64Array;
  readonly bufferUsedMost: Float64Array;
  /** By NIC: marked packets that arrived, congestion notifications sent and heeded, packets dropped on arrival. */
  readonly markedReceived: Float64Array;
  readonly cnpSent: Float64Array;
  readonly cnpHandled: Float64Array;
  readonly nicDiscards: Float64Array;
  /** By connection: payload bytes delivered; ns in which data waited for an ACK that did not come. */
  delivered = new Float64Array(0);
  stalledNs = new Float64Array(0);

  constructor(topology: Topology, priorities: Iterable<number>) {
    this.priorities = [...new Set(priorities)].sort((a, b) => a - b);
    const perClass = (length: number): Float64Array[] => this.priorities.map(() => new Float64Array(length));
    this.carried = perClass(2 * topology.links.length);
    this.ahead = perClass(2 * topology.links.length);
    this.most = perClass(2 * topology.links.length);
    this.vanished = perClass(2 * topology.links.length);
    this.controlSent = new Float64Array(2 * topology.links.length);
    this.controlReceived = new Float64Array(2 * topology.links.length);
    this.discards = perClass(topology.ports.length);
    this.ackTimeouts = new Float64Array(topology.nics.length);
    this.adaptiveRetransmissions = new Float64Array(topology.nics.length);
    this.retriesExceeded = new Float64Array(topology.nics.length);
    this.sequenceErrors = new Float64Array(topology.nics.length);
    this.outOfSequence = new Float64Array(topology.nics.length);
    this.damaged = new Float64Array(2 * topology.links.length);
    this.pcieReadStalledNs = new Float64Array(topology.nics.length);
    this.pcieWriteStalledNs = new Float64Array(topology.nics.length);
    this.pausedNs = new Float64Array(2 * topology.links.length);
    this.pauseFrames = new Float64Array(2 * topology.links.length);
    this.overflowed = new Float64Array(2 * topology.links.length);
    this.marked = perClass(2 * topology.links.length);
    this.queued = perClass(2 * topology.links.length);
    this.queuedMost = perClass(2 * topology.links.length);
    this.watchdogDetected = perClass(topology.ports.length);
    this.watchdogRestored = perClass(topology.ports.length);
    this.bufferUsed = new Float64Array(topology.devices.length);
    this.bufferUsedMost = new Float64Array(topology.devices.length);
    this.markedReceived = new Float64Array(topology.nics.length);
    this.cnpSent = new Float64Array(topology.nics.length);
    this.cnpHandled = new Float64Array(topology.nics.length);
    this.nicDiscards = new Float64Array(topology.nics.length);
  }

  /** Most bytes that a queue held since the last call. */
  readQueuedMost(classIndex: number, direction: number): number {
    const most = this.queuedMost[classIndex];
    const value = most[direction];
    most[direction] = this.queued[classIndex][direction];
    return value;
  }

  /** Most bytes of a device's buffer that were in use since the last call. */
  readBufferUsedMost(device: number): number {
    const value = this.bufferUsedMost[device];
    this.bufferUsedMost[device] = this.bufferUsed[device];
    return value;
  }

  /** Makes room for so many connections; what is counted stays. */
  reserve(connections: number): void {
    if (this.delivered.length >= connections) return;
    this.delivered = grownFloat64(this.delivered, connections);
    this.stalledNs = grownFloat64(this.stalledNs, connections);
  }

  classOf(priority: number): number {
    return this.priorities.indexOf(priority);
  }

  /** Bytes that the sending port of a direction has put on the wire, all classes. */
  sent(direction: number): number {
    return this.arrived(direction) + this.total(this.vanished, direction) + this.controlSent[direction];
  }

  /** Bytes that arrived at the other end. */
  received(direction: number): number {
    return this.arrived(direction) + this.controlReceived[direction];
  }

  private arrived(direction: number): number {
    let sum = 0;
    for (let classIndex = 0; classIndex < this.carried.length; classIndex++) {
      sum += this.crossed(classIndex, direction);
    }
    return sum;
  }

  /** Bytes that one class has sent. */
  sentByClass(classIndex: number, direction: number): number {
    return this.crossed(classIndex, direction) + this.vanished[classIndex][direction];
  }

  /** Bytes of a class that have crossed a direction, those that wait further on included. */
  private crossed(classIndex: number, direction: number): number {
    const now = this.carried[classIndex][direction] + this.ahead[classIndex][direction];
    const most = this.most[classIndex];
    if (now > most[direction]) most[direction] = now;
    return most[direction];
  }

  discarded(port: number): number {
    return this.total(this.discards, port);
  }

  private total(byClass: readonly Float64Array[], index: number): number {
    let sum = 0;
    for (let classIndex = 0; classIndex < byClass.length; classIndex++) sum += byClass[classIndex][index];
    return sum;
  }
}
