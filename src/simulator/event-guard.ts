/**
 * Notices an event list that keeps firing while time stands still.
 *
 * However much happens at one instant, each port, queue pair and operation has its part in it a few times at most. An
 * engine that fires far more events than that within a nanosecond goes round in circles, and would hang its process:
 * it ends with an internal error that names the event. The bound follows from the size of the problem alone, so that
 * the same drill ends in the same way on every machine.
 */
import { InternalError } from '../core/assertion.js';
import { EVENT } from './event-kind.js';

/** Events of one instant per element, and for a fabric without any. */
const PER_ELEMENT = 64;
const LEAST = 10_000;
/** Less time than this is none, ns. */
const INSTANT_NS = 1;

export class EventGuard {
  private most = LEAST;
  private beganNs = 0;
  private events = 0;

  /** @param elements how many ports, queue pairs and operations may have events, at present */
  constructor(private readonly elements: () => number) {}

  /** Counts an event. */
  count(nowNs: number, kind: number, subject: number): void {
    if (nowNs >= this.beganNs + INSTANT_NS) {
      this.beganNs = nowNs;
      this.events = 0;
    }
    if (++this.events > this.most) this.judge(nowNs, kind, subject);
  }

  private judge(nowNs: number, kind: number, subject: number): void {
    this.most = LEAST + PER_ELEMENT * this.elements();
    if (this.events > this.most) throw this.error(nowNs, kind, subject);
  }

  private error(nowNs: number, kind: number, subject: number): InternalError {
    const name = Object.entries(EVENT).find(([, value]) => value === kind)?.[0] ?? `kind ${kind}`;
    const values = { events: this.events, most: this.most, nowNs };
    return new InternalError('time stands still while events go on', `${name} of ${subject}`, values);
  }
}
