import { describe, expect, it } from '@jest/globals';
import { InternalError } from '../core/assertion.js';
import { EventGuard } from './event-guard.js';
import { EVENT } from './event-kind.js';

const fire = (guard: EventGuard, events: number, timeNs: (event: number) => number): void => {
  for (let event = 0; event < events; event++) guard.count(timeNs(event), EVENT.computeDone, 3);
};

describe('an event guard', () => {
  it('lets a large fabric do more at one instant than a small one', () => {
    expect(() => fire(new EventGuard(() => 1000), 70_000, () => 5)).not.toThrow();
    expect(() => fire(new EventGuard(() => 0), 70_000, () => 5)).toThrow(InternalError);
  });

  it('lets as many events pass as there are, while time goes on', () => {
    expect(() => fire(new EventGuard(() => 0), 1_000_000, (event) => event)).not.toThrow();
  });

  it('names the event that fires without end, and the instant', () => {
    expect(() => fire(new EventGuard(() => 0), 70_000, () => 5)).toThrow(
      /time stands still while events go on \(computeDone of 3, events = 10001, most = 10000, nowNs = 5\)/,
    );
  });

  it('is not deceived by time that goes on by next to nothing', () => {
    expect(() => fire(new EventGuard(() => 0), 70_000, (event) => 5 + event * 1e-6)).toThrow(InternalError);
  });
});
