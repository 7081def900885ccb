import { describe, expect, it } from '@jest/globals';
import { InternalError } from '../core/assertion.js';
import { STUCK_AFTER_S, WorkWatch } from './work-watch.js';

function watched(): { watch: WorkWatch; told: () => number; pass: (seconds: number) => void } {
  let [nowMs, told] = [0, 0];
  const watch = new WorkWatch(
    () => told++,
    () => nowMs,
  );
  return { watch, told: () => told, pass: (seconds) => void (nowMs += seconds * 1e3) };
}

describe('the watch over a computation', () => {
  it('tells the host a few times a second, however often it is called', () => {
    const { watch, told, pass } = watched();
    for (let call = 0; call < 10_000; call++) {
      watch.simulating(call);
      pass(1e-4);
    }
    expect(told()).toBeGreaterThanOrEqual(8);
    expect(told()).toBeLessThanOrEqual(11);
  });

  it('ends a simulation whose clock stands still for too long, and says where it stood', () => {
    const { watch, pass } = watched();
    const stand = (seconds: number): void => {
      for (let half = 0; half < 2 * seconds; half++) {
        pass(0.5);
        watch.simulating(7e9);
      }
    };
    watch.simulating(7e9);
    expect(() => stand(STUCK_AFTER_S)).not.toThrow();
    pass(1);
    expect(() => watch.simulating(7e9)).toThrow(InternalError);
    expect(() => watch.simulating(7e9)).toThrow(
      `simulated time does not go on (drill, simulatedNs = 7000000000, standsS = ${STUCK_AFTER_S + 1})`,
    );
  });

  it('lets a slow one go on as long as it moves at all', () => {
    const { watch, pass } = watched();
    for (let ns = 0; ns < 10; ns++) {
      watch.simulating(ns);
      pass(STUCK_AFTER_S);
    }
  });

  it('does not count the time between two simulations, nor a diagnosis', () => {
    const { watch, pass } = watched();
    watch.simulating(5);
    pass(STUCK_AFTER_S + 1);
    watch.working();
    pass(STUCK_AFTER_S + 1);
    expect(() => watch.simulating(5)).not.toThrow();
  });
});
