import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { guardEnd, guardStart, liftEndGuard, liftStartGuard } from './early-signals.js';
import { Interrupts } from './interrupts.js';

const argv = [...process.argv];

afterEach(() => {
  liftStartGuard();
  liftEndGuard();
  process.argv = [...argv];
  jest.restoreAllMocks();
});

/** Exit code of a Ctrl-C right after the start of a command. */
function interruptedAs(command: string): unknown {
  const exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
  process.argv = ['node', 'fabricdrill', command];
  guardStart();
  process.emit('SIGINT', 'SIGINT');
  return exit.mock.calls[0]?.[0];
}

describe('Ctrl-C while the program is being loaded', () => {
  it('ends a drill that never began as aborted', () => {
    expect(interruptedAs('run')).toBe(4);
  });

  it('ends any other command as one that could not run', () => {
    expect(interruptedAs('diagnose')).toBe(3);
  });

  it('is left to the command as soon as that listens itself', () => {
    const before = process.listenerCount('SIGINT');
    guardStart();
    expect(process.listenerCount('SIGINT')).toBe(before + 1);
    const interrupts = new Interrupts({ first: () => undefined, second: () => undefined });
    expect(process.listenerCount('SIGINT')).toBe(before + 1);
    interrupts.close();
    liftEndGuard();
    expect(process.listenerCount('SIGINT')).toBe(before);
  });
});

describe('Ctrl-C when a command is over', () => {
  const listening = (): number => process.listenerCount('SIGINT');

  it('finds somebody listening at every moment from the start to the exit, and changes no exit code', () => {
    const exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
    const before = listening();
    const counts: number[] = [];
    // what is removed last would leave the signal to the system, which kills
    jest.spyOn(process, 'off').mockImplementation(function (this: NodeJS.Process, name, listener) {
      this.removeListener(name, listener as never);
      if (name === 'SIGINT') counts.push(listening() - before);
      return this;
    });
    guardStart();
    const interrupts = new Interrupts({ first: () => undefined, second: () => process.exit(99) });
    interrupts.close();
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGINT', 'SIGINT');
    expect(exit).not.toHaveBeenCalled();
    guardEnd(1);
    process.emit('SIGTERM', 'SIGTERM');
    expect(exit.mock.calls).toEqual([[1]]);
    expect(counts.length).toBeGreaterThan(0);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(1);
  });

  it('ends a command that never listened itself with its own code', () => {
    const exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
    guardStart();
    guardEnd(2);
    process.emit('SIGINT', 'SIGINT');
    expect(exit.mock.calls).toEqual([[2]]);
  });
});
