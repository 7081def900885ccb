/**
 * Lets what was drawn, or stated, happen to the simulated network at its time.
 */
import { NS_PER } from '../core/units.js';
import { EVENT } from './event-kind.js';
import type { EventQueue } from './event-queue.js';
import type { ControlPlane } from './network/control-plane.js';
import type { PhysicalLayer } from './network/physical-layer.js';
import type { BackgroundEvent, BackgroundEvents } from './noise/background-events.js';

/** What the network does about them. */
interface BackgroundEventTargets {
  physical: PhysicalLayer;
  control: ControlPlane;
  /** @param factor 1: it computes at its normal speed again */
  throttle(gpu: number, factor: number): void;
  resetCounters(nowNs: number, device: number): void;
}

export class BackgroundEventTimes {
  private readonly all: BackgroundEvent[] = [];

  constructor(
    private readonly background: BackgroundEvents,
    private readonly queue: EventQueue,
    private readonly targets: BackgroundEventTargets,
  ) {
    for (const one of [...background.stated(), ...background.ofHour(-1)]) this.schedule(one);
    this.hour(0);
  }

  /** Schedules what an hour brings. */
  hour(hour: number): void {
    const drawn = this.background.ofHour(hour);
    if (!this.background.isDrawn) return;
    for (const one of drawn) this.schedule(one);
    this.queue.schedule((hour + 1) * NS_PER.h, EVENT.hour, hour + 1);
  }

  due(nowNs: number, index: number, ends: boolean): void {
    const one = this.all[index];
    if (!ends) {
      this.background.note(one);
      if (one.toNs > one.fromNs) this.queue.schedule(one.toNs, EVENT.background, index, 1);
    }
    const { targets } = this;
    switch (one.kind) {
      case 'flap':
        return targets.physical.setFlapping(nowNs, one.subject, !ends);
      case 'throttle':
        return targets.throttle(one.subject, ends ? 1 : one.factor);
      case 'bfdBounce':
        return targets.control.bounce(nowNs, one.subject);
      case 'counterReset':
        return targets.resetCounters(nowNs, one.subject);
    }
  }

  private schedule(one: BackgroundEvent): void {
    const index = this.all.push(one) - 1;
    this.queue.schedule(Math.max(0, one.fromNs), EVENT.background, index, 0);
  }
}
