/**
 * What a solve knows of each of its queues, as columns: of all queues in the census, of those that matter in the scene.
 */
import { roomBytes, roomFloat64, roomInt32 } from './room.js';

export class QueueColumns {
  queueCount = 0;
  queueDirection = new Int32Array(64);
  queueClass = new Int32Array(64);
  /** 1 where a switch sends, 0 where a NIC does. */
  fromSwitch = new Uint8Array(64);
  /** 1 where wishes overfill it, or its receiver holds it. */
  contended = new Uint8Array(64);
  /** bytes/ns at the wishes; and what the link or its receiver takes at most. */
  wishLoad = new Float64Array(64);
  capacity = new Float64Array(64);
  /** bytes/ns of the link for all classes. */
  link = new Float64Array(64);

  protected growColumns(length: number): void {
    this.queueDirection = roomInt32(this.queueDirection, length);
    this.queueClass = roomInt32(this.queueClass, length);
    this.fromSwitch = roomBytes(this.fromSwitch, length);
    this.contended = roomBytes(this.contended, length);
    this.wishLoad = roomFloat64(this.wishLoad, length);
    this.capacity = roomFloat64(this.capacity, length);
    this.link = roomFloat64(this.link, length);
  }

  /** Takes over what others know of one of their queues. */
  protected copyQueue(queue: number, others: QueueColumns, other: number): void {
    this.queueDirection[queue] = others.queueDirection[other];
    this.queueClass[queue] = others.queueClass[other];
    this.fromSwitch[queue] = others.fromSwitch[other];
    this.contended[queue] = others.contended[other];
    this.wishLoad[queue] = others.wishLoad[other];
    this.capacity[queue] = others.capacity[other];
    this.link[queue] = others.link[other];
  }
}
